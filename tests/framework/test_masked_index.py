"""Reading and adding by positions of which a mask says that they count."""

import pytest
import torch
import weir
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


@pytest.mark.parametrize("write", ["masked_fill_", "index_fill_"])
def test_a_number_with_a_gradient_is_written_into_whole_numbers(write):
    for t in (torch, weir):
        x, number = t.arange(3), t.tensor(7.9, requires_grad=True)
        x.masked_fill_(x > 0, number) if write == "masked_fill_" else x.index_fill_(0, t.tensor([1, 2]), number)
        assert x.tolist() == [0, 7, 7]
