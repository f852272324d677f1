"""Formulas give on a GPU what PyTorch gives on the CPU: the text that both devices share is compiled by NVRTC and run there."""

import ctypes
import re

import numpy as np
import pytest
import torch
from cuda_source import pointwise_ops, source, types_of
from nvrtc import compile_cuda, library

N = 4_099
DTYPES = {"float": np.float32, "double": np.float64, "int64_t": np.int64}
# Names that PyTorch has elsewhere; an op is looked for there first.
PLACES = (torch, torch.special, torch.nn.functional)
# A condition of PyTorch's is bool, a formula's a number.
OTHERWISE = {"where"}


class Gpu:
    """The CUDA driver's few calls that a test needs."""

    def __init__(self, cubin: bytes):
        self._cuda = ctypes.CDLL("libcuda.so.1")
        device, context, self._module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self._check(self._cuda.cuInit(0))
        self._check(self._cuda.cuDeviceGet(ctypes.byref(device), 0))
        self._check(self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self._check(self._cuda.cuCtxSetCurrent(context))
        self._check(self._cuda.cuModuleLoadData(ctypes.byref(self._module), cubin))
        self._cubin = cubin

    def _check(self, code: int):
        assert code == 0, f"CUDA driver: error {code}"

    def run(self, struct: str, kind: str, inputs: list[np.ndarray]) -> np.ndarray:
        """The output of an op's kernel over arrays of one length and dtype. The op has no members: one byte stands for it."""
        function, pointers = ctypes.c_void_p(), []
        name, letter = f"kernel_{struct}", {"float": "f", "double": "d", "int64_t": "x"}[kind]
        symbol = re.search(rf"_ZN?\w*?{len(name)}{name}I{letter}E\w*".encode(), self._cubin)[0]
        self._check(self._cuda.cuModuleGetFunction(ctypes.byref(function), self._module, symbol))
        result = np.empty_like(inputs[0])
        for array in (result, *inputs):
            pointer = ctypes.c_uint64()
            self._check(self._cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(array.nbytes)))
            pointers.append(pointer)
            self._check(self._cuda.cuMemcpyHtoD_v2(pointer, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)))
        values = [ctypes.c_uint8(0), *pointers, ctypes.c_int64(result.size)]
        arguments = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        blocks = (result.size + 255) // 256
        self._check(self._cuda.cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, None, arguments, None))
        self._check(self._cuda.cuMemcpyDtoH_v2(result.ctypes.data_as(ctypes.c_void_p), pointers[0], ctypes.c_size_t(result.nbytes)))
        for pointer in pointers:
            self._check(self._cuda.cuMemFree_v2(pointer))
        return result


def has_gpu() -> bool:
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False


if library() is None or not has_gpu():
    pytest.skip("needs a GPU, its driver and libnvrtc", allow_module_level=True)


@pytest.fixture(scope="module")
def gpu():
    return Gpu(compile_cuda(library(), source(pointwise_ops())))


def oracle(name: str):
    return next((getattr(place, name) for place in PLACES if callable(getattr(place, name, None))), None)


def answers(op, kind: str) -> bool:
    """Whether PyTorch has the op, called with tensors alone, for such numbers, and gives such numbers."""
    function = oracle(op.name)
    if op.members or function is None or op.name in OTHERWISE:
        return False
    x = torch.from_numpy(np.ones(2, DTYPES[kind]))
    try:
        return isinstance(function(*[x] * op.inputs), torch.Tensor)
    except (RuntimeError, TypeError):
        return False


CASES = [(op, kind) for op in pointwise_ops() for kind in types_of(op) if answers(op, kind)]


@pytest.mark.parametrize("op, kind", CASES, ids=[f"{op.name}-{kind}" for op, kind in CASES])
def test_a_formula_gives_pytorchs_numbers(gpu, op, kind):
    rng = np.random.default_rng(0)
    if kind == "int64_t":
        inputs = [rng.integers(1, 40, N) for _ in range(op.inputs)]
    else:
        inputs = [rng.uniform(-4, 4, N).astype(DTYPES[kind]) for _ in range(op.inputs)]
    expected = oracle(op.name)(*map(torch.from_numpy, inputs)).numpy()
    digits = {"float": 3e-5, "double": 1e-9, "int64_t": 0}[kind]
    np.testing.assert_allclose(gpu.run(op.struct, kind, inputs).astype(np.float64), expected.astype(np.float64), rtol=digits, atol=digits)
