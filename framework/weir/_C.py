"""The C++ core under one name, as in PyTorch: everything private that the Python package builds on."""
from _weir import *  # noqa: F401,F403
from _weir import (_add_hook, _add_method, _add_post_accumulate_hook, _add_slots, _allocator_stats,
                   _as_new, _autocast_dtype, _autocast_enabled, _backward, _bump_version, _current_graph_task_id, _pass_runs,
                   _will_engine_execute_node, _optimizer_update, _clear_autocast_cache, _LinAlgError,
                   _default_generator, _has_avx10,
                   _construct_legacy, _empty_cache, _from_buffer, _mark_truths, _storage_as_bytes, _function_node, _make_subclass, _remove_hook,
                   _resize, _same_storage, _arguments_key, _facts_of, _Channel, _Graph, _is_symbolic, _is_tracing, _minimal_filtering, _reshape_as, _Model, _Untraceable, _DynamicShape, _Plan, _set_module_path, _name_as_torch,
                   _set_package_folder, _split_graph, _Trace, _traced_draws, _Watch, _set_autocast, _set_grad_enabled, _set_flush_denormal, _set_inference, _set_minimal_filtering, _with_gradients, _write_out)

__path__ = [__file__.removesuffix(".py") + "_parts"]  # a package in PyTorch


def __getattr__(name):
    """Names of `torch._C` that programs look up."""
    import importlib
    return importlib.import_module("weir._core_names").find(name)
