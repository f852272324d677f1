"""A GPU through the CUDA driver and ctypes: loads a cubin, runs its kernels over arrays."""

import ctypes

import numpy as np


class Gpu:
    """The driver's few calls that a test needs."""

    def __init__(self, cubin: bytes):
        self._cuda = ctypes.CDLL("libcuda.so.1")
        device, context, self._module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self._check(self._cuda.cuInit(0))
        self._check(self._cuda.cuDeviceGet(ctypes.byref(device), 0))
        self._check(self._cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
        self._check(self._cuda.cuCtxSetCurrent(context))
        self._check(self._cuda.cuModuleLoadData(ctypes.byref(self._module), cubin))

    def _check(self, code: int):
        assert code == 0, f"CUDA driver: error {code}"

    def run(self, symbol: bytes, arguments: list, blocks: int, threads: int) -> None:
        """Runs a kernel in blocks of threads. Arrays travel to the device, and back into themselves; other arguments are ctypes values."""
        function, memory, values = ctypes.c_void_p(), [], []
        self._check(self._cuda.cuModuleGetFunction(ctypes.byref(function), self._module, symbol))
        for x in arguments:
            if isinstance(x, np.ndarray):
                pointer = ctypes.c_uint64()
                self._check(self._cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(x.nbytes)))
                self._check(self._cuda.cuMemcpyHtoD_v2(pointer, x.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(x.nbytes)))
                memory.append((x, pointer))
                x = pointer
            values.append(x)
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values])
        self._check(self._cuda.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None))
        for x, pointer in memory:
            self._check(self._cuda.cuMemcpyDtoH_v2(x.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(x.nbytes)))
            self._check(self._cuda.cuMemFree_v2(pointer))


def has_gpu() -> bool:
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
    except OSError:
        return False
