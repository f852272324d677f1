"""Ops written in Python: `torch.library`. They are called as `torch.ops.ns.name(...)`, with gradients when registered.

There is no dispatcher: an op runs the implementation registered for the device of its first tensor, or for all.
"""
import contextlib
import functools

import weir

from ._absent import absent
from ._infer_schema import infer_schema  # noqa: F401
from ._op_defs import OpDef, early_fakes, unaliased
from ._op_library import Library, _as_tags, _check_name, _find, _KEYS, _packets, _register, _scoped_library, _table, define, impl  # noqa: F401

def _to_copy(input, *, dtype=None, layout=None, device=None, pin_memory=False, non_blocking=False, memory_format=None):
    return input.to(device=device or input.device, dtype=dtype or input.dtype, non_blocking=non_blocking, copy=True,
                    memory_format=memory_format or weir.preserve_format)


#: Ops that PyTorch names in `torch.ops.aten` only.
_ATEN_ONLY = {"_to_copy": _to_copy, "alias": lambda input: input.view_as(input), "_unsafe_view": weir.reshape,
              "lift_fresh": lambda input: input, "lift_fresh_copy": weir.clone}


def _enter_scope(name, args=None):
    from .profiler import record_function
    return record_function(name, args).__enter__()


#: Ops that open and close a scope of the profiler.
_SCOPES = {"_record_function_enter": _enter_scope, "_record_function_enter_new": _enter_scope,
           "_record_function_exit": lambda scope: scope.__exit__(None, None, None)}


class _Namespace:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        packet = _packets.get(f"{self.name}::{name}")
        if packet is not None:
            return packet
        if self.name in ("aten", "prims") and not name.startswith("__"):
            function = (_ATEN_ONLY.get(name) or getattr(weir, name, None) or getattr(weir.Tensor, name, None) or
                        getattr(weir.nn.functional, name, None))
            # PyTorch has some 3,000 names here. One that is not ours imports, and using it is refused.
            value = _Aten(function if callable(function) else absent(f"ops.{self.name}.{name}"), name)
            setattr(self, name, value)
            return value
        if self.name == "profiler" and name in _SCOPES:
            setattr(self, name, _Aten(_SCOPES[name], name, "profiler"))
            return vars(self)[name]
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")


class _Aten:
    """`torch.ops.aten.name`: the package's function of that name."""

    def __init__(self, function, name, space="aten"):
        self._function, self.__name__, self._space, self.tags = function, name, space, []  # no tags are known

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __str__(self):
        return f"{self._space}.{self.__name__}"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


class _Ops:
    """`torch.ops`"""

    loaded_libraries: set = set()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        space = _Namespace(name)
        setattr(self, name, space)
        return space

    def load_library(self, path):
        raise OSError("ops.load_library: weir cannot load PyTorch's compiled extensions")

    def import_module(self, module):
        import importlib
        importlib.import_module(module)


ops = _Ops()


class CustomOpDef:
    """A function that is an op. Source: torch.library.CustomOpDef."""

    def __init__(self, op, init_fn):
        self._op, self._init_fn, self._name, self._qualname = op, init_fn, op.name.split("::")[1], op.name
        functools.update_wrapper(self, init_fn)

    @property
    def _opoverload(self):
        return _packets[self._op.name].default

    def __call__(self, *args, **kwargs):
        return self._op(*args, **kwargs)

    def register_kernel(self, device_types, fn=None, /):
        if fn is None:
            return lambda f: self.register_kernel(device_types, f)
        register_kernel(self._op.name, device_types, unaliased(self._op, fn))
        return fn

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type, enabled=True):
        """Inside, calls on that device pass by its kernel (enabled=False), or use it again."""
        before = set(self._op.disabled)
        (self._op.disabled.discard if enabled else self._op.disabled.add)(device_type)
        try:
            yield
        finally:
            self._op.disabled = before

    def register_fake(self, fn, /):
        return register_fake(self._op.name, fn)

    register_abstract = register_fake

    def register_autograd(self, backward, /, *, setup_context=None):
        register_autograd(self._op.name, backward, setup_context=setup_context)

    def register_torch_dispatch(self, *args, **kwargs):
        raise NotImplementedError("register_torch_dispatch: weir has no dispatch modes")

    def register_vmap(self, func=None):
        return register_vmap(self._op.name, func)

    def register_autocast(self, device_type, cast_inputs):
        return register_autocast(self._op.name, device_type, cast_inputs)

    def __repr__(self):
        return f"<CustomOpDef({self._op.name})>"


def _refuse_keyword_tensors(op, what):
    # Backward would have no place for their gradients.
    if any(a.kwarg_only and a.real_type.text.startswith("Tensor") for a in op.schema.arguments):
        raise NotImplementedError(f"{what} with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: {op.schema}")


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Decorates an annotated function: it becomes the op `torch.ops.ns.name`. ValueError for a name that is not "ns::name"."""
    def inner(fn):
        _check_name(name)
        op = OpDef(name, schema or infer_schema(fn, mutates_args=mutates_args), tags=_as_tags(tags))
        if schema and mutates_args != "unknown" and set(op.schema.mutated) != set(mutates_args):
            raise ValueError(f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The schema suggests that "
                             f"the op mutates {set(op.schema.mutated)} which is different from what was provided to us in `mutates_args`.")
        _refuse_keyword_tensors(op, "custom_op")
        for kind in [device_types] if isinstance(device_types, (str, type(None))) else device_types:
            op.kernels[kind] = unaliased(op, fn)
        _register(op)
        return CustomOpDef(op, fn)
    return inner if fn is None else inner(fn)


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """As custom_op."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel, /):
    raise NotImplementedError("wrap_triton: weir has no CUDA back end")


def register_kernel(op, device_types, func=None, /, *, lib=None):
    def register(fn):
        for kind in [device_types] if isinstance(device_types, (str, type(None))) else device_types:
            _find(op).kernels[kind] = fn
        return fn
    return register if func is None else register(func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=True):
    """What the op gives for tensors without memory (device "meta"). An op that is not defined yet finds it when it is."""
    def register(fn):
        if isinstance(op, str) and op not in _table:
            early_fakes[op] = fn  # of a library whose compiled part cannot be loaded here: only calls of the op fail
        else:
            _find(op).fake = fn
        return fn
    return register if func is None else register(func)


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """register_fake under its name of old."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """backward(ctx, *grads) gives the gradients; setup_context(ctx, inputs, output) keeps what it needs."""
    found = _find(op)
    if found.schema.is_mutable:
        raise RuntimeError(f"Cannot register autograd formula for non-functional operator {op} with schema {found.schema}. Please create a "
                           "functional operator and register an autograd formula for that.")
    _refuse_keyword_tensors(found, "register_autograd")
    found.backward, found.setup_context = backward, setup_context


def register_vmap(op, func=None, /, *, lib=None):
    """func(info, in_dims, *args) answers for a batch: (results, the batch's dim in each). Without one, vmap takes example by example."""
    def register(fn):
        _find(op).vmap = fn
        return fn
    return register if func is None else register(func)


def register_torch_dispatch(op, torch_dispatch_class, func=None, /, *, lib=None, allow_override=True):
    raise NotImplementedError("register_torch_dispatch: weir has no dispatch modes")


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    """Inside autocast the op runs on inputs cast to `cast_inputs`."""
    from weir.amp.autocast_mode import _cast
    found = _find(op)
    for kind, fn in list(found.kernels.items()):
        def cast(*args, _fn=fn, **kwargs):
            if not weir.is_autocast_enabled(device_type):
                return _fn(*args, **kwargs)
            with weir.autocast(device_type, enabled=False):
                return _fn(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))
        found.kernels[kind] = cast


def fallthrough_kernel():
    """Marks a dispatch key as not of interest."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def get_ctx():
    raise RuntimeError("get_ctx: there is no fake context")


def get_kernel(op, dispatch_key, *args):
    return _find(op).kernels.get(_KEYS.get(dispatch_key, dispatch_key))


def opcheck(op, args, kwargs=None, *, test_utils=None, raise_exception=True, atol=None, rtol=None):
    """Runs the op and checks that its fake, where there is one, gives the same shapes and dtypes. Returns what was checked."""
    found = _find(op)
    result = found(*args, **(kwargs or {}))
    checked = {"test_schema": "SUCCESS"}
    if found.fake is not None:
        fake = found.fake(*args, **(kwargs or {}))
        for a, b in zip(*(x if isinstance(x, (tuple, list)) else [x] for x in (result, fake))):
            if a.shape != b.shape or a.dtype != b.dtype:
                raise RuntimeError(f"opcheck: {found.name} gives {tuple(a.shape)} {a.dtype}, its fake {tuple(b.shape)} {b.dtype}")
        checked["test_faketensor"] = "SUCCESS"
    return checked
