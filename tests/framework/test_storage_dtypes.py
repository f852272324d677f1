"""uint16, uint32, uint64, float8 and complex32 against PyTorch: what they hold, what computes with them, and what refuses them."""

import copy
import io
import pickle
import warnings

import numpy as np
import pytest
import torch
import weir
from twins import to_weir

UNSIGNED = ["uint16", "uint32", "uint64"]
FLOAT8 = ["float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"]
STORED = [*UNSIGNED, *FLOAT8, "complex32"]
COMPUTING = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]

#: Calls of x, a 2 x 2 tensor of dtype d, in framework T.
CALLS = {
    "arithmetic": """
        x+x; x-x; x*x; x/x; x//x; x%x; -x; abs(x); x+1; x*2; x+1.5; x**2; x==x; x!=x; x<x; x>=x; x==1; x<2; x&x; x|x; x^x; 
        x<<1; x>>1; T.maximum(x,x); T.minimum(x,x); T.clamp(x,1,2); x.clamp(min=1)""",
    "reductions": """
        x.sum(); x.sum(0); x.prod(); x.mean(); x.max(); x.min(); x.max(0); x.argmax(); x.amax(); x.amin(0); x.all(); x.any();
        x.cumsum(0); x.cumprod(0); x.std(); x.var(); x.norm(); T.count_nonzero(x); x.nonzero(); x.aminmax()""",
    "order": """
        x.sort(); x.argsort(); x.topk(1); x.kthvalue(1); x.median(); x.mode(); T.unique(x); x.unique_consecutive();
        T.searchsorted(x[0].contiguous(),x); T.bincount(x.flatten()); T.isin(x,x); x.flip(0); x.roll(1); T.rot90(x); x.tril();
        x.triu()""",
    "places": """
        T.cat([x,x]); T.stack([x,x]); x[0]; x[x!=0]; x[[0,1]]; x[T.tensor([0,1])]; x.index_select(0,T.tensor([0,1]));
        x.gather(0,T.zeros(1,2,dtype=T.int64)); x.take(T.tensor([0,1])); T.where(x!=0,x,x); x.masked_fill(x!=0,1);
        x.masked_select(x!=0); x.masked_scatter(x!=0,x); x.index_fill(0,T.tensor([0]),1); x.index_add(0,T.tensor([0]),x[:1]);
        x.index_copy(0,T.tensor([0]),x[:1]); x.scatter(0,T.zeros(1,2,dtype=T.int64),x);
        x.scatter(0,T.zeros(1,2,dtype=T.int64),1); x.scatter_add(0,T.zeros(1,2,dtype=T.int64),x);
        x.index_put((T.tensor([0]),),x[0]); x.index_put((T.tensor([0]),),x[0],accumulate=True); x.repeat(2,1);
        x.repeat_interleave(2); x.tile(2); T.nn.functional.pad(x,(1,1)); x.diag(); T.diag_embed(x); T.block_diag(x,x);
        T.nn.functional.pixel_shuffle(x.repeat(4,1,1)[None],2)""",
    "filling": """
        x.fill_(3); x.zero_(); T.full_like(x,2); T.ones_like(x); T.zeros_like(x); T.empty_like(x).fill_(1);
        T.full((2,),2,dtype=d); T.ones(2,dtype=d); T.eye(2,dtype=d); T.arange(3,dtype=d); T.arange(0,3,dtype=d);
        T.linspace(0,3,4,dtype=d); T.logspace(0,1,2,dtype=d); T.range(0,3,dtype=d); T.scalar_tensor(2,dtype=d);
        T.tril_indices(2,2,dtype=d)""",
    "elementwise": """
        x.clone(); x.t().contiguous(); x.copy_(x.float().abs()); x.equal(x); T.allclose(x,x); T.isclose(x,x); x.isnan();
        x.isinf(); x.isfinite(); x.sign(); x.sgn(); x.signbit(); x.floor(); x.round(); x.trunc(); x.sqrt(); x.exp(); x.sin();
        x.log(); x.reciprocal(); x.square(); x.logical_not(); x.logical_and(x); T.logical_or(x,x); x.float_power(2);
        T.bitwise_not(x); T.fmod(x,x); T.gcd(x,x); T.addcmul(x,x,x); T.lerp(x,x,x); T.nan_to_num(x); T.relu(x); T.sigmoid(x);
        T.tanh(x)""",
    "products": """
        x@x; T.mm(x,x); x[0]@x[0]; T.bmm(x[None],x[None]); x@x[0]; T.outer(x[0],x[0]); T.einsum('ij,jk',x,x);
        T.nn.functional.linear(x,x); T.addmm(x,x,x); T.kron(x,x); T.nn.functional.softmax(x,0);
        T.softmax(x,0,dtype=T.float32); T.nn.functional.embedding(T.tensor([0,1]),x);
        T.nn.functional.conv2d(x[None,None],x[None,None]); T.fft.fft(x); T.nn.functional.one_hot(x)""",
    "random": """
        T.randn_like(x); T.randint_like(x,3); x.random_(); x.random_(3); x.uniform_(); x.normal_(); x.bernoulli_();
        x.exponential_(); T.randint(0,5,(3,),dtype=d); T.rand(3,dtype=d); T.randn(3,dtype=d); T.bernoulli(x);
        T.multinomial(x,1)""",
    "complex": """
        x.real; x.imag; x.conj(); x.resolve_conj(); x.angle(); T.view_as_real(x); T.view_as_complex(T.view_as_real(x));
        x.conj_physical(); T.complex(x,x); T.polar(x,x); x.mH; x.conj()*x; x*1j; x*x.conj(); x.abs()""",
    "casts": """
        x.view(T.int8); x.view(T.uint8); x.view(T.float16); x.view(T.int32); x.tolist(); x[0,0].item(); bool(x[0,0]);
        int(x[0,0].real); x.numpy(); float(x[0,0].real); str(x); x.type(); x.long(); x.double(); x.half(); x.cfloat();
        x.to(T.uint16); x.to(T.float8_e5m2); x.to(T.complex32); x.bool(); x.requires_grad_(); x.index_put_((x!=0,),x[0,0]);
        x.__setitem__(0,5); x.__setitem__((x!=0),2); x.__setitem__(T.tensor([0]),3); x.add_(1); x.mul_(x);
        x.sum(dtype=T.float32); x.float().sum(dtype=d); T.result_type(x,1); T.result_type(x,1.5); T.result_type(x,1j);
        x.unsqueeze(0).expand(3,2,2).clone(); x.unfold(0,2,1); x.split(1)[0]; x.as_strided((2,),(1,)); T.combinations(x[0]);
        T.histc(x); x.new_full((2,),3); x.new_tensor([1,2]); T.as_tensor(x); x.element_size(); x.cummax(0); T.diff(x);
        T.nansum(x); T.logcumsumexp(x,0); T.logsumexp(x,0); T.cdist(x,x); T.cross(x.repeat(2,2)[:,:3],x.repeat(2,2)[:,:3]);
        T.nn.functional.interpolate(x[None,None],scale_factor=2)""",
}
#: What weir computes though PyTorch has no kernel: ops that here are compositions of others, or move elements.
TAKEN = {"T.nn.functional.pad(x,(1,1))", "T.rot90(x)", "T.logspace(0,1,2,dtype=d)", "T.count_nonzero(x)", "T.combinations(x[0])",
         "T.einsum('ij,jk',x,x)", "x.angle()", "x.equal(x)", "x.isinf()", "x.isfinite()", "x*2",
         "T.nn.functional.pixel_shuffle(x.repeat(4,1,1)[None],2)", "x.masked_select(x!=0)", "x.masked_scatter(x!=0,x)", "x.masked_fill(x!=0,1)",
         "x.index_fill(0,T.tensor([0]),1)", "x.take(T.tensor([0,1]))", "x[0]@x[0]", "x@x[0]", "x.__setitem__((x!=0),2)",
         "x.index_put_((x!=0,),x[0,0])", "x.float().sum(dtype=d)", "x.scatter(0,T.zeros(1,2,dtype=T.int64),x)"}


def bits(t):
    """The bytes of a tensor of either framework, and what else is told of it."""
    t = t.detach().resolve_conj().resolve_neg().reshape(-1).clone(memory_format=(torch if isinstance(t, torch.Tensor) else weir).contiguous_format)
    return t.view(torch.uint8 if isinstance(t, torch.Tensor) else weir.uint8).numpy().tobytes() if t.numel() else b""


def said(value):
    if isinstance(value, (torch.Tensor, weir.Tensor)):
        return str(value.dtype), tuple(value.shape), bits(value)
    if isinstance(value, (list, tuple)):
        return [said(v) for v in value]
    return value.tobytes() if isinstance(value, np.ndarray) else str(value)


def same(ours, theirs):
    """Equal, or float32 within its last digits: transcendental functions have polynomials of their own."""
    if isinstance(ours, tuple) and isinstance(theirs, tuple) and len(ours) == len(theirs) == 3 and ours[:2] == theirs[:2] and ours[0] in (
            "torch.float32", "torch.complex64"):
        return np.allclose(*(np.frombuffer(t[2], np.float32) for t in (ours, theirs)), 1e-6, 1e-6, equal_nan=True)
    if isinstance(ours, (tuple, list)) and isinstance(theirs, (tuple, list)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs


def answer(T, x, call, dtype):
    T.manual_seed(0)
    d = getattr(T, dtype)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = eval(call, {"T": T, "x": x, "d": d})
            return said(value), said(x)
    except (RuntimeError, TypeError, ValueError) as error:
        return "RuntimeError" if isinstance(error, RuntimeError) else type(error).__name__


@pytest.mark.parametrize("group", CALLS)
@pytest.mark.parametrize("dtype", STORED)
def test_calls(dtype, group):
    wrong = []
    for call in (c.strip() for c in CALLS[group].replace("\n", " ").split(";")):
        x = torch.tensor([[1.0, 2.0], [4.0, 2.0]]).to(getattr(torch, dtype))
        ours, theirs = answer(weir, to_weir(x), call, dtype), answer(torch, x, call, dtype)
        if not same(ours, theirs) and not (call in TAKEN and type(theirs) is str):
            wrong.append(f"{call}: {ours}, PyTorch: {theirs}")
    assert not wrong, "\n".join(wrong)


def numbers_of(dtype):
    """Numbers of a dtype and beside its limits."""
    t = getattr(torch, dtype)
    if t.is_complex:
        return torch.tensor([0, 1 + 2j, -3.5j, 65504 + 1j, 1e-7 + 70000j, complex(float("nan"), 1)]).to(t)
    if not t.is_floating_point:
        ends = torch.iinfo(t) if t != torch.bool else None
        return torch.tensor([0, 1] if ends is None else [0, 1, 2, 77, ends.min, ends.max], dtype=t)
    if t.itemsize == 1:
        return torch.arange(256, dtype=torch.uint8).view(t)
    return torch.tensor([0, -0.0, 1, -1.5, 0.3, 15.5, 16.5, 17, 447, 464, 465, 57344, 61440, 65535, 240, 248, 2.0**-10, 3 * 2.0**-11, 1e-40,
                         65504, float("inf"), -float("inf"), float("nan")], dtype=torch.float64).to(t)


def whole_and_small(x, target):
    """Numbers that an integer holds: what becomes of others is not defined."""
    if target.is_floating_point or target.is_complex or not (x.is_floating_point() or x.is_complex()):
        return x
    size = torch.view_as_real(x.cdouble()).abs().amax(-1)
    return x[(size <= 127).nonzero().flatten()] if target != torch.bool else x


@pytest.mark.parametrize("source", [*STORED, *COMPUTING])
@pytest.mark.parametrize("target", [*STORED, *COMPUTING])
def test_casts(source, target):
    t = getattr(torch, target)
    x = whole_and_small(numbers_of(source), t)
    if target in UNSIGNED and x.is_floating_point():
        x = x[(x.double() >= 0).nonzero().flatten()]
    ours, theirs = to_weir(x).to(getattr(weir, target)), x.to(t)
    for a, b in ((ours, theirs), (to_weir(x)[::2].to(ours.dtype), x[::2].to(t))):
        if t.is_floating_point or t.is_complex:  # of NaN, any
            wide = torch.complex128 if t.is_complex else torch.float64
            np.testing.assert_array_equal(a.to(weir.cdouble if t.is_complex else weir.double).numpy(), b.to(wide).numpy())
        else:
            assert said(a) == said(b)


@pytest.mark.parametrize("dtype", FLOAT8)
def test_rounding_of_all_halves(dtype):
    every = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.float16)
    for x in (every, every.view(torch.bfloat16), every.view(torch.bfloat16).float() * 1.00390625, every.double()):
        ours, theirs = to_weir(x).to(getattr(weir, dtype)), x.to(getattr(torch, dtype))
        np.testing.assert_array_equal(ours.float().numpy(), theirs.float().numpy())


@pytest.mark.parametrize("dtype", STORED)
@pytest.mark.parametrize("value", [1, -1, 0.5, -0.5, 1.5, 300, 70000, 2**32, 2**64, float("nan"), float("inf"), 1e10, True, 1j])
def test_numbers_are_checked(dtype, value):
    for call in ("T.tensor([v], dtype=d)", "T.full((2,), v, dtype=d)"):
        if dtype == "float8_e8m0fnu" and "full" in call:
            continue  # PyTorch takes -1 and refuses -0.5
        if dtype == "complex32" and "full" in call and value in (70000, 2**32, 1e10):
            continue  # PyTorch refuses it of one element, and writes infinities into two
        results = []
        for T in (weir, torch):
            try:
                results.append(said(eval(call, {"T": T, "v": value, "d": getattr(T, dtype)})))
            except (RuntimeError, TypeError, ValueError, OverflowError) as error:
                results.append(type(error).__name__)
        ours, theirs = results
        both = isinstance(ours, str) and isinstance(theirs, str) and {ours, theirs} <= {"OverflowError", "RuntimeError", "ValueError"}
        assert ours == theirs or both, call


@pytest.mark.parametrize("value", [0, 2**63 - 1, 2**63, 2**64 - 1])
def test_large_uint64(value):
    ours, theirs = weir.tensor([value, 1], dtype=weir.uint64), torch.tensor([value, 1], dtype=torch.uint64)
    assert ours[0].item() == int(ours[0]) == theirs[0].item() == value
    assert ours.tolist() == theirs.tolist() and repr(ours) == repr(theirs)
    for call in (lambda x: x.sort()[0], lambda x: x.sort()[1], lambda x: x.double(), lambda x: x.float(), lambda x: x == x[0], lambda x: x * x,
                 lambda x: x.unique(), lambda x: x.sum(), lambda x: x.sqrt(), lambda x: x.sort(descending=True)[0]):
        assert said(call(ours)) == said(call(theirs))


@pytest.mark.parametrize("dtype", STORED)
def test_text(dtype):
    for x in (numbers_of(dtype)[:6], numbers_of(dtype)[:0], numbers_of(dtype)[1], numbers_of(dtype)[:6].reshape(2, 3)):
        assert repr(to_weir(x)) == repr(x)


@pytest.mark.parametrize("dtype", [*STORED, *COMPUTING])
def test_files_both_ways(dtype, tmp_path):
    x = numbers_of(dtype)
    for name, tensors in (("whole", x), ("part", x[1:]), ("empty", x[:0]), ("several", {"a": x, "b": x[::2], "c": x[0]})):
        torch.save(tensors, tmp_path / f"torch_{name}")
        weir.save(to_weir(tensors), tmp_path / f"weir_{name}")
        expected = list(tensors.values()) if isinstance(tensors, dict) else [tensors]
        for value in (weir.load(tmp_path / f"torch_{name}"), torch.load(tmp_path / f"weir_{name}"), weir.load(tmp_path / f"weir_{name}")):
            assert [said(v) for v in (value.values() if isinstance(value, dict) else [value])] == [said(e) for e in expected]


def test_file_of_a_conjugate(tmp_path):
    x = torch.tensor([1 + 2j, 3j]).to(torch.complex32).conj()
    torch.save(x, tmp_path / "x")
    ours = weir.load(tmp_path / "x")
    assert ours.is_conj() and said(ours) == said(x)
    weir.save(ours, tmp_path / "y")
    assert said(torch.load(tmp_path / "y")) == said(x)


@pytest.mark.parametrize("dtype", [d for d in STORED if d not in ("complex32", "float8_e5m2fnuz", "float8_e4m3fnuz")])
def test_safetensors_both_ways(dtype, tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    x = numbers_of(dtype)
    safetensors.save_file({"x": x}, tmp_path / "theirs.safetensors")
    weir.save({"x": to_weir(x)}, tmp_path / "ours.safetensors")
    assert said(weir.load(tmp_path / "theirs.safetensors")["x"]) == said(x)
    assert said(safetensors.load_file(tmp_path / "ours.safetensors")["x"]) == said(x)


@pytest.mark.parametrize("dtype", STORED)
def test_copies_and_pickles(dtype):
    x = to_weir(numbers_of(dtype))
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert said(y) == said(x)
    assert pickle.loads(pickle.dumps(x.dtype)) is x.dtype
    buffer = io.BytesIO(bytes(range(64)))
    ours = weir.frombuffer(buffer.getvalue(), dtype=getattr(weir, dtype))
    theirs = torch.frombuffer(bytearray(buffer.getvalue()), dtype=getattr(torch, dtype))
    assert said(ours) == said(theirs)


@pytest.mark.parametrize("dtype", STORED)
def test_dlpack_both_ways(dtype):
    x = numbers_of(dtype)
    assert said(weir.from_dlpack(x)) == said(x)
    assert said(torch.from_dlpack(to_weir(x))) == said(x)


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_arrays_share_memory(dtype):
    array = np.arange(5, dtype=dtype)
    t = weir.from_numpy(array)
    t[0] = 9
    assert array[0] == 9 and t.numpy().dtype == array.dtype and t.dtype is getattr(weir, dtype)


@pytest.mark.parametrize("dtype", [*STORED, *COMPUTING])
def test_what_a_dtype_says(dtype):
    ours, theirs = getattr(weir, dtype), getattr(torch, dtype)
    facts = "is_signed is_complex is_floating_point itemsize to_complex to_real".split()

    def told(t, T):
        for name in facts:
            value = getattr(t, name)
            try:
                yield str(value() if callable(value) else value)
            except RuntimeError as error:
                yield type(error).__name__
        for limits in (T.finfo, T.iinfo):
            try:
                yield repr(limits(t))
            except TypeError:
                yield "TypeError"
    assert list(told(ours, weir)) == list(told(theirs, torch))
    assert isinstance(ours, weir.dtype)


def test_result_types_of_tensors_and_numbers():
    for dtype in [*STORED, *COMPUTING]:
        for number in (True, 1, 1.5, 1j, torch.tensor(1j, dtype=torch.complex128), torch.tensor(1.5, dtype=torch.float64)):
            x = torch.zeros(2, dtype=getattr(torch, dtype))
            results = []
            for T, args in ((weir, to_weir([x, number])), (torch, [x, number])):
                try:
                    results.append(str(T.result_type(*args)))
                except RuntimeError:
                    results.append("RuntimeError")
            assert results[0] == results[1], (dtype, number)


@pytest.mark.parametrize("name", ["quint8", "bits8", "float4_e2m1fn_x2", "uint4", "qint32"])
def test_names_without_a_dtype(name):
    t, theirs = getattr(weir, name), getattr(torch, name)
    assert isinstance(t, weir.dtype) and repr(t) == repr(theirs) and t.itemsize == theirs.itemsize
    assert pickle.loads(pickle.dumps(t)) is t and t != weir.uint8
    for call in (lambda: weir.zeros(2, dtype=t), lambda: weir.ones(2).to(t), lambda: weir.empty(2, dtype=t)):
        with pytest.raises(NotImplementedError, match=name):
            call()


def test_gradients_of_complex_halves():
    x = torch.tensor([1 + 2j, 3 - 1j]).to(torch.complex32)
    grads = []
    for T, leaf in ((weir, to_weir(x)), (torch, x.clone())):
        leaf.requires_grad_()
        (leaf * leaf).abs().float().sum().backward()
        grads.append(said(leaf.grad))
    assert grads[0] == grads[1]


def test_a_trace_refuses_them():
    step = weir.compile(lambda x: x * x)
    x = weir.tensor([1, 2], dtype=weir.uint16)
    assert said(step(x)) == said(torch.tensor([1, 4], dtype=torch.uint16))


def planned(x, call, dtype):
    """What a call answers when it is traced and run as a plan; None where it reads values or returns no tensors."""
    weir.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with weir._trace.tracing() as t:
                (given,) = t.arguments([x])
                value = eval(call, {"T": weir, "x": given, "d": getattr(weir, dtype)})
                parts = list(value) if isinstance(value, (list, tuple)) else [value]
                if not all(isinstance(v, weir.Tensor) for v in parts):
                    return None
                plan = weir._C._Plan(t.finish([*parts, given]))
        except weir.nn.graph.Untraceable:
            return None
        *parts, x = plan.run([x])
    return (said(parts) if isinstance(value, (list, tuple)) else said(parts[0])), said(x)


@pytest.mark.parametrize("group", CALLS)
@pytest.mark.parametrize("dtype", STORED)
def test_calls_as_plans(dtype, group):
    wrong, run = [], 0
    for call in (c.strip() for c in CALLS[group].replace("\n", " ").split(";")):
        x = torch.tensor([[1.0, 2.0], [4.0, 2.0]]).to(getattr(torch, dtype))
        eager = answer(weir, to_weir(x), call, dtype)
        if isinstance(eager, str):
            continue
        plan = planned(to_weir(x), call, dtype)
        run += plan is not None
        if plan is not None and plan != eager:
            wrong.append(f"{call}: {plan}, eager mode: {eager}")
    assert not wrong, "\n".join(wrong)
    assert run or group in ("random", "complex")


def test_saved_graphs(tmp_path):
    class Program(weir.nn.Graph):
        def build(self, x, y):
            return x * x, y.flip(0), x.to(weir.complex64).abs()

    x, y = weir.tensor([1 + 2j, 3j]).to(weir.complex32), weir.tensor([1, 2**63], dtype=weir.uint64)
    program = Program()
    program.save(tmp_path / "stored.weir", x, y)
    for run in (program, weir.nn.graph.load(tmp_path / "stored.weir")):
        product, turned, size = run(x, y)
        assert said(product) == said(x * x) and turned.tolist() == [2**63, 1]
        np.testing.assert_allclose(size.numpy(), [5**0.5, 3], rtol=1e-6)
