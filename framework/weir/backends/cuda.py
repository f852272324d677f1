"""Switches of the CUDA back end, which this build has not."""
import contextlib
import warnings

from weir._C import Tensor as _Tensor
from weir._absent import absent_names as _absent_names


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
    """The kernels of attention to choose from; on the CPU there is one, whatever is chosen. Deprecated: see nn.attention.sdpa_kernel."""
    warnings.warn("`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please see "
                  "`torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.", FutureWarning, stacklevel=3)
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


class SDPAParams:
    """A call of scaled_dot_product_attention, of which programs ask whether a kernel of CUDA's would take it."""

    def __init__(self, query, key, value, attn_mask, dropout, is_causal, enable_gqa, /):
        tensors, truths = (query, key, value), (is_causal, enable_gqa)
        if not (all(isinstance(t, _Tensor) for t in tensors) and (attn_mask is None or isinstance(attn_mask, _Tensor))
                and isinstance(dropout, (float, int)) and all(isinstance(t, bool) for t in truths)):
            raise TypeError("SDPAParams: expected query, key, value: Tensor, attn_mask: Tensor | None, dropout: float, is_causal and enable_gqa: bool, got "
                            + ", ".join(type(v).__name__ for v in (*tensors, attn_mask, dropout, *truths)))
        self._call = query, key, value, attn_mask, float(dropout), is_causal, enable_gqa

    query, key, value, attn_mask, dropout, is_causal, enable_gqa = (property(lambda self, i=i: self._call[i]) for i in range(7))


def _cannot_use(name):
    def can_use(params, debug=False):
        """False: these kernels are for CUDA."""
        if not isinstance(params, SDPAParams):
            raise TypeError(f"{name}(): expected SDPAParams, got {type(params).__name__}")
        return False
    can_use.__name__ = can_use.__qualname__ = name
    return can_use


can_use_flash_attention = _cannot_use("can_use_flash_attention")
can_use_efficient_attention = _cannot_use("can_use_efficient_attention")
can_use_cudnn_attention = _cannot_use("can_use_cudnn_attention")


def is_ck_sdpa_available():
    return False


def fp16_bf16_reduction_math_sdp_allowed():
    """Is the sum of half-precision products allowed to be of half precision? As `allow_fp16_bf16_reduction_math_sdp` said."""
    return _reduced


_reduced = False


def allow_fp16_bf16_reduction_math_sdp(enabled):
    """Kept for `fp16_bf16_reduction_math_sdp_allowed`: there is no such kernel on a GPU here."""
    global _reduced
    _reduced = bool(enabled)


def preferred_rocm_fa_library(backend=None):
    return None


__getattr__ = _absent_names("weir.backends.cuda", "cuBLASModule cuFFTPlanCache cuFFTPlanCacheAttrContextProp cublas_workspace_size "
                            "cublaslt_workspace_size blas_workspace_size", "there is no CUDA back end")
