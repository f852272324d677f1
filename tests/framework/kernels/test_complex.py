"""Complex numbers compute, differentiate and alias as PyTorch's do. Sources: framework/ops/complex.cpp and kernels/cpu/complex.cpp."""

import cmath

import numpy as np
import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir

UNARY = ("neg abs square sqrt rsqrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh "
         "acosh atanh sigmoid sinc sgn angle conj conj_physical real imag view_as_real sum mean prod var std adjoint").split()
PREDICATES = "isnan isinf isfinite isreal logical_not any all count_nonzero".split()
BINARY = "add sub mul div pow logaddexp matmul".split()
TOLERANCE = {np.complex64: 2e-4, np.complex128: 1e-10}


def numbers(shape, dtype, seed=0):
    draw = np.random.default_rng(seed)
    return (draw.standard_normal(shape) + 1j * draw.standard_normal(shape)).astype(dtype)


def array(t):
    return t.detach().resolve_conj().resolve_neg().numpy()


def same(ours, theirs, tolerance=1e-12):
    assert array(ours).dtype == array(theirs).dtype
    np.testing.assert_allclose(array(ours), array(theirs), rtol=tolerance, atol=tolerance)


def both(*arrays):
    """The arrays as leaves of either framework."""
    return [[F.from_numpy(a.copy()).requires_grad_() for a in arrays] for F in (weir, torch)]


def backward(F, result, seed=5):
    shape, dtype = tuple(result.shape), array(result).dtype
    g = np.asarray(numbers(shape, np.complex128, seed))
    g = g.astype(dtype) if dtype.kind == "c" else g.real.astype(dtype)
    result.backward(F.from_numpy(np.array(g)))


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda t: t.__name__)
@pytest.mark.parametrize("name", UNARY)
def test_a_function_and_its_gradient(name, dtype):
    (x,), (y,) = both(numbers((5, 37), dtype))
    ours, theirs = getattr(weir, name)(x), getattr(torch, name)(y)
    same(ours, theirs, TOLERANCE[dtype])
    backward(weir, ours), backward(torch, theirs)
    same(x.grad, y.grad, TOLERANCE[dtype])


@pytest.mark.parametrize("name", PREDICATES)
def test_a_predicate(name):
    a = numbers(9, np.complex64)
    a[0], a[1], a[2], a[3] = 0, complex(1, np.nan), complex(np.inf, 0), 2
    assert getattr(weir, name)(weir.from_numpy(a)).tolist() == getattr(torch, name)(torch.from_numpy(a)).tolist()


@pytest.mark.parametrize("dtype", TOLERANCE, ids=lambda t: t.__name__)
@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_and_its_gradients(name, dtype):
    ours, theirs = both(numbers((19, 19), dtype), numbers((19, 19), dtype, 1))
    results = getattr(weir, name)(*ours), getattr(torch, name)(*theirs)
    same(*results, TOLERANCE[dtype] * 10)
    backward(weir, results[0]), backward(torch, results[1])
    for x, y in zip(ours, theirs):
        np.testing.assert_allclose(array(x.grad), array(y.grad), rtol=TOLERANCE[dtype] * 100, atol=TOLERANCE[dtype] * 100)


@pytest.mark.parametrize("name", "exp log sqrt tanh sigmoid abs angle sgn reciprocal real var".split())
def test_a_second_derivative(name):
    grads = []
    for F, (x,) in zip((weir, torch), both(numbers(6, np.complex128))):
        y = getattr(F, name)(x)
        first, = F.autograd.grad((y.abs() ** 2).sum(), x, create_graph=True)
        grads.append(F.autograd.grad((first * first.conj()).real.sum(), x)[0])
    same(*grads, 1e-8)


def test_the_gradient_is_the_numeric_one():
    # d L = re(conj(g) d z) for a real loss: along the real axis and along the imaginary one.
    def loss(z):
        return (weir.exp(z) * z.conj() / (2 + 1j) + z.abs() * z).sum().abs()

    z = weir.from_numpy(numbers(4, np.complex128)).requires_grad_()
    loss(z).backward()
    for i in range(4):
        for step in (1e-6, 1e-6j):
            move = np.zeros(4, np.complex128)
            move[i] = step
            moved = [loss(weir.from_numpy(z.detach().numpy() + sign * move)).item() for sign in (1, -1)]
            slope = (moved[0] - moved[1]) / 2e-6
            expected = z.grad[i].item().real if step.imag == 0 else z.grad[i].item().imag
            assert slope == pytest.approx(expected, abs=1e-7)


def test_a_real_input_gets_a_real_gradient():
    x = weir.ones(3, requires_grad=True)
    (x * (2 + 3j)).abs().sum().backward()
    assert x.grad.dtype is weir.float32


def test_a_complex_loss_needs_a_gradient():
    x = weir.from_numpy(numbers(1, np.complex64)).requires_grad_()
    with pytest.raises(RuntimeError, match="real scalar outputs"):
        (x * x).backward()


def test_conjugates_are_views():
    z = weir.from_numpy(numbers(3, np.complex64))
    c = z.conj()
    assert c.is_conj() and not c.conj().is_conj() and c._base is z and c.data_ptr() == z.data_ptr()
    assert c.imag.is_neg() and not c.real.is_neg() and not c.resolve_conj().is_conj()
    assert c[0].item() == z[0].item().conjugate() and c.tolist() == [x.conjugate() for x in z.tolist()]
    with pytest.raises(RuntimeError, match="conjugate bit set"):
        c.numpy()
    assert (c + z).is_conj() is False


def test_writes_through_marked_views_reach_the_base():
    results = []
    for F in (weir, torch):
        x = F.from_numpy(numbers((4, 3), np.complex128)).requires_grad_()
        z = x * 1
        z.conj().mul_(2 + 1j)
        z.conj().imag.add_(1)
        z.real[0] = 5
        z.conj()[1] = 1j
        F.view_as_real(z)[2].mul_(3)
        z.T.conj()[0].copy_(x[:, 1])
        (z * z.conj()).real.sum().backward()
        results.append((z, x.grad))
    same(results[0][0], results[1][0])
    same(results[0][1], results[1][1])


def test_out_may_be_a_marked_view():
    z, y = weir.zeros(2, dtype=weir.complex64), weir.from_numpy(numbers(2, np.complex64))
    weir.add(y, y, out=z.conj())
    assert z.tolist() == (y + y).conj().tolist()


@pytest.mark.parametrize("call", [
    lambda F, z: z < z, lambda F, z: F.maximum(z, z), lambda F, z: F.floor(z), lambda F, z: F.sort(z), lambda F, z: F.argmax(z),
    lambda F, z: F.clamp(z, 0, 1), lambda F, z: F.remainder(z, z), lambda F, z: F.erf(z), lambda F, z: F.view_as_complex(z),
    lambda F, z: F.view_as_real(z.conj()), lambda F, z: z.real.imag, lambda F, z: F.complex(z, z), lambda F, z: float(z[0])])
def test_what_complex_numbers_have_not_is_refused(call):
    a = numbers(3, np.complex64)
    with pytest.raises(Exception) as theirs:
        call(torch, torch.from_numpy(a))
    with pytest.raises(theirs.type if theirs.type in (TypeError, IndexError) else (RuntimeError, NotImplementedError)):
        call(weir, weir.from_numpy(a))


def test_numbers_of_python_promote():
    assert (weir.ones(2) * 1j).dtype is weir.complex64 and (weir.ones(2, dtype=weir.float64) * 1j).dtype is weir.complex128
    assert (weir.ones(2, dtype=weir.int64) + 1j).dtype is weir.complex64


def test_random_numbers_are_pytorchs():
    weir.manual_seed(3), torch.manual_seed(3)
    same(weir.randn(20, dtype=weir.complex64), torch.randn(20, dtype=torch.complex64), 1e-6)
    same(weir.rand(5, dtype=weir.complex128), torch.rand(5, dtype=torch.complex128))


@pytest.mark.parametrize("name", ["conv1d", "conv_transpose1d"])
def test_a_convolution(name):
    ours, theirs = both(numbers((2, 3, 10), np.complex128), numbers((3, 3, 3), np.complex128, 1), numbers(3, np.complex128, 2))
    results = [getattr(F.nn.functional, name)(*x, padding=1) for F, x in ((weir, ours), (torch, theirs))]
    same(*results, 1e-10)
    backward(weir, results[0]), backward(torch, results[1])
    for x, y in zip(ours, theirs):
        same(x.grad, y.grad, 1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("parts", [
    lambda x, y: (x, y), lambda x, y: (x, y[0, 0]), lambda x, y: (x[0, 0], y), lambda x, y: (x.t(), y.t()), lambda x, y: (x.t(), y[0].reshape(4, 1)),
    lambda x, y: (x[::2], y[1::2]), lambda x, y: (x[:1].expand(6, 4), y[0, 0]), lambda x, y: (x.t(), y.reshape(4, 6)), lambda x, y: (x[0, 0], y[0, 0]), lambda x, y: (x[:0], y[:0])])
def test_parts_of_any_layout(dtype, parts):
    x, y = (torch.randn(6, 4, generator=torch.manual_seed(k)).to(dtype) for k in (0, 1))
    assert_same(lambda t, x, y: t.view_as_real(t.complex(*parts(x, y))), x, y)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 16, 31, 64, 257])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_numbers_keep_their_places(n, dtype):
    """Registers hold them in an order of their own."""
    x, y = numbers(n, dtype), numbers(n, dtype, 1)
    (a, b), _ = ([F.from_numpy(v.copy()) for v in (x, y)] for F in (weir, torch))
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose((a * b).numpy(), x * y, tolerance)
    np.testing.assert_allclose((a / b).numpy(), x / y, tolerance)
    np.testing.assert_allclose(weir.where(a.real > 0, a, b).numpy(), np.where(x.real > 0, x, y), tolerance)
    np.testing.assert_allclose(a.exp().numpy(), np.exp(x), tolerance)
    np.testing.assert_array_equal((a == a.conj()).numpy(), x == x.conj())
    np.testing.assert_allclose(a.add(b, alpha=2j).abs().numpy(), abs(x + 2j * y), tolerance)


@pytest.mark.parametrize("shape, dim", [((7, 300), 1), ((7, 300), 0), ((300, 3), 0), ((300, 3), 1), ((40, 32), 1), ((4, 5, 6), 1), ((40000,), None), ((3, 0), 1), ((), None)])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_products_of_any_axes(shape, dim, dtype):
    x = np.asarray(np.exp(1j * numbers(shape, dtype).real)).astype(dtype)  # of length 1, so that any number of them has a product
    for view in (lambda t: t, lambda t: t.mT if len(shape) > 1 else t, lambda t: t[..., ::2] if shape else t):
        ours, theirs = (view(t).prod() if dim is None else view(t).prod(dim) for t in (weir.from_numpy(x), torch.from_numpy(x)))
        assert ours.shape == theirs.shape and str(ours.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), 1e-2 if dtype == np.complex64 else 1e-9)


@pytest.mark.parametrize("shape, dim", [((7, 300), 1), ((7, 300), 0), ((300, 3), 0), ((300, 3), 1), ((4, 5, 6), (0, 2)), ((70000,), None), ((3, 0), 1), ((), None)])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_sums_of_any_axes(shape, dim, dtype):
    x = np.asarray(numbers(shape, dtype))
    for call in (lambda t: t.sum(dim), lambda t: t.mean(dim), lambda t: t.conj().sum(dim), lambda t: t.mT.sum(dim) if len(shape) == 2 else t.sum(),
                 lambda t: t[..., ::2].mean(dim) if shape else t):
        ours, theirs = call(weir.from_numpy(x)), call(torch.from_numpy(x))
        assert ours.shape == theirs.shape and str(ours.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(ours.resolve_conj().numpy(), theirs.resolve_conj().numpy(), TOLERANCE[dtype], 1e-3 if dtype == np.complex64 else 1e-9)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_signs_and_small_powers(name):
    """Right to the last digits, also where a square would overflow or vanish: derivatives of a sign are what its digits leave."""
    x = torch.randn(4099, dtype=getattr(torch, name), generator=torch.manual_seed(0))
    x[:3] = torch.tensor([0, 1e38 + 1e38j, 1e-40j])
    exact = x.numpy().astype(np.clongdouble)
    length = np.abs(exact)
    exact = np.where(length == 0, 0, exact / np.where(length == 0, 1, length))
    found = to_weir(x).sgn().numpy()
    assert np.abs(found - exact).max() <= (2e-7 if name == "complex64" else 4e-16)
    for power in (2, 3):
        assert_close(to_weir(x[3:]) ** power, x[3:] ** power, 1e-6, 1e-6)


def test_the_gradient_of_a_sign_has_the_digits_that_pytorch_leaves_it():
    x = torch.complex(torch.tensor([-990.0, 0.008, -0.02, 3.0]).double(), torch.tensor([3.6e-5, -1170.0, 1e-4, 0.0]).double())
    sent = torch.tensor([-0.5, 1.0 + 1e-3j, 2j, 1.0], dtype=torch.complex128)
    want, = torch.autograd.grad(torch.sgn(x.requires_grad_()), x, sent)
    ours = to_weir(x).requires_grad_()
    got, = weir.autograd.grad(weir.sgn(ours), ours, to_weir(sent))
    # What a difference of two products leaves where nothing is fused is another number, as PyTorch's would be.
    assert_close(weir.view_as_real(got), torch.view_as_real(want), 1e-14, 1e-19 if weir._C.cpu_capability == "baseline" else 0.0)


EXTREMES = [0j, 1 + 1e-200j, 1e-200 + 1e-200j, 1e200 + 3j, -1e200 - 1e180j, 2 + 0j, complex(-2, -0.0), 0.5 - 1e-20j, 0.3 + 0.4j, complex("inf+1j"), complex("-1.5+infj"), 1 - 1e-17j]
OF_ANY_SIZE = {"atanh": (lambda x: x.atanh(), cmath.atanh), "power": (lambda x: x ** (0.3 - 0.7j), lambda z: z ** (0.3 - 0.7j))}


@pytest.mark.parametrize("name", OF_ANY_SIZE)
def test_numbers_of_any_size_side_by_side(name):
    """The fast formulas hold where squares stay within range; a number's result does not hang on what stands beside it."""
    ours, exact = OF_ANY_SIZE[name]
    numbers = [z for z in EXTREMES if name == "atanh" or z and cmath.isfinite(z)]
    for z, found in zip(numbers, ours(weir.tensor(numbers, dtype=weir.complex128)).tolist()):
        assert found == pytest.approx(exact(z), rel=1e-13, abs=0), z
        assert ours(weir.tensor([z], dtype=weir.complex128)).item() == found


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_polar_of_one_length_or_angle(dtype):
    x = torch.randn(3, 4, 5, generator=torch.manual_seed(0)).to(dtype)
    assert_same(lambda t, x: [t.polar(x, x[0, 0, 0]), t.polar(x.mT, x[:1, :1, :1]), t.polar(x[0, 0, 1], x), t.polar(x, x[:, :1]), t.polar(x[:, :1], x.transpose(0, 2).transpose(0, 2))], x)
