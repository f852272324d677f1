"""What out= may be, against PyTorch: another dtype, overlapping memory, none at all, and the history it gets."""

from contextlib import nullcontext

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


@pytest.mark.parametrize("call", ["log_softmax(x, 1, out=out)", "special.ndtr(x, out=out)", "fft.ihfft(x, out=out)"])
def test_a_history_is_left_in_out(call):
    for t in (torch, weir):
        out = t.empty(2, 2, dtype=t.complex64 if "fft" in call else t.float32)
        eval(f"t.{call}", {"t": t, "x": t.ones(2, 2, requires_grad=True), "out": out})
        assert out.requires_grad


def test_a_mean_over_no_named_axes_that_keeps_them_may_lose_imaginary_parts():
    for t in (torch, weir):
        x = t.full((2, 1), 1 + 2j)
        t.set_warn_always(True)
        try:
            with pytest.warns(UserWarning, match="discards the imaginary part"):
                assert t.mean(x, None, keepdim=True, out=t.zeros(1, 1)).item() == 1
        finally:
            t.set_warn_always(False)
        with pytest.raises(RuntimeError, match="can't be cast"):
            t.mean(x, out=t.zeros(()))


def test_an_operation_in_place_counts_as_a_write_where_nothing_changes():
    for t in (torch, weir):
        x = t.ones(3)
        assert [x.t_()._version, x.conj_physical_()._version, x.requires_grad] == [1, 2, False]


def test_transforms_give_a_new_shape_rows():
    for t in (torch, weir):
        assert t.fft.ifft2(t.ones(2, 3).t(), out=t.empty(0, dtype=t.complex64)).stride() == (2, 1)


@pytest.mark.parametrize("call", [
    "fft.ihfft(x, dim=0, out=t.empty(0, dtype=t.complex64))", "diff(x.t(), out=t.empty(0))", "diff(x.t().bool(), out=t.empty(0, dtype=t.bool))",
    "special.ndtr(x.t(), out=t.empty(0))", "special.ndtr(x.t().int(), out=t.empty(0))", "diff(x.t(), n=0, out=t.empty(0))",
    "fft.ifft(x, dim=0, out=t.empty(0, dtype=t.complex64))", "fft.ifft(x + 0j, dim=0, n=3, out=t.empty(0, dtype=t.complex64))",
    "nan_to_num(x.t(), out=t.empty(0))", "nan_to_num(x.t().int(), out=t.empty(0, dtype=t.int32))", "rad2deg(x[:1, :1].expand(3, 1), out=t.empty(0))",
    "deg2rad(x[:1, :1].int().as_strided((1, 1), (0, 1)), out=t.empty(0))"])
def test_the_strides_of_a_new_shape(call):
    ours, theirs = (eval(f"t.{call}", {"t": t, "x": t.arange(6.0).reshape(2, 3)}).stride() for t in (weir, torch))
    assert ours == theirs


@pytest.mark.parametrize("call, error", [
    ("diff(x.byte(), n=0, out=t.empty(6, dtype=t.float64))", RuntimeError), ("diff(x[:0], out=t.empty(0))", IndexError), ("diff(x[:0], append=x, out=t.empty(0))", None),
    ("fft.ifft(x.requires_grad_(), out=t.empty(6, dtype=t.complex64))", None), ("fft.ifft((x + 0j).requires_grad_(), out=t.empty(6, dtype=t.complex64))", RuntimeError)])
def test_an_out_that_depends_on_the_call(call, error):
    for t in (torch, weir):
        with pytest.raises(error) if error else nullcontext():
            eval(f"t.{call}", {"t": t, "x": t.arange(6.0)})


@pytest.mark.parametrize("call", [
    "qr(a, out=(e(), e()))", "qr(a, some=False, out=(e(), e()))", "qr(a[:3], out=(e(), t.ones(4)))", "triangular_solve(a[:3, :2], a[:3], out=(e(), e()))",
    "triangular_solve(a[:3, :2], a[:3], out=(t.empty(3, 2), e()))", "cholesky(s, out=e())", "cholesky_solve(a[:3, :2], s, out=e())",
    "ormqr(s, a[0], a[:3, :2], out=e())", "cholesky_inverse(s, out=e())", "lu_solve(a[:3, :2], *t.linalg.lu_factor(s), out=e())",
    "linalg.solve(s, a[:3, :2], out=e())"])
@pytest.mark.filterwarnings("ignore")
def test_a_new_shape_of_matrices(call):
    """Columns where PyTorch's kernel writes into out= itself, rows where it copies."""
    def strides(t):
        r = eval(f"t.{call}", {"t": t, "a": t.arange(12.0).reshape(4, 3) + 1, "s": t.eye(3) * 3 + 1, "e": lambda: t.empty(0)})
        return [x.stride() for x in (r if isinstance(r, tuple) else (r,))]
    assert strides(weir) == strides(torch)


@pytest.mark.parametrize("call", [
    "cumsum(x, 0, out=e(2))", "mv(x[:, None], x[:1], out=e(2))", "stack([x], out=e(2))", "linspace(0, 1, 3, out=e(2))", "cat([x[:0]], out=e(2))", "sort(x, out=(e(2), e(2).long()))",
    "addbmm(x, t.ones(4, 0, 3), t.ones(4, 3, 3), out=e(3))", "Tensor.addbmm_(e(3), t.ones(4, 0, 3), t.ones(4, 3, 3))"])
@pytest.mark.filterwarnings("ignore")
def test_an_out_that_repeats_elements_until_it_has_its_shape(call):
    results = []
    for t in (torch, weir):
        r = eval(f"t.{call}", {"t": t, "x": t.arange(3.0), "e": lambda n: t.ones(1).expand(n)})  # noqa: B023
        results.append([(y.shape, y.stride(), y.tolist()) for y in (r if isinstance(r, tuple) else (r,))])
    assert results[0] == results[1]


@pytest.mark.parametrize("call", ["mul(x, 2, out=e(2))", "index_select(x, 0, t.tensor([0, 1]), out=e(3))", "cumsum(x, 0, out=e(3))"])
def test_an_out_that_may_not_repeat_elements(call):
    for t in (torch, weir):
        with pytest.raises(RuntimeError, match="single memory location"):
            eval(f"t.{call}", {"t": t, "x": t.arange(3.0), "e": lambda n: t.ones(1).expand(n)})  # noqa: B023


def test_an_out_that_the_oracle_records():
    """ldl_solve's has a history without a derivative; argsort refuses a history that nobody sees; logsumexp gives a real one the real parts."""
    for t in (torch, weir):
        LD, B = t.eye(2).requires_grad_(), t.ones(2, 1)
        out = t.linalg.ldl_solve(LD, t.tensor([1, 2], dtype=t.int32), B, out=t.empty(2, 1))
        assert out.requires_grad
        with pytest.raises(RuntimeError, match="derivative for .* is not implemented"):
            out.sum().backward()
        with pytest.raises(RuntimeError, match="automatic differentiation"):
            t.argsort(B.requires_grad_(), stable=True, out=t.empty(0, dtype=t.int64))
        assert t.logsumexp(t.tensor([1 + 1j, 2j]), 0, out=t.empty(())).item() == pytest.approx(0.0512, abs=1e-4)


@pytest.mark.parametrize("call, sizes", [("diag(x, out=out)", (3,)), ("conj_physical(x, out=out)", (3, 3)), ("linalg.tensorinv(x, ind=1, out=out)", (3, 3)),
                                         ("linalg.ldl_factor(x, out=(out, t.empty(3, dtype=t.int32)))", (3, 3))])
def test_an_out_that_keeps_a_history(call, sizes):
    for t in (torch, weir):
        x, out = t.eye(3).requires_grad_(), t.empty(sizes)
        eval(f"t.{call}", {"t": t, "x": x, "out": out})
        assert out.requires_grad and out.grad_fn is not None
        with pytest.raises(RuntimeError, match="automatic differentiation|leaf Variable"):
            eval(f"t.{call}", {"t": t, "x": t.eye(3), "out": t.empty(sizes).requires_grad_()})
