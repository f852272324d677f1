"""Records what a module's forward, or a function, does with its inputs. Source: torch.fx.Tracer.

Ops know nothing of proxies. While a trace runs, the functions of the package are replaced by ones that record a call when
a proxy is among its arguments, in the package and in the globals of the traced code.
"""
import builtins
import contextlib
import functools
import inspect
import sys
import types

import weir
from weir import Tensor
from weir.nn import Module, Parameter

from ._proxyable import _proxyable_classes
from .graph import Graph
from .graph_module import GraphModule
from .proxy import Proxy, TracerBase, find_proxy

_wrapped: list = []  # (globals, name) of functions that `wrap` marked as leaves


def wrap(fn_or_name):
    """Marks a function of the calling module as a leaf: calls of it become nodes. Works as a decorator too."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped.append((frame.f_globals, name))
    return fn_or_name


def _recording(function):
    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        proxy = find_proxy((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", function, args, kwargs)
    return call


def _is_function(value):
    return callable(value) and not isinstance(value, type) and not getattr(value, "_weir_traced_through", False)


_SKIP = {"is_tensor", "typename", "manual_seed", "no_grad", "enable_grad", "compile", "is_grad_enabled", "as_torch"}


@functools.cache
def _functions():
    """[(module, name, function)] of what may see a proxy."""
    found = []
    for module in (weir.nn.functional, weir.special, weir.linalg, weir.fft, weir):
        for name, value in list(vars(module).items()):
            if not name.startswith("_") and _is_function(value) and name not in _SKIP and not isinstance(value, type(sys)):
                found.append((module, name, value))
    return found


@contextlib.contextmanager
def _patched(code_globals):
    """The package's functions and those that `wrap` marked record calls with proxies, until the end."""
    recording, before = {}, []
    for module, name, value in _functions():
        current = vars(module)[name]  # the function, or what asks for rules in its place
        if id(current) not in recording:
            recording[id(current)] = recording[id(value)] = _recording(current)
        before.append((vars(module), name, current))
        setattr(module, name, recording[id(current)])
    for table in code_globals:
        if table is vars(weir) or table.get("__name__", "").startswith("weir"):
            continue
        for name, value in list(table.items()):
            if id(value) in recording and _is_function(value):
                before.append((table, name, value))
                table[name] = recording[id(value)]
    for table, name in _wrapped:
        value = table[name] if name in table else getattr(builtins, name)
        before.append((table, name, table.get(name, _NOT_THERE)))
        table[name] = _recording(value)
    try:
        yield
    finally:
        for table, name, value in reversed(before):
            if value is _NOT_THERE:
                del table[name]
            else:
                table[name] = value


_NOT_THERE = object()
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _with_plain_parameters(function):
    """The function with `*args` and `**kwargs` as two parameters at its end; itself where it has none."""
    inner = inspect.unwrap(function)
    code, variable = getattr(inner, "__code__", None), inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if code is None or not code.co_flags & variable:
        return function
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    code = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~variable)
    return types.FunctionType(code, inner.__globals__, inner.__name__, inner.__defaults__, inner.__closure__)


class Tracer(TracerBase):
    """Traces a root. Subclasses decide by `is_leaf_module` what becomes one node."""

    def __init__(self, autowrap_modules=(), autowrap_functions=(), param_shapes_constant=False):
        self.graph, self.root = None, None

    def is_leaf_module(self, m, module_qualified_name):
        """Is m called as one step? Those of torch.nn are, containers aside."""
        return type(m).__module__.startswith("weir.nn") and not isinstance(m, weir.nn.Sequential)

    def path_of_module(self, mod):
        """The dotted name of a module under the root. NameError when it is not there."""
        for name, child in self.root.named_modules(remove_duplicate=False):
            if child is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m, forward, args, kwargs):
        """A module is called: one node for a leaf, else its own steps."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """A parameter or buffer is looked up: a node."""
        for table in (dict(self.root.named_parameters()), dict(self.root.named_buffers())):
            for name, value in table.items():
                if value is attr_val:
                    if name not in parameter_proxy_cache:
                        parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
                    return parameter_proxy_cache[name]
        return attr_val

    def create_arg(self, a):
        if isinstance(a, Tensor):
            for table in (self.root.named_parameters(), self.root.named_buffers()):
                for name, value in table:
                    if value is a:
                        return self.create_node("get_attr", name, (), {})
            for name in (n for n in vars(self.root) if vars(self.root)[n] is a):
                return self.create_node("get_attr", name, (), {})
            return self._constant("_tensor_constant", a)
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        if type(a) in _proxyable_classes:
            return self._constant(f"_{type(a).__name__}_constant_", a)
        return super().create_arg(a)

    def _constant(self, prefix, value):
        """A node for a value that nothing made in the trace: the root keeps it."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        setattr(self.root, f"{prefix}{number}", value)
        return self.create_node("get_attr", f"{prefix}{number}", (), {})

    def _arguments(self, function, is_method, concrete):
        """(function, args, kwargs) to call in the trace: `*args` and `**kwargs` are parameters like others then, a proxy each."""
        parameters = sorted(inspect.signature(function).parameters.items(), key=lambda p: p[1].kind in _VARIABLE)  # as code has them
        args, kwargs = [], {}
        for index, (name, parameter) in enumerate(parameters):
            if is_method and index == 0:
                args.append(self.root)
                continue
            star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
            if name in concrete:
                value = concrete[name]
            else:
                default = () if parameter.default is parameter.empty or star else (parameter.default,)
                value = self.create_proxy("placeholder", star + name, default, {})
            if parameter.kind is parameter.KEYWORD_ONLY and parameters[-1][1].kind not in _VARIABLE:
                kwargs[name] = value
            else:
                args.append(value)
        return _with_plain_parameters(function), args, kwargs

    def trace(self, root, concrete_args=None):
        """The graph of root, a module or function; concrete_args are values to fix, by the parameters' names."""
        if isinstance(root, Module):
            self.root, function, is_method = root, type(root).forward, True
        else:
            self.root, function, is_method = Module(), root, False
        self.graph = Graph(tracer_cls=type(self))
        code_globals = [g for g in (getattr(m.forward, "__globals__", None) for m in self.root.modules()) if g is not None]
        code_globals.append(getattr(inspect.unwrap(function), "__globals__", {}))
        function, args, kwargs = self._arguments(function, is_method, concrete_args or {})
        cache: dict = {}
        call, attribute, tracer = Module.__call__, Module.__getattr__, self

        def module_call(module, *args, **kwargs):
            return tracer.call_module(module, lambda *a, **k: call(module, *a, **k), args, kwargs)

        def module_getattr(module, name):
            value = attribute(module, name)
            return tracer.getattr(name, value, cache) if isinstance(value, Tensor) else value

        unique = list({id(g): g for g in code_globals}.values())
        Module.__call__, Module.__getattr__ = module_call, module_getattr
        try:
            with _patched(unique):
                result = function(*args, **kwargs)
                self.create_node("output", "output", (self.create_arg(result),), {})
        finally:
            Module.__call__, Module.__getattr__ = call, attribute
        return self.graph


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what root does, with its steps as a graph that can be read and changed."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
