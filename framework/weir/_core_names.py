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
    def flatten_dense_tensors(tensors):
        """All elements in one vector."""
        from ._utils import _flatten_dense_tensors
        return _flatten_dense_tensors(tensors)

    @staticmethod
    def unflatten_dense_tensors(flat, tensors):
        """The vector's elements in the tensors' shapes."""
        from ._utils import _unflatten_dense_tensors
        return _unflatten_dense_tensors(flat, tensors)

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

    @staticmethod
    def _is_current_rpc_agent_set():
        """No agent takes calls of others."""
        return False


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
_jit_set_autocast_mode = _jit_set_nvfuser_guard_mode = _debug_set_autodiff_subgraph_inlining = _jit_set_profiling_mode


def _jit_can_fuse_on_cpu():
    """There is no fuser."""
    return False


_jit_can_fuse_on_gpu = _jit_can_fuse_on_cpu


def _jit_clear_class_registry():
    """No class was compiled that it would hold."""


def _debug_only_display_vmap_fallback_warnings(mode):
    """No op of `vmap` falls back, so there is nothing to warn of."""


def _get_accelerator(check=None):
    """The CPU, which stands for none. RuntimeError where one must be there."""
    import weir
    if check:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return weir.device("cpu")


_allocator_settings = ""


def _accelerator_setAllocatorSettings(settings):
    """Kept for `_accelerator_getAllocatorSettings`: they are of allocators that only accelerators have."""
    global _allocator_settings
    _allocator_settings = settings


def _accelerator_getAllocatorSettings():
    return _allocator_settings


def _get_sdp_priority_order():
    """Which kernel of attention comes before which, by PyTorch's numbers. One computes here whatever the order."""
    return [1, 2, 0, 3, 4]


def _len_torch_dispatch_stack():
    """There are no dispatch modes."""
    return 0


def _set_tracing_state(state):
    """None, that no tracer watches, is the one state there is. NotImplementedError for others."""
    if state is not None:
        raise NotImplementedError("_set_tracing_state: weir has no TorchScript")


def _current_autograd_node():
    """None outside of backward passes. NotImplementedError within."""
    from _weir import _current_graph_task_id
    if _current_graph_task_id() != -1:
        raise NotImplementedError("_current_autograd_node: weir does not say which node a backward pass is at")


_KEYS = {"cpu": "CPU", "cuda": "CUDA", "xpu": "XPU", "mps": "MPS", "meta": "Meta", "hpu": "HPU", "ipu": "IPU", "xla": "XLA", "hip": "HIP",
         "ve": "VE", "mtia": "MTIA", "maia": "MAIA", "lazy": "Lazy", "privateuseone": "PrivateUse1", "fpga": "FPGA"}


def _dispatch_key_for_device(device_type):
    """"CPU" for "cpu". RuntimeError for what is no kind of device."""
    if device_type not in _KEYS:
        raise RuntimeError(f"Expected one of {', '.join(_KEYS)} device type at start of device string: {device_type}")
    return _KEYS[device_type]


def _kernels(op):
    """The keys that there are kernels for, of an op "ns::name" or "ns::name.overload"; None where there is no such op."""
    from ._op_library import _table
    from .library import ops
    name, _, overload = op.partition(".")
    found = _table.get(op) or _table.get(f"{name}.{overload or 'default'}") or (None if overload not in ("", "default") else _table.get(name))
    if found is None:
        space, _, base = name.partition("::")
        return ["CPU", "Meta"] if space == "aten" and not hasattr(getattr(ops.aten, base)._function, "__weir_missing__") else None
    keys = ["CompositeImplicitAutograd" if kind is None else _KEYS.get(kind, kind) for kind in found.kernels]
    return keys + ["Meta"] * (found.fake is not None) + ["Autograd"] * (found.backward is not None)


def _dispatch_has_kernel_for_dispatch_key(op, key):
    """Has the op a kernel of its own for "CPU", "Meta" or another? RuntimeError for an op that does not exist."""
    keys = _kernels(op)
    if keys is None:
        raise RuntimeError(f"operator {op} does not exist")
    return str(key) in keys


def _dispatch_dump(op):
    """A line for each key that the op has a kernel for; empty for an op that does not exist."""
    keys = _kernels(op)
    return "" if keys is None else "".join(f"{line}\n" for line in (f"name: {op}", *(f"{key}: registered" for key in keys)))


def _dispatch_keys(tensor):
    """The layers that PyTorch would take a tensor's calls through."""
    from ._placeholders import DispatchKeySet
    key = _KEYS[tensor.device.type]
    return DispatchKeySet(key, "ADInplaceOrView", f"Autograd{key}", *([f"Autocast{key}"] if key != "Meta" else []))


class _Functions:
    """`torch._C._VariableFunctions`: the package's functions that are ops."""

    def __dir__(self):
        import weir
        return [name for name, value in vars(weir).items() if not name.startswith("_") and callable(value) and not isinstance(value, type)]

    def __getattr__(self, name):
        import weir
        found = None if name.startswith("__") else getattr(weir, name, None)
        if not callable(found) or isinstance(found, type):
            raise AttributeError(f"module 'torch._C._VariableFunctions' has no attribute {name!r}")
        return found


_VariableFunctions = _Functions()
has_cuda = has_mps = has_mkl = _has_cuda = _has_xpu = has_cudnn = False
has_openmp = has_lapack = has_mkldnn = has_spectral = _GLIBCXX_USE_CXX11_ABI = True
_ABSENT = {
    "weir has no TorchScript": "_get_schema _jit_get_operation _get_operation_overload _jit_get_schemas_for_operator _jit_pass_inline",
    "weir has no dispatcher of PyTorch's kind": "_ExcludeDispatchKeyGuard _DisableTorchDispatch",
    "there is no CUDA back end": "_cuda_init _cuda_beginAllocateToPool _cuda_beginAllocateCurrentThreadToPool _cuda_endAllocateToPool _cuda_releasePool",
    "weir does not count who shares a storage": "_storage_Use_Count",
    "weir makes no storages of addresses": "_construct_storage_from_data_pointer",
}
_WHY = {name: why for why, names in _ABSENT.items() for name in names.split()}
#: name -> where the package has it
_ELSEWHERE = {"_disabled_torch_function_impl": "overrides._disabled_torch_function_impl",
              "DisableTorchFunctionSubclass": "overrides.DisableTorchFunctionSubclass", "DisableTorchFunction": "overrides.DisableTorchFunction",
              **{name: f"_switches.{name}" for name in ("_get_deterministic_fill_uninitialized_memory", "_set_deterministic_fill_uninitialized_memory")},
              "_show_config": "__config__.show", "_FunctionBase": "autograd.Function", "_InferenceMode": "inference_mode",
              "_set_math_sdp_allow_fp16_bf16_reduction": "backends.cuda.allow_fp16_bf16_reduction_math_sdp",
              "_get_math_sdp_allow_fp16_bf16_reduction": "backends.cuda.fp16_bf16_reduction_math_sdp_allowed",
              "TensorBase": "Tensor", "_TensorBase": "Tensor", "default_generator": "default_generator", "Size": "Size",
              "Future": "futures.Future"}
_MODULES = frozenset("_functorch _autograd _profiler _cpu _distributed_c10d _jit_tree_views".split())


def _is_of_the_package(name):
    """Is it a class that PyTorch writes in C++ and shows at the top of the package too?"""
    from . import _surface
    if name[:1].isupper() and not name.startswith("Sym") and _surface._ORIGIN.get(name) in ("_placeholders", "jit"):
        return True
    return _surface._WHY.get(name) == "weir has no TorchScript"


def find(name):
    """`torch._C.<name>`. AttributeError when it is not known here."""
    import weir
    if name in globals() and not name.startswith("__") and name not in ("absent", "find", "importlib", "threading"):
        return globals()[name]
    if name in _MODULES:
        return importlib.import_module(f"weir._C.{name}")
    if name in _ELSEWHERE:
        module, _, attribute = f"weir.{_ELSEWHERE[name]}".rpartition(".")
        return getattr(importlib.import_module(module), attribute)
    if name == "_TensorMeta":
        return type(weir.Tensor)
    if name == "_get_cudnn_enabled":
        return lambda: weir.backends.cudnn.enabled
    if name == "_is_alias_of":
        return weir._C._same_storage
    if name == "_get_privateuse1_backend_name":
        return lambda: "privateuseone"
    if name in _WHY:
        globals()[name] = absent(f"_C.{name}", _WHY[name])
        return globals()[name]
    if _is_of_the_package(name):
        return getattr(weir, name)
    raise AttributeError(f"module 'weir._C' has no attribute '{name}'")
