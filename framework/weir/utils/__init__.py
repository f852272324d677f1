"""Data loading, checkpointing, hooks and what programs use beside the framework."""

from .._lazy import lazy_attributes

_MODULES = """_contextlib _python_dispatch _pytree backend_registration benchmark bundled_inputs checkpoint collect_env
    cpp_extension data deterministic file_baton dlpack flop_counter hooks mobile_optimizer model_zoo module_tracker tensorboard weak _import_utils viz
    backcompat"""

__getattr__ = lazy_attributes("weir.utils", {
    **{name: "" for name in _MODULES.split()}, "swap_tensors": "_swap", "ThroughputBenchmark": "_named",
    "generate_methods_for_privateuse1_backend": "_named", "rename_privateuse1_backend": "_named",
    "get_cpp_backtrace": "_named", "set_module": "_swap", "cmake_prefix_path": "_named"})
