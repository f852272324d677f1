"""Reading and adding by positions of which a mask says that they count."""

import torch
from twins import assert_same

X = torch.arange(12.0).reshape(3, 4).requires_grad_()
MASK = torch.tensor([True, False, True])
AT = torch.tensor([2, 9, -1])


def test_reads_where_the_mask_holds():
    assert_same(lambda t, x, m, i: t.ops.aten._unsafe_masked_index(x, m[:, None], [i, None], 7.0), X, MASK, AT, order=1)
    assert_same(lambda t, x, m, i: t.ops.aten._unsafe_masked_index(x, m, [i, i], 0.0), X, MASK, AT, order=1)
    assert_same(lambda t, x, m, i: t.ops.aten._unsafe_masked_index(x[:0], m, [i, i], 3.0), X.detach(), MASK, AT)


def test_adds_where_the_mask_holds():
    values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    assert_same(lambda t, x, m, i, v: t.ops.aten._unsafe_masked_index_put_accumulate(x, m, [i, i], v), X, MASK, AT, values, order=1)
