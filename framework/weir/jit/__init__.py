"""TorchScript's names. Nothing is compiled: a scripted or traced function runs as Python, and so computes the same.

Saving and loading scripted programs raises NotImplementedError.
"""
import builtins as _python
import contextlib as _contextlib
import functools as _functools
import inspect as _inspect
import types as _types
import typing as _typing
import warnings as _warnings
from typing import Any as _Any, Final  # noqa: F401

from weir._absent import PassThrough as _PassThrough, absent as _absent
from weir.nn import Module as _Module

from ..futures import Future  # noqa: F401

Error = _absent("jit.Error", base=Exception)


class Attribute:
    """A value with the type that TorchScript would give it; assigning it to a module assigns the value."""

    def __init__(self, value, type):
        self.value, self.type = value, type


class _Compiled(type):
    def __instancecheck__(cls, obj):
        made = getattr(obj, "__dict__", {}).get("_compiled_as")
        return super().__instancecheck__(obj) or made is not None and issubclass(made, cls)


class ScriptModule(_Module, metaclass=_Compiled):
    """A module. That it may be compiled changes nothing here, but that those which `script` and `trace` answered are instances."""

    def save(self, f, **kwargs):
        """NotImplementedError: there is no compiled program to save."""
        save(self, f, **kwargs)


class RecursiveScriptModule(ScriptModule):
    """What `script` makes of a module in PyTorch; here the module itself, which is an instance from then on."""


class TopLevelTracedModule(ScriptModule):
    """What `trace` makes of a module in PyTorch; here the module itself, which is an instance from then on."""


def _known_as(kind, obj):
    """obj, of a module an instance of `kind` from now on: programs ask before they keep what was compiled."""
    if _python.isinstance(obj, _Module):
        obj.__dict__["_compiled_as"] = kind
    return obj


TracedModule = TopLevelTracedModule


class ScriptFunction:
    """What `script` makes of a function in PyTorch; here never made, so that `isinstance` is False."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("jit.ScriptFunction: weir has no TorchScript")


ScriptWarning = type("ScriptWarning", (Warning,), {"__doc__": "Of TorchScript's compiler; never raised here."})
TracerWarning = type("TracerWarning", (Warning,), {"__doc__": "Of TorchScript's tracer; never raised here."})
TracingCheckError = type("TracingCheckError", (Exception,), {"__doc__": "Of TorchScript's tracer; never raised here."})
CompilationUnit = _absent("jit.CompilationUnit", "weir has no TorchScript")
ONNXTracedModule = _absent("jit.ONNXTracedModule", "weir has no TorchScript")
_get_trace_graph = _absent("jit._get_trace_graph", "weir has no TorchScript")


def script(obj=None, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """obj itself: a function, module or class. It runs as Python, but that a function takes whole numbers as floats where its parameters
    say `float`."""
    if obj is None:
        return script
    _warnings.warn("`torch.jit.script` is deprecated. Please switch to `torch.compile` or `torch.export`.", DeprecationWarning)
    return _taking_floats(obj) if type(obj) is _types.FunctionType else _known_as(RecursiveScriptModule, obj)


def _taking_floats(function):
    parameters = _inspect.signature(function).parameters
    wanted = [(at, name) for at, (name, parameter) in enumerate(parameters.items()) if parameter.annotation in (float, "float")]
    if not wanted:
        return function

    @_functools.wraps(function)
    def scripted(*args, **kwargs):
        for at, name in wanted:
            if at < len(args) and type(args[at]) is int:
                args = (*args[:at], float(args[at]), *args[at + 1:])
            elif type(kwargs.get(name)) is int:
                kwargs[name] = float(kwargs[name])
        return function(*args, **kwargs)

    return scripted


def trace(func=None, example_inputs=None, optimize=None, check_trace=True, check_inputs=None, check_tolerance=1e-5,
          strict=True, _force_outplace=False, _module_class=None, _compilation_unit=None, example_kwarg_inputs=None,
          _store_inputs=True):
    """func itself, once it ran on the example inputs. What depends on values is decided anew in each call."""
    if func is None:
        return _functools.partial(trace, example_inputs=example_inputs)
    _warnings.warn("`torch.jit.trace` is deprecated. Please switch to `torch.compile` or `torch.export`.", DeprecationWarning)
    if example_inputs is not None or example_kwarg_inputs is not None:
        from weir import Tensor, get_rng_state, no_grad
        args = (example_inputs,) if isinstance(example_inputs, (Tensor, dict)) else tuple(example_inputs or ())
        before = get_rng_state()
        with no_grad():
            func(*args, **(example_kwarg_inputs or {}))
            drawn = not before.equal(get_rng_state())
            for _ in range(3 * (check_trace and drawn)):  # as often as PyTorch's check draws, so that a program goes on with its numbers
                func(*args, **(example_kwarg_inputs or {}))
    return _known_as(TopLevelTracedModule, func)


def trace_module(mod, inputs, *args, **kwargs):
    """mod itself."""
    return _known_as(TopLevelTracedModule, mod)


def script_if_tracing(fn):
    return fn


_script_if_tracing = script_if_tracing


def _keep(obj=None, *args, **kwargs):
    """obj itself: the decorator speaks to a compiler that is not here."""
    return obj if callable(obj) else (lambda fn: fn)


export = ignore = unused = interface = _drop = _overload = _overload_method = _keep
strict_fusion = optimized_execution = fuser = _PassThrough


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    """mod itself, which must be in evaluation mode: RuntimeError else."""
    if mod.training:
        raise RuntimeError("Freezing is currently only implemented for modules in eval mode. Please call .eval() on your "
                           "module before freezing.")
    return mod


def optimize_for_inference(mod, other_methods=None):
    return mod


def run_frozen_optimizations(mod, optimize_numerics=True, preserved_methods=None):
    """mod is as it was."""


def _unwrap_optional(x):
    """x. AssertionError for None."""
    if x is None:
        raise AssertionError("Unwrapping null optional")
    return x


def annotate(the_type, the_value):
    """the_value."""
    return the_value


def isinstance(obj, target_type):  # noqa: A001
    """Python's isinstance, for classes and tuples of them; of `List[int]`, `dict[str, Tensor]`, `Tuple[int, str]` and `Optional` what they hold is asked too."""
    if _python.isinstance(target_type, tuple):
        return any(isinstance(obj, kind) for kind in target_type)
    origin, held = _typing.get_origin(target_type), _typing.get_args(target_type)
    if origin in (_typing.Union, _types.UnionType):
        return any(isinstance(obj, kind) for kind in held)
    if target_type is None:
        return obj is None
    if origin is not None:
        if not _python.isinstance(obj, origin):
            return False
        if origin is dict:
            return all(isinstance(k, held[0]) and isinstance(v, held[1]) for k, v in obj.items())
        if origin is tuple and not (len(held) == 2 and held[1] is ...):
            return len(obj) == len(held) and all(map(isinstance, obj, held))
        return all(isinstance(item, held[0]) for item in obj)
    return _python.isinstance(obj, target_type)


def is_scripting():
    """Does a compiler read this? Never."""
    return False


def is_tracing():
    """Does a tracer watch this? Never."""
    return False


def fork(func, *args, **kwargs):
    """A future that holds func(*args, **kwargs), which runs at once."""
    future = Future()
    try:
        future.set_result(func(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future


def wait(future):
    """The future's value; its exception is raised."""
    if future is None:
        raise RuntimeError("Future can't be None")
    return future.wait()


def save(m, f, _extra_files=None):
    """NotImplementedError: there is no compiled program to save."""
    raise NotImplementedError("jit.save: weir has no TorchScript; save the state_dict instead")


def load(f, map_location=None, _extra_files=None, _restore_shapes=False):
    """NotImplementedError: weir does not run TorchScript programs."""
    raise NotImplementedError("jit.load: weir has no TorchScript; load a state_dict instead")


def set_fusion_strategy(strategy):
    """There is no fuser whose strategy it would be."""
    return []


def enable_onednn_fusion(enabled):
    """There is no fuser to enable."""


def onednn_fusion_enabled():
    return False


def export_opnames(m):
    """NotImplementedError: there is no compiled program whose ops they would be."""
    raise NotImplementedError("jit.export_opnames: weir has no TorchScript")


def jit_module_from_flatbuffer(f):
    """NotImplementedError: weir does not run TorchScript programs."""
    raise NotImplementedError("jit.jit_module_from_flatbuffer: weir has no TorchScript")


def save_jit_module_to_flatbuffer(m, f, _extra_files=None):
    """NotImplementedError: there is no compiled program to save."""
    raise NotImplementedError("jit.save_jit_module_to_flatbuffer: weir has no TorchScript")




script_method = _keep


@_contextlib.contextmanager
def _disable_emit_hooks():
    yield


def __getattr__(name):
    if name in ("annotations", "_script", "_trace", "_state", "frontend", "quantized"):
        import importlib
        return importlib.import_module("weir.jit." + name)
    raise AttributeError(f"module 'weir.jit' has no attribute '{name}'")
