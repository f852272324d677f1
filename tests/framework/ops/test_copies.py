"""Copies of views against PyTorch: values, strides, gradients, out= and refusals."""

import pytest
import torch
from twins import assert_same

X, C = torch.arange(12.0).reshape(3, 4).requires_grad_(), torch.tensor([[1 + 2j, 2 - 1j, 3j]]).expand(2, 3).clone()
CALLS = """alias_copy(x)|view_copy(x, (3, 4))|view_copy(x, size=(4, 3))|view_copy(x, t.int32)|view_copy(x, (5,))|as_strided_copy(x, (2, 2), (1, 2))
as_strided_copy(x, (2, 2), (1, 2), 1)|diagonal_copy(x)|diagonal_copy(x, 1, dim1=1, dim2=0)|expand_copy(x, (2, 3, 4))|expand_copy(x, (2, 3, 4), implicit=True)
permute_copy(x, (1, 0))|select_copy(x, 0, 1)|select_copy(x, 0, 9)|slice_copy(x)|slice_copy(x, 0, 1)|slice_copy(x, 1, -3, None, 2)|slice_copy(x, 0, 0, 9, 0)
squeeze_copy(x[:1])|squeeze_copy(x[:1], 0)|squeeze_copy(x[:1], (0, 1))|t_copy(x)|transpose_copy(x, 0, 1)|unsqueeze_copy(x, 0)|unfold_copy(x, 0, 2, 1)
detach_copy(x)|t_copy(x.detach(), out=t.empty(4, 3))|diagonal_copy(x, out=t.empty(0, dtype=t.float64))|view_copy(c.conj(), t.float32)|t_copy(c.conj())
view_copy(c.conj(), (6,))""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    assert_same(lambda t, x, c: eval(f"t.{text}", {"t": t, "x": x, "c": c}), X, C, what=text)
