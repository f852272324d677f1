"""Words to PyTorch's compiler. What `compile` traces depends on none of them, so they change nothing."""
import contextlib as _contextlib


def compile(*args, **kwargs):
    """As torch.compile."""
    from .._compile import compile as function
    return function(*args, **kwargs)


def disable(fn=None, recursive=True, *, reason=None):
    """fn itself, or a decorator that gives it back."""
    return fn if fn is not None else lambda f: f


def allow_in_graph(fn):
    return fn


def assume_constant_result(fn):
    return fn


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    return lambda fn: fn


def nested_compile_region(fn=None, *args, **kwargs):
    return fn if fn is not None else lambda f: f


def reset():
    """Nothing is forgotten: plans belong to what `compile` returned, and are watched by it."""


def is_compiling():
    """Is a program being traced on this thread?"""
    from .. import _C
    return _C._is_tracing()


def is_dynamo_compiling():
    return False


def is_exporting():
    return False


def cudagraph_mark_step_begin():
    """There are no CUDA graphs."""


def wrap_numpy(fn):
    """NotImplementedError: needs a compiler."""
    raise NotImplementedError("compiler.wrap_numpy: weir has no compiler")


def list_backends(exclude_tags=("debug", "experimental")):
    return []


@_contextlib.contextmanager
def set_stance(stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
    """A scope that changes nothing."""
    yield


_backend = "inductor"


def set_default_backend(backend):
    """Kept for `get_default_backend`: plans are the same whichever it is."""
    global _backend
    _backend = backend


def get_default_backend():
    """What set_default_backend was given."""
    return _backend


def set_enable_guard_collectives(enabled):
    """Whether processes agree on compiling. There is one process: what was set before, False."""
    return False


def load_compiled_function(file, *, f_globals=None, external_data=None):
    """NotImplementedError: plans are kept by nn.Graph.save."""
    raise NotImplementedError("compiler.load_compiled_function: weir saves plans as nn.Graph.save")


def save_cache_artifacts():
    return None


def load_cache_artifacts(serialized_artifacts):
    return None


def keep_portable_guards_unsafe(guard_entries):
    return [True for _ in guard_entries]


def keep_tensor_guards_unsafe(guard_entries, keep_parameters=False):
    return keep_portable_guards_unsafe(guard_entries)


skip_guard_on_inbuilt_nn_modules_unsafe = skip_guard_on_all_nn_modules_unsafe = skip_guard_on_globals_unsafe = skip_all_guards_unsafe = keep_portable_guards_unsafe
