"""Switches of the CUDA back end, which this build has not."""
import contextlib


def is_built():
    """Was weir built with CUDA?"""
    return False


class cuFFTPlanCacheManager:
    """The plans of no device."""

    size, max_size = 0, 0


class _Matmul:
    allow_tf32, fp32_precision = False, "none"
    allow_fp16_reduced_precision_reduction = allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False


cufft_plan_cache, matmul = cuFFTPlanCacheManager(), _Matmul()
_kernels = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def _switch(kind):
    def enabled():
        return _kernels[kind]

    def enable(enabled):
        _kernels[kind] = bool(enabled)
    return enabled, enable


flash_sdp_enabled, enable_flash_sdp = _switch("flash")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _switch("mem_efficient")
math_sdp_enabled, enable_math_sdp = _switch("math")
cudnn_sdp_enabled, enable_cudnn_sdp = _switch("cudnn")


@contextlib.contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """The kernels of attention to choose from; on the CPU there is one, whatever is chosen."""
    before = dict(_kernels)
    _kernels.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield {}
    finally:
        _kernels.update(before)


def preferred_linalg_library(backend=None):
    return "default"


def preferred_blas_library(backend=None):
    return "default"


def is_flash_attention_available():
    return False


def can_use_flash_attention(params, debug=False):
    return False


def can_use_efficient_attention(params, debug=False):
    return False
