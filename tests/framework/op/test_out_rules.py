"""What out= may be, against PyTorch: another dtype, overlapping memory, none at all, and the history it gets."""

import pytest
import torch
import weir

WIDE = """abs(x)|ceil(x)|neg(x)|clamp(x, 0, 1)|where(x > 0, x, x)|sign(x)|exp(x)|add(x, x)|atan2(x, x)|argmax(x)|amax(x, 0)|sort(x)|topk(x, 2)|mm(m, m)
cumsum(x, 0)|sum(x, 0)|diag(x)|nonzero(x)|take_along_dim(x, i)|gather(x, 0, i)|tril(m)|alias_copy(x)|view_copy(x, (3,))|matmul(m, m)|renorm(m, 2, 0, 1.0)|norm(x)
bernoulli(x * 0)|kron(x, x)|round(x)|frac(x)|heaviside(x, x)|isneginf(x)|isposinf(x)|signbit(x)|sgn(x)|nan_to_num(x)|cummax(x, 0)""".replace("\n", "|").split("|")
NONE = """trace(m)|count_nonzero(x)|flipud(m)|diag_embed(x)|rsub(x, x)|isnan(x)|isinf(x)|relu(x)|celu(x)|roll(x, 1)|embedding(m, i)|dist(x, x)|block_diag(m, m)
constant_pad_nd(x, (1, 1))|einsum('ij->i', m)|tile(x, (2,))|put(x, i, x)|logdet(m)|median(x)|cov(m)|gradient(x)|tensor_split(x, 2)|bincount(i)""".replace("\n", "|").split("|")


def outcome(t, text, out):
    x, m, i = t.tensor([0.5, -1.0, 2.0]), t.eye(3), t.tensor([0, 2, 1])
    try:
        r = eval(f"t.{text}", {"t": t, "x": x, "m": m, "i": i})
        outs = tuple(out(t, part) for part in r) if isinstance(r, (tuple, list)) else out(t, r)
        return repr(eval(f"t.{text[:-1]}, out=out)", {"t": t, "x": x, "m": m, "i": i, "out": outs})).replace("weir", "torch")
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("text", WIDE)
def test_an_out_of_another_dtype(text):
    for dtype in ("float64", "int64"):
        assert outcome(weir, text, lambda t, r: t.zeros(r.shape, dtype=getattr(t, dtype))) == \
            outcome(torch, text, lambda t, r: t.zeros(r.shape, dtype=getattr(t, dtype)))


@pytest.mark.parametrize("text", NONE)
def test_functions_without_out(text):
    assert outcome(weir, text, lambda t, r: t.empty(0)) == outcome(torch, text, lambda t, r: t.empty(0)) == "TypeError"


def test_a_softmax_leaves_its_history_in_out():
    for t in (torch, weir):
        out = t.empty(2, 2)
        t.log_softmax(t.ones(2, 2, requires_grad=True), 1, out=out)
        assert out.requires_grad


def test_an_operation_in_place_counts_as_a_write_where_nothing_changes():
    for t in (torch, weir):
        x = t.ones(3)
        assert [x.t_()._version, x.conj_physical_()._version, x.requires_grad] == [1, 2, False]


def test_transforms_give_a_new_shape_rows():
    for t in (torch, weir):
        assert t.fft.ifft2(t.ones(2, 3).t(), out=t.empty(0, dtype=t.complex64)).stride() == (2, 1)


def test_decompositions_give_a_new_shape_the_layout_of_their_kind():
    """Columns where PyTorch computes into out=, rows where it copies."""
    for t in (torch, weir):
        assert [o.stride() for o in t.qr(t.ones(3, 3), out=(t.empty(0), t.empty(0)))] == [(1, 3)] * 2
        assert [o.stride() for o in t.triangular_solve(t.ones(3, 2), t.eye(3), out=(t.empty(0), t.empty(0)))] == [(1, 3)] * 2
        assert t.cholesky(t.eye(3), out=t.empty(0)).stride() == (3, 1)
        assert t.cholesky_solve(t.ones(3, 2), t.eye(3), out=t.empty(0)).stride() == (2, 1)


def test_filling_elements_that_repeat_where_any_of_their_masks_holds():
    for t in (torch, weir):
        x, mask = t.zeros(2).expand(3, 2), t.tensor([[True, False], [False, False], [False, False]])
        assert x.masked_fill_(mask, 5.0).tolist() == [[5, 0]] * 3
        assert t.zeros(2).expand(3, 2).masked_fill(mask, 5.0).tolist() == [[5, 0], [0, 0], [0, 0]]
