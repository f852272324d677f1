"""Formulas give on a GPU what they give on the CPU: the text that both devices share is compiled by NVRTC and run there."""

import ctypes
import re

import numpy as np
import pytest
import weir
from cuda_source import pointwise_ops, source, types_of
from gpu import Gpu, has_gpu
from nvrtc import compile_cuda, library

N = 4_099
DTYPES = {"float": np.float32, "double": np.float64, "int64_t": np.int64}
# A condition of `where` is bool, a formula's a number.
OTHERWISE = {"where"}

if library() is None or not has_gpu():
    pytest.skip("needs a GPU, its driver and libnvrtc", allow_module_level=True)


@pytest.fixture(scope="module")
def kernels():
    """Runs a formula's kernel over arrays of one length and dtype."""
    cubin = compile_cuda(library(), source(pointwise_ops()))
    gpu = Gpu(cubin)

    def run(struct: str, kind: str, inputs: list[np.ndarray]) -> np.ndarray:
        name, letter = f"kernel_{struct}", {"float": "f", "double": "d", "int64_t": "x"}[kind]
        symbol = re.search(rf"_ZN?\w*?{len(name)}{name}I{letter}E\w*".encode(), cubin)[0]
        result = np.empty_like(inputs[0])
        # The op has no members: one byte stands for it.
        gpu.run(symbol, [ctypes.c_uint8(0), result, *inputs, ctypes.c_int64(result.size)], -(-result.size // 256), 256)
        return result

    return run


def on_cpu(name: str):
    places = (weir, weir.special, weir.nn.functional, weir._C)
    return next((getattr(place, name) for place in places if callable(getattr(place, name, None))), None)


def answers(op, kind: str) -> bool:
    """Whether the op has a name in Python, and is called with tensors alone, of such numbers."""
    function = on_cpu(op.name)
    if op.members or function is None or op.name in OTHERWISE:
        return False
    x = weir.from_numpy(np.ones(2, DTYPES[kind]))
    try:
        return isinstance(function(*[x] * op.inputs), weir.Tensor)
    except (RuntimeError, TypeError):
        return False


CASES = [(op, kind) for op in pointwise_ops() for kind in types_of(op) if answers(op, kind)]


@pytest.mark.parametrize("op, kind", CASES, ids=[f"{op.name}-{kind}" for op, kind in CASES])
def test_a_formula_gives_the_numbers_of_the_cpu(kernels, op, kind):
    rng = np.random.default_rng(0)
    if kind == "int64_t":
        inputs = [rng.integers(1, 40, N) for _ in range(op.inputs)]
    else:
        inputs = [rng.uniform(-4, 4, N).astype(DTYPES[kind]) for _ in range(op.inputs)]
    expected = on_cpu(op.name)(*map(weir.from_numpy, inputs)).numpy()
    digits = {"float": 3e-5, "double": 1e-9, "int64_t": 0}[kind]
    np.testing.assert_allclose(kernels(op.struct, kind, inputs).astype(np.float64), expected.astype(np.float64), rtol=digits, atol=digits)
