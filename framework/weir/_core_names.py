"""Names of `torch._C` that programs look up, though they are private in PyTorch too."""
import importlib
import threading

from ._absent import absent


def _log_api_usage_once(name):
    """Nothing is logged."""


def _get_tracing_state():
    """No tracer watches."""
    return None


def _is_tracing():
    return False


def _has_mkldnn():
    return True


def _are_functorch_transforms_active():
    """Is a vmap in force? Gradients wrap no tensors here."""
    from _weir import _vmap_level
    return _vmap_level() != 0


class _AutoDispatchBelowAutograd:
    """Within, ops of `torch.library` use the kernels of their devices, not that of the autograd key."""

    _depth = threading.local()

    @classmethod
    def is_in_force(cls):
        return getattr(cls._depth, "value", 0) > 0

    def __enter__(self):
        self._depth.value = getattr(self._depth, "value", 0) + 1

    def __exit__(self, *exc):
        self._depth.value -= 1


class _Layers(type):
    """Ops of layers by their names."""

    def __getattr__(cls, name):
        from .nn import functional
        found = None if name.startswith("_") else getattr(functional, name, None)
        if not callable(found):
            raise AttributeError(f"module 'torch._C._nn' has no attribute {name!r}")
        return found


class _nn(metaclass=_Layers):
    """`torch._C._nn`: what libraries call of it."""

    @staticmethod
    def _parse_to(*args, **kwargs):
        """(device, dtype, non_blocking, memory_format) of the arguments of `Tensor.to`."""
        from .nn.modules._cast import _parse_to
        device, dtype, memory_format = _parse_to(*args, **kwargs)
        return device, dtype, kwargs.get("non_blocking", next((a for a in args if isinstance(a, bool)), False)), memory_format


def _is_torch_function_enabled():
    from . import overrides
    return not overrides._state["disabled"]


def _is_torch_function_mode_enabled():
    from . import overrides
    return bool(overrides._modes)


class _distributed_rpc:
    """What libraries ask for in order to tell remote references from others; nobody makes one here."""

    class PyRRef:
        pass


def _get_default_device():
    import weir
    return str(weir.get_default_device())


def _cuda_isCurrentStreamCapturing():
    return False


def _infer_size(a, b):
    """The size that two sizes broadcast to."""
    from ._composites.joining import broadcast_shapes
    return broadcast_shapes(a, b)


def _jit_set_profiling_mode(value):
    """There is no compiler."""
    return False


_jit_set_profiling_executor = _jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_set_profiling_mode
_jit_set_texpr_fuser_enabled = _jit_set_nvfuser_enabled = _debug_set_fusion_group_inlining = _jit_set_profiling_mode
_cuda_init = absent("_C._cuda_init", "there is no CUDA back end")
has_cuda = has_mps = has_mkl = _has_cuda = has_cudnn = False
has_openmp = has_lapack = has_mkldnn = has_spectral = True


def find(name):
    """`torch._C.<name>`. AttributeError when it is not known here."""
    import weir
    if name in globals() and not name.startswith("__") and name not in ("absent", "find", "importlib", "threading"):
        return globals()[name]
    if name == "_functorch":
        return importlib.import_module("weir._C._functorch")
    if name in ("_disabled_torch_function_impl", "DisableTorchFunctionSubclass"):
        from . import overrides
        return getattr(overrides, name)
    if name == "DisableTorchFunction":
        from .overrides import DisableTorchFunction
        return DisableTorchFunction
    if name == "_TensorMeta":
        return type(weir.Tensor)
    if name in ("TensorBase", "_TensorBase"):
        return weir.Tensor
    if name == "default_generator":
        return weir.default_generator
    if name in ("_get_deterministic_fill_uninitialized_memory", "_set_deterministic_fill_uninitialized_memory"):
        from . import _switches
        return getattr(_switches, name)
    if name in ("_get_privateuse1_backend_name",):
        return lambda: "privateuseone"
    if name in ("ScriptModule", "ScriptFunction", "Future", "CompilationUnit", "Stream", "Event", "DispatchKey",
                "DispatchKeySet", "Graph", "Value", "Block", "Type", "ListType", "TensorType", "OptionalType", "Size"):
        return getattr(weir, name)
    raise AttributeError(f"module 'weir._C' has no attribute '{name}'")
