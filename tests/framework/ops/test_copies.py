"""Copies of views against PyTorch: values, strides, gradients, out= and refusals."""

import pytest
import torch
import weir
from twins import assert_same

X, C = torch.arange(12.0).reshape(3, 4).requires_grad_(), torch.tensor([[1 + 2j, 2 - 1j, 3j]]).expand(2, 3).clone()
CALLS = """alias_copy(x)|view_copy(x, (3, 4))|view_copy(x, size=(4, 3))|view_copy(x, t.int32)|view_copy(x, (5,))|as_strided_copy(x, (2, 2), (1, 2))
as_strided_copy(x, (2, 2), (1, 2), 1)|diagonal_copy(x)|diagonal_copy(x, 1, dim1=1, dim2=0)|expand_copy(x, (2, 3, 4))|expand_copy(x, (2, 3, 4), implicit=True)
permute_copy(x, (1, 0))|select_copy(x, 0, 1)|select_copy(x, 0, 9)|slice_copy(x)|slice_copy(x, 0, 1)|slice_copy(x, 1, -3, None, 2)|slice_copy(x, 0, 0, 9, 0)|slice_copy(x[0, 0], 0, step=-1)|slice_scatter(x[0, 0], x[0], step=-4)
squeeze_copy(x[:1])|squeeze_copy(x[:1], 0)|squeeze_copy(x[:1], (0, 1))|t_copy(x)|transpose_copy(x, 0, 1)|unsqueeze_copy(x, 0)|unfold_copy(x, 0, 2, 1)
detach_copy(x)|t_copy(x.detach(), out=t.empty(4, 3))|diagonal_copy(x, out=t.empty(0, dtype=t.float64))|view_copy(c.conj(), t.float32)|t_copy(c.conj())
view_copy(c.conj(), (6,))|split_copy(x, 2)|split_copy(x.t(), 3, dim=-1)|split_copy(x, [1, 2])|split_with_sizes_copy(x, [1, 2])|split_with_sizes_copy(x, (3, 1), 1)
split_with_sizes_copy(x, [1, 1])|unbind_copy(x)|unbind_copy(x.t(), 1)|unbind_copy(c.conj(), 0)|unbind_copy(x[0, 0])""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    assert_same(lambda t, x, c: eval(f"t.{text}", {"t": t, "x": x, "c": c}), X, C, what=text)


INTO = {  # the shapes and dtype of `out`; `grad`: it requires grad
    "right": ([(1, 4)] * 3, "float32"), "empty": ([(0,)] * 3, "float32"), "wider": ([(2, 1, 4)] * 3, "float32"), "integers": ([(1, 4)] * 3, "int64"),
    "too few": ([(1, 4)] * 2, "float32"), "rows": ([(4,)] * 3, "float32"), "grad": ([(1, 4)] * 3, "float32"), "grad rows": ([(4,)] * 3, "float32"),
}


@pytest.mark.filterwarnings("ignore:An output with one or more elements")
@pytest.mark.parametrize("name", INTO)
@pytest.mark.parametrize("call", [lambda t, x, out: t.split_copy(x, 1, out=out), lambda t, x, out: t.split_with_sizes_copy(x, [1, 1, 1], out=out),
                                  lambda t, x, out: t.unbind_copy(x, out=out)])
def test_lists_into_out(call, name):
    sizes, dtype = INTO[name]

    def into(t, x):
        out = [t.zeros(s, dtype=getattr(t, dtype)) for s in sizes]
        if "grad" in name:
            out = [o.requires_grad_() for o in out]
        assert call(t, x, out) is None
        return [o.detach() for o in out]

    assert_same(into, X.detach(), what=name)


@pytest.mark.parametrize("call", [lambda t, x: t.split_copy(x, 1, out=x), lambda t, x: t.unbind_copy(x, out=3), lambda t, x: t.split(x, 1, out=[x])])
def test_other_outs_are_refused(call):
    assert_same(call, X.detach())


def test_an_out_of_the_bytes_requires_grad_and_has_no_derivative():
    for t in (torch, weir):
        x = t.ones(2, dtype=t.float16, requires_grad=True)
        out = t.view_copy(x, t.bfloat16, out=t.empty(2, dtype=t.bfloat16))
        assert out.requires_grad and not t.view_copy(x, t.int16, out=t.empty(2, dtype=t.int16)).requires_grad and not t.view_copy(x, t.bfloat16).requires_grad
        with pytest.raises(RuntimeError, match="derivative for .*view_copy is not implemented"):
            out.sum().backward()


@pytest.mark.parametrize("dtype", ["uint8", "int64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [5, 63, 64, 500, 513, 4099, 70001])
def test_rows_moved_by_a_few_numbers(n, dtype):
    """Within pages from back to front, which loads nothing that was stored a moment ago."""
    def moved(t):
        x = t.arange(n).to(getattr(t, dtype))
        y = t.zeros(n + 9, dtype=x.dtype)
        for k in (0, 1, 3, 8):
            y[k:k + n].copy_(x + k)
        return y, t.nn.functional.pad(x[None], (1, 2)), t.cat((x, x[:-1], x[1:])), t.cat((x[None].expand(3, n), x[None, 1:].expand(3, n - 1)), 1)

    assert_same(moved)


@pytest.mark.parametrize("dtype", ["bool", "float16", "int32", "complex64", "complex128"])
def test_two_tensors_number_by_number(dtype):
    def joined(t):
        x, y = t.arange(35).reshape(5, 7).to(getattr(t, dtype)), (t.arange(35).reshape(5, 7) % 3).to(getattr(t, dtype))
        return [t.stack((x, y), -1), t.dstack((x, y)), t.stack((x, y.T.contiguous().T), -1), t.stack((x, y.to(t.int64)), -1), t.cat((x[0, :1], y[0, :1])),
                t.stack((x, y), -1, out=t.empty(2, 7, 5, dtype=x.dtype).permute(2, 1, 0)), t.stack((x[0, 0], y[0, 0]))]

    assert_same(joined)
