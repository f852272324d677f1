"""The C++ core under one name, as in PyTorch: everything private that the Python package builds on."""
from _weir import *  # noqa: F401,F403
from _weir import (_add_hook, _add_method, _add_post_accumulate_hook, _add_slots, _allocator_stats,
                   _as_new, _autocast_dtype, _autocast_enabled, _backward, _bump_version, _adam_step, _clear_autocast_cache, _LinAlgError,
                   _sgd_step, _default_generator, _empty, _index_put,
                   _construct_legacy, _empty_cache, _empty_strided, _from_buffer, _full, _storage_as_bytes, _function_node, _make_subclass, _remove_hook,
                   _resize, _set_autocast, _set_grad_enabled, _set_inference, _set_size_type, _view_dtype, _write_out, _zeros)


def __getattr__(name):
    """Names of `torch._C` that programs look up."""
    import importlib
    return importlib.import_module("weir._core_names").find(name)
