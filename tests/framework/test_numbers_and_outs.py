"""Which numbers ops refuse for their tensors' dtype, which tensors stand for numbers, and what `out=` is told: by PyTorch's rules."""

import warnings

import numpy as np
import pytest
import torch
import weir
from twins import assert_same, to_weir

DTYPES = ("float16", "bfloat16", "float32", "int64", "complex64")
#: Ops that hold a number beside tensors x of one axis, m of two and b of three.
NUMBERS = {
    "clamp": "t.clamp(x, v)", "clamp_min": "t.clamp_min(x, v)", "clamp_max": "t.clamp_max(x, v)", "hardtanh": "F.hardtanh(x, max_val=v)",
    "hardtanh below": "F.hardtanh(x, -v, 0.5)",
    "threshold": "t.threshold(x, 1, v)", "threshold at": "t.threshold(x, v, 1)", "leaky_relu": "F.leaky_relu(x, v)", "elu": "F.elu(x, v)",
    "celu": "F.celu(x, v)",
    "softplus": "F.softplus(x, v)", "softshrink": "F.softshrink(x, v)", "hardshrink": "F.hardshrink(x, v)", "pow": "t.pow(x, v)",
    "add": "t.add(x, x, alpha=v)",
    "sub": "t.sub(x, x, alpha=v)", "addcmul": "t.addcmul(x, x, x, value=v)", "addcdiv": "t.addcdiv(x, x, x, value=v)",
    "addr": "t.addr(m, x, x, alpha=v)",
    "addr of self": "m.addr_(x, x, beta=v)", "addmm": "t.addmm(m, m, m, alpha=v)", "addmv": "t.addmv(x, m, x, beta=v)",
    "baddbmm": "t.baddbmm(b, b, b, alpha=v)",
    "addbmm": "t.addbmm(m, b, b, beta=v)", "lerp": "t.lerp(x, x, v)", "scatter": "x.scatter(0, t.tensor([0]), v)",
    "uniform": "x.uniform_(to=v).zero_()",
    "logit": "t.logit(x, eps=v)", "cosine_similarity": "F.cosine_similarity(m, m, eps=v)", "pad": "F.pad(x, (1, 1), value=v)",
    "index_add": "x.index_add(0, t.tensor([0]), x[:1], alpha=v)",
    "arange": "t.arange(0, v, v, dtype=x.dtype)", "where": "t.where(x == 2, x, v)", "hinge": "F.hinge_embedding_loss(x, x, margin=v)",
    "fill": "x.fill_(v)", "added": "x + v", "compared": "x < v"}


def _kind(t, text, **names):
    """The class of the error of an expression, None without one."""
    names |= {"t": t, "F": t.nn.functional}
    try:
        eval(text, names)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_beyond_a_dtype(name, dtype):
    for v in (0.5, 1e5, 1e39, 1e300, float("inf")):
        kinds = []
        for t in (torch, weir):
            x, m, b = (t.ones(sizes).to(getattr(t, dtype)) for sizes in ((3,), (3, 3), (3, 3, 3)))
            kinds.append(_kind(t, NUMBERS[name], x=x, m=m, b=b, v=v))
        theirs, ours = kinds
        assert (theirs is None) == (ours is None), (v, theirs, ours)
        assert theirs is None or issubclass(ours, theirs) or issubclass(theirs, ours), (v, theirs, ours)


@pytest.mark.parametrize("name", [name for name, text in NUMBERS.items() if name != "pad" and any(word in text for word in ("alpha", "beta", "value"))])
def test_whole_numbers_that_only_an_unsigned_one_holds(name):
    for v in (2**63, 2**64 - 1, 2**64, -2**63 - 1):
        for dtype in ("float32", "bfloat16"):
            theirs, ours = (_kind(t, NUMBERS[name], x=t.ones(3).to(getattr(t, dtype)), m=t.ones(3, 3).to(getattr(t, dtype)), b=t.ones(3, 3, 3).to(getattr(t, dtype)), v=v)
                            for t in (torch, weir))
            assert theirs == ours, (v, dtype)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool", "float32", "float16"])
@pytest.mark.parametrize("call", ["x.fill_(v)", "t.fill(x, v)", "x.masked_fill(m, v)", "x.masked_fill_(m, v)", "x.index_fill(0, i, v)", "x.index_fill_(0, i, v)"])
def test_numbers_that_are_written_do_not_wrap_around(call, dtype):
    for v in (2**63 - 1, 2**63, 2**64 - 1, -2**63, 127, 255, 256):
        def answer(t):
            x, m, i = t.ones(3).to(getattr(t, dtype)), t.tensor([True, False, True]), t.tensor([1])
            try:
                return eval(call, {"t": t, "x": x, "m": m, "i": i, "v": v}).tolist()
            except RuntimeError as error:
                return type(error)
        assert answer(weir) == answer(torch), v


#: Where a number is written; z is it in a tensor.
WRITTEN = ["x.fill_(v)", "t.full_like(x, v)", "t.full((2,), v, dtype=x.dtype)", "x.masked_fill(m, v)", "x.masked_fill(m, z)", "x.masked_fill_(m, z)", "x[:0].index_fill(0, i[:0], v)",
           "x.__setitem__(0, v) or x", "x.__setitem__(m, v) or x", "x.__setitem__(m, z) or x", "x.__setitem__(i, v) or x", "x.__setitem__((0, 0), v)",
           "x.scatter(0, i, v)", "x.scatter(0, i, v, reduce='add')", "t.constant_pad_nd(x, (1, 0), v)", "x.fill_diagonal_(v)",
           "t.addmm(x.expand(2, 2), x.expand(2, 2), x.expand(2, 2), beta=v)", "t.addmm(x.expand(2, 2), x.expand(2, 2), x.expand(2, 2), alpha=v)"]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32"])
@pytest.mark.parametrize("call", WRITTEN)
def test_numbers_are_converted_as_pytorchs(call, dtype):
    """Any number is a truth; a complex one is real where its imaginary part is zero; one beyond the dtype is refused before anything else is looked at."""
    for v in (300, -0.5, 1e39, float("nan"), 2 + 0j, 300 + 0j, 2 + 1j, 2**63, -2**63 - 1, 2**70):
        seen = []
        for t in (torch, weir):
            names = {"t": t, "v": v, "x": t.ones(2).to(getattr(t, dtype)), "m": t.tensor([True, False]), "i": t.tensor([1]), "z": t.tensor(v) if abs(v) < 2**63 else v}
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    r = str(eval(call, names).tolist())
                except Exception as error:
                    r = type(error).__name__
            seen.append((r, len(said)))
        assert seen[0] == seen[1], v


@pytest.mark.parametrize("value", [np.True_, np.int8(3), np.float64(2), np.float32(2), np.array(1)])
def test_numbers_of_numpy_that_are_assigned(value):
    """PyTorch takes what is a Python number too, and integers."""
    def answer(t, key):
        x = t.zeros(3, dtype=t.bool)
        try:
            x[key(t)] = value
            return x.tolist()
        except Exception as error:
            return type(error).__name__
    for key in (lambda t: 0, lambda t: ..., lambda t: t.tensor([2, 0])):
        assert answer(weir, key) == answer(torch, key)


@pytest.mark.parametrize("call", ["t.add(x, 1.5, 2)", "t.add(x, 2, 1.5)", "t.add(x, True, 2)", "t.add(x, 2, True)", "x.add_(2, 3)", "t.sub(x, 2, 3)", "t.sub(x, 1.5, 2)",
                                  "t.subtract(x, 2, 3)", "t.add(x, t.tensor(2), 3)", "t.add(x, 2, x, out=x)", "t.add(x, 2, 3, out=x)", "t.rsub(x, 2, 3)"])
def test_alpha_before_a_number(call):
    """add(x, 2, 3) is x + 2 * 3 in PyTorch's old order of arguments, in which the first number is alpha."""
    def answer(t):
        try:
            r = eval(call, {"t": t, "x": t.tensor([1, 4])})
            return str(r.dtype), r.tolist()
        except Exception as error:
            return type(error).__name__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert answer(torch) == answer(weir)


@pytest.mark.parametrize("call", ["t.arange(298, 302, dtype=t.uint8)", "t.arange(-0.1, 2, dtype=t.uint8)", "t.arange(0, 2, 300, dtype=t.uint8)", "t.arange(70000, 70002, dtype=t.int16)",
                                  "t.arange(1e30, 1e30, dtype=t.uint8)", "t.arange(-1.5, 2, dtype=t.int32)"])
def test_steps_of_integers_are_taken_in_64_bits(call):
    def answer(t):
        try:
            return eval(call, {"t": t}).tolist()
        except Exception as error:
            return type(error).__name__
    assert answer(torch) == answer(weir)


@pytest.mark.parametrize("call", ["hardtanh(x, max_val=v)", "hardtanh(x, -v)", "leaky_relu(x, v)", "elu(x, v)", "celu(x, v)", "softplus(x, v)", "softplus(x, 1, v)",
                                  "softshrink(x, v)", "hardshrink(x, v)", "threshold(x, 0, v)"])
def test_whole_numbers_beyond_64_bits(call):
    for v in (2**63, 2**64, 2**70):
        theirs, ours = (_kind(t, f"F.{call}", x=t.ones(3), v=v) for t in (torch, weir))
        assert theirs == ours, v


#: Where a number is asked for and a tensor given. PyTorch's parser takes one of one element and any axes only where the parameter is a
#: symbolic integer.
STANDS = ["t.squeeze(x, i)", "t.squeeze_copy(x, i)", "x.sum(i)", "x.mean(i)", "t.all(x, i)", "t.any(x, i)", "x.amax(i)", "x.logsumexp(i)",
          "t.var(x, dim=i, correction=0)",
          "t.norm(x, 2, i)", "t.roll(x, i)", "x.movedim(i, 0)", "t.gradient(x, dim=i * 0)", "t.diff(x, i)", "t.diff(x, 1, i * 0)",
          "t.narrow(x, 0, i, 2)", "t.narrow(x, 0, 0, i)",
          "t.narrow_copy(x, 0, i, 2)", "t.triu(x, i)", "t.tril(x, i)", "t.diagonal(x, i)", "x.clone().random_(i)", "x.unsqueeze(i)",
          "t.fft.fft(x, i)", "t.fft.fft(x, None, i)", "t.eye(i)",
          "t.randperm(i)", "t.randint_like(x, i, i + 3)", "t.randint_like(x, i + 3)", "x.chunk(i)", "t.bincount(t.tensor([1, 2]), minlength=i)",
          "t.topk(x, i, 0)", "t.slice_copy(x, 0, i)", "t.rot90(x, i)", "x.unfold(0, i, 1)", "x.unfold(0, 1, i)", "t.unfold_copy(x, 0, i, 1)", "t.count_nonzero(x, i)",
          "t.count_nonzero(x, dim=i)", "t.vander(x[:, 0, 0, 0], i)", "t.linalg.vander(x, N=i)", "t.embedding(x[:, 0, :, 0], t.tensor([1]), padding_idx=i)",
          "t.istft(t.ones(3, 5).cfloat(), 4, window=t.ones(4), length=i)", "t.native_group_norm(x[:1], None, None, i, 1, 5, 1, 1e-5)",
          "t.convolution(x, t.ones(1, 1, 1, 1), None, [1, 1], [0, 0], [1, 1], False, [0, 0], i)", "t.fft.rfftn(x, dim=i)"]


@pytest.mark.parametrize("call", STANDS)
def test_tensors_that_stand_for_numbers(call):
    for i in (1, [1]):
        theirs, ours = (_kind(t, call, x=t.rand(5, 1, 5, 1), i=t.tensor(i)) for t in (torch, weir))
        assert theirs == ours, i


#: What is written where, and with what warnings.
OUTS = ["t.matmul(v, m, out=t.empty(3))", "t.matmul(v, m, out=t.empty(0))", "t.matmul(m, v, out=t.empty(3))", "t.matmul(v, m, out=t.empty(5))",
        "F.linear(v, m, out=t.empty(3))",
        "F.linear(v, m, v, out=t.empty(3))", "F.linear(m, m, out=t.empty(3, 3))", "t.isin(3., m, out=t.tensor(True))",
        "t.isin(3., m, out=t.ones(1) > 0)", "t.isin(v, 3., out=t.ones(3) > 0)",
        "t.cross(m, m + 1, out=t.empty(3, 3))", "t.cross(m, m + 1, 1, out=t.empty(0))", "t.empty([3], memory_format=t.contiguous_format, out=v)",
        "t.empty([0], memory_format=None, out=v[:0])",
        "t.linalg.matrix_rank(m, t.ones(1, 1, 2), out=t.ones(1, 1, 2).long())", "t.linalg.matrix_rank(m, t.ones(3), out=t.ones(0).long())",
        "t.linalg.matrix_rank(m, t.ones(3), out=t.ones(2).long())",
        "t.linalg.matrix_rank(m, t.tensor(.1), out=t.tensor(2))",
        "t.linalg.matrix_rank(m[None], atol=t.ones(3), rtol=t.ones(3), out=t.ones(3).long())",
        "t.linalg.matrix_rank(m[:0, :0].half())", "t.binomial(m, t.ones(1, 3, 3))", "t.binomial(t.ones(1), t.ones(3, 3, 2, 1).transpose(1, 2))",
        "t.inner(t.tensor(2.), m, out=m.double())", "t.inner(v, m, out=v.double())", "t.hann_window(4, out=t.ones(4))",
        "t.hamming_window(2**63, out=t.ones(4))", "t.stack([v] * 40, out=t.empty(40, 3))", "t.cat([m] * 40, 1, out=t.empty(0))",
        "t.arange(1, out=t.ones(2))", "t.arange(1, out=t.ones(0))", "t.arange(4, out=t.ones(2, 2))", "t.arange(0, 5, 2, out=t.ones(2))", "t.linspace(0, 1, 4, out=t.ones(2))",
        "t.logsumexp(m.cfloat(), 1, out=t.ones(3))", "t.logsumexp(m[:0].cfloat(), 0, out=t.ones(3))", "t.ones(4).addbmm_(t.ones(3, 1, 2), t.ones(3, 2, 4))",
        "t.block_diag(*[v] * 40)", "t.hstack([v] * 40, out=t.empty(120))",
        *[f"t.{name}(m.{dtype}(), {dim}, out=t.ones({sizes}).to(t.{into}))" for name in ("var", "std") for dtype in ("half",
        "float") for dim, sizes in ((None, ()), (0, 3), ([0, 1], ()))
          for into in ("float16", "float32", "complex64")]]


@pytest.fixture
def every_warning():
    """Each side gives some warnings once in a process, where another test may have had them."""
    for t in (torch, weir):
        t.set_warn_always(True)
    yield
    for t in (torch, weir):
        t.set_warn_always(False)


@pytest.mark.parametrize("call", OUTS)
def test_outs_are_taken_with_pytorchs_warnings(call, every_warning):
    seen = []
    for t in (torch, weir):
        names = {"t": t, "F": t.nn.functional, "v": t.ones(3), "m": t.arange(9.).reshape(3, 3)}
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                r = eval(call, names)
                r = (str(r.dtype), tuple(r.shape), r.stride(), r.tolist() if r.dtype != t.complex64 else None)
            except Exception as error:
                r = type(error).__name__
        seen.append((r, [w.category for w in said]))
    assert seen[0] == seen[1]


#: What the parsers of PyTorch's functions in Python, and its kernels, make of odd arguments: a value, with its version, or an error.
ODD = ["t.stft(v, 2, window=t.ones(2), onesided=True, align_to_window=2)", "t.stft(t.ones(20), 4, window=t.ones(4), center=1, return_complex=True)",
       "t.stft(t.ones(2, 2, 2), 2, onesided=0)",
       "t.stft(v, float('nan'), return_complex=False)", "t.stft(t.ones(20), 4, window=t.ones(4), center=False, return_complex=True)",
       "t.cumulative_trapezoid(v, dx=True)",
       "t.trapezoid(v, dx=False)", "t.trapz(v, dx=True)", "t.trapz(m, axis=0)", "t.trapz(m, m, dim=0)", "m.resize_(t.tensor([2, 2]))",
       *[f"t.{call}" for call in ("addmm(v[:0], m, m[:, :0], alpha=1e300)", "addmv(v[:0], m[:0], v, beta=1e300)",
       "addr(m[:0], v[:0], v, alpha=1e300)", "scatter(v, 0, v[:0].long(), 1e300)",
                                  "index_add(v, 0, v[:0].long(), v[:0], alpha=1e300)", "linalg.matrix_rank(m[:0].half(), atol=0.1)",
                                  "linalg.matrix_rank(m[:0].half(), atol=0.1, rtol=0.1)")],
       "t.autograd.grad(t.cumprod(x := t.complex(v, v - 2).requires_grad_(), 0, dtype=t.float32).sum(), x)",
       "t.gru_cell(m[:2, :2], t.ones(2, 2, 2), t.ones(6, 2), t.ones(6, 2))", "t.histogramdd(m[:, :2], [t.tensor([1., 2.]), 3])",
       "t.histogramdd(m, [t.tensor([1]), 3])", "t.histogramdd(m.half(), [t.tensor([1]), 3])", "t.histogramdd(m[:, :2], [t.tensor(2), 3])",
       "t.index_add(t.ones(2, 0), 0, t.tensor([5]), t.ones(1, 0))",
       "t.index_add(v[:0], 0, t.tensor([5]), t.ones(1))", "t.max_pool3d(t.ones(2, 4, 4, 3).contiguous(memory_format=t.channels_last), 1)",
       *[f"F.{name}(t.ones(2, 4, 4, 2, 2).contiguous(memory_format=t.{format}), 1)" for name in ("pixel_shuffle",
       "pixel_unshuffle") for format in ("channels_last_3d", "contiguous_format")],
       "F.pixel_shuffle(t.ones(2, 3, 4, 3), 2**63 - 1)",
       "t.native_batch_norm(t.ones(0, 2).long(), None, None, v[:2].long(), v[:2].long(), False, .1, .001)", "t.polygamma(2**31, v)",
       "t.polygamma(2**32 + 2, v)",
       "t.polygamma(3, v - 1)", "t.randint(-3, 5, [0, 3, 3.0], dtype=t.bfloat16, out=t.ones(0).double())", "v.resize(t.tensor([3]))",
       "m.resize(t.tensor([3, 3]))", "v[[0, 1.0]]", "v[[1, 1.9]]", "v[[True, 1]]",
       "(v.__setitem__(False, m), v._version)", "(v.__setitem__(True, 5.), v)", "v[:1].expand(4).__setitem__(True, .5)",
       "v.half().__setitem__(0, 1e39)", "v.__setitem__(0, 1e300)", "v[:0].half() / (1 + 2j)",
       "t.kthvalue(t.ones(9), 4)", "t.kthvalue(t.tensor([2., 1, 2, float('nan'), 1, 2, 1]), 5)",
       "t.kthvalue(t.tensor([3, 1, 3, 1, 3, 1, 3, 1, 2, 2, 2, 2]), 7)",
       "m.index_copy_(-2, t.tensor([1]), m)", "m.index_copy_(0, t.tensor([0, 2, 1]), m)", "m.index_copy_(0, t.tensor([1]), m[:1] + 1)",
       *[f"t.tensor([complex(float('inf'), float('inf')), complex(0, float('inf')), 1 + 2j]) ** {e}" for e in (-1, -2, -3, -0.5)],
       "t.addcdiv(v, v.int(), v.byte())", "t.addcdiv(v, v.int(), v)",
       "t.addbmm(m.half(), m.half()[None] * 200, m.half()[None] * 200, beta=.6, alpha=.01)",
       *[f"(v.requires_grad_() * {by}).backward({grad})" for by in ("2", "(1 + 0j)") for grad in ("t.ones(3)", "t.ones(3) > 0", "t.ones(3).double()",
       "t.ones(3) + 0j")],
       "t.empty_strided((5, 1, 1, 2), (2, 1, 2, 1)).zero_().to(memory_format=t.contiguous_format)",
       "t.empty_strided((5, 1, 1, 2), (2, 1, 2, 1)).zero_().to(t.float64)",
       *[f"v.to(numpy.{x})" for x in ("int64(3)", "bool_(False)", "float32(1)", "uint8(1)")],
       "F.fractional_max_pool2d(t.ones(3, 7, 7).long(), [2, 2], [True, 3])",
       "F.fractional_max_pool3d(t.ones(0, 7, 7, 7).long(), [1, 1, 3], [1, 2, 2])", "F.fractional_max_pool2d(t.ones(0, 2, 5, 3) + 0j, [1, 2], [4, 2])",
       "t.bucketize(t.ones(5, 0).long(), t.ones(10).long()[::2])",
       "F.max_unpool2d(t.ones(1, 2, 1, 2), t.zeros(1, 2, 1, 2).long(), 3, output_size=(1, 2, 2**70, 6))",
       "F.max_unpool1d(t.ones(1, 2, 3), t.zeros(1, 2, 3).long(), [2], [t.tensor(2)])",
       "F.max_unpool1d(t.ones(1, 2, 3), t.zeros(1, 2, 3).long(), [2], [t.tensor(2)], output_size=[6])"]


@pytest.mark.parametrize("call", ODD)
@pytest.mark.filterwarnings("ignore")
def test_odd_arguments(call):
    import numpy

    def of(t):
        names = {"t": t, "F": t.nn.functional, "v": t.tensor([1., 2, 3]), "m": t.arange(9.).reshape(3, 3), "numpy": numpy}
        try:
            r = eval(call, names)
        except Exception as error:
            return type(error)
        return [(x if x is None or isinstance(x, int) else (tuple(x.shape), x.stride(), x.detach().to(t.complex128).resolve_conj().numpy()))
                for y in (r if isinstance(r, tuple) else (r,)) for x in (y if isinstance(y, tuple) else (y,))]
    theirs, ours = of(torch), of(weir)
    if isinstance(theirs, type) or isinstance(ours, type):
        assert isinstance(theirs, type) and isinstance(ours, type) and (issubclass(ours, theirs) or issubclass(theirs, ours)), (theirs, ours)
        return
    for a, b in zip(theirs, ours, strict=True):
        if isinstance(a, tuple):
            assert a[:2] == b[:2]
            numpy.testing.assert_allclose(b[2], a[2], 1e-3 if ".half()" in call else 1e-5, 1e-6)
        else:
            assert a == b


def test_a_fused_step_takes_real_parameters_only():
    for t in (torch, weir):
        p = t.ones(3, dtype=t.complex64, requires_grad=True)
        p.grad = t.ones(3, dtype=t.complex64)
        with pytest.raises(RuntimeError):
            t.optim.SGD([p], lr=0.1, fused=True).step()


@pytest.mark.parametrize("out", ["uint8", "int8", "int16", "int32", "int64", "float32"])
@pytest.mark.parametrize("name", ["fmin", "fmax", "minimum", "maximum", "lcm", "gcd", "bitwise_and", "remainder", "mul"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_numbers_meet_in_their_common_dtype_before_a_narrower_out_sees_them(name, shape, out):
    for other in (-1, 200, 2**33 + 300):
        for dtype in (torch.uint8, torch.int8, torch.int16):
            x = torch.full(shape, 3, dtype=dtype)
            assert_same(lambda t, x, y: getattr(t, name)(x, y, out=t.zeros(shape, dtype=getattr(t, out))), x, torch.tensor(other), what=f"{dtype} {other}")  # noqa: B023


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2", "maximum", "fmin"])
def test_a_wider_out_holds_what_is_computed_in_single_precision(name):
    x, y = torch.rand(2, 50, generator=torch.manual_seed(0))
    exact = getattr(weir, name)(to_weir(x), to_weir(y), out=weir.zeros(50, dtype=weir.float64))
    assert exact.equal(getattr(weir, name)(to_weir(x), to_weir(y)).double())


@pytest.mark.parametrize("out", ["int64", "int32", "float32", "float64"])
def test_what_is_computed_wider_wraps_around_before_a_wider_out_sees_it(out):
    calls = {"pow": lambda t, x, y, out: t.pow(x, y, out=out), "pow of a number": lambda t, x, y, out: t.pow(-2, y, out=out), "pow to a number": lambda t, x, y, out: t.pow(x, 7, out=out),
             "shift": lambda t, x, y, out: t.bitwise_left_shift(x, y, out=out), "lcm": lambda t, x, y, out: t.lcm(x, y, out=out), "compared": lambda t, x, y, out: t.gt(x, y, out=out),
             "a view": lambda t, x, y, out: t.pow(x, y, out=out.expand(2, 3).contiguous()[:, ::1][0])}
    for name, call in calls.items():
        for dtype in ("uint8", "int8", "int16", "int32"):
            found = []
            for t in (torch, weir):
                x, y = (t.tensor(numbers, dtype=getattr(t, dtype)) for numbers in ([100, 7, 101], [1, 5, 3]))
                try:
                    found.append(call(t, x, y, t.zeros(3, dtype=getattr(t, out))).tolist())
                except RuntimeError as error:
                    found.append(type(error))
            assert found[0] == found[1], (name, dtype)
