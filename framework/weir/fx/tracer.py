"""Records what a module's forward, or a function, does with its inputs. Source: torch.fx.Tracer."""
import inspect
import math
import types

import weir
from weir import Tensor
from weir.nn import Module, Parameter

from ._patching import _autowrap_check, _patch_wrapped_functions, _Patcher, _wrapped
from ._proxyable import _proxyable_classes
from .graph import Graph
from .graph_module import GraphModule
from .proxy import Proxy, TracerBase


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


#: What the tracer's own stand in for, also for subclasses that trace by themselves.
_orig_module_call, _orig_module_getattr = Module.__call__, Module.__getattr__
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _with_plain_parameters(function):
    """The function with keywords, `*args` and `**kwargs` as parameters at its end; itself where it has none."""
    inner = inspect.unwrap(function)
    code, variable = getattr(inner, "__code__", None), inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if code is None or not (code.co_flags & variable or code.co_kwonlyargcount):
        return function
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    code = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=code.co_flags & ~variable)
    return types.FunctionType(code, inner.__globals__, inner.__name__, inner.__defaults__, inner.__closure__)


class Tracer(TracerBase):
    """Traces a root. Subclasses decide by `is_leaf_module` what becomes one node."""

    proxy_buffer_attributes = False

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        self.graph, self.root = None, None
        self._autowrap_search, self._autowrap_function_ids = list(autowrap_modules), {id(f) for f in autowrap_functions}
        for module in autowrap_modules:
            self._autowrap_function_ids |= {id(f) for name, f in vars(module).items() if callable(f) and not name.startswith("_")}

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
        """A parameter is looked up: a node. A buffer is one only as an argument, but for tracers that ask for it: what a module counts is no part of the trace."""
        for table in (self.root.named_parameters(), self.root.named_buffers() if self.proxy_buffer_attributes else ()):
            for name, value in table:
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

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """(function, its arguments) to call in the trace: keywords, `*args` and `**kwargs` are parameters like others then, a proxy each."""
        concrete, kinds = concrete_args or {}, inspect.Parameter
        parameters = sorted(inspect.signature(root_fn).parameters.items(), key=lambda p: p[1].kind in _VARIABLE)  # as code has them
        args = []
        for index, (name, parameter) in enumerate(parameters):
            star = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(parameter.kind, "")
            if is_module and index == 0:
                args.append(self.root)
            elif name in concrete:
                args.append(concrete[name])
            else:
                default = () if parameter.default is parameter.empty or star else (parameter.default,)
                args.append(self.create_proxy("placeholder", star + name, default, {}))
        return _with_plain_parameters(root_fn), args

    def trace(self, root, concrete_args=None):
        """The graph of root, a module or function; concrete_args are values to fix, by the parameters' names."""
        is_module = isinstance(root, Module)
        self.root, function = (root, type(root).forward) if is_module else (Module(), root)
        self.graph = Graph(tracer_cls=type(self))
        tables = [g for g in (getattr(m.forward, "__globals__", None) for m in self.root.modules()) if g is not None]
        tables += [getattr(inspect.unwrap(function), "__globals__", {}), *map(vars, self._autowrap_search)]
        function, args = self.create_args_for_root(function, is_module, concrete_args)
        cache: dict = {}

        def module_call(module, *args, **kwargs):
            return self.call_module(module, lambda *a, **k: _orig_module_call(module, *a, **k), args, kwargs)

        def module_getattr(module, name):
            value = _orig_module_getattr(module, name)
            return self.getattr(name, value, cache) if isinstance(value, Tensor) else value

        with _Patcher() as patcher:
            patcher.patch_method(Module, "__getattr__", module_getattr)
            patcher.patch_method(Module, "__call__", module_call)
            _patch_wrapped_functions(patcher)
            for table in tables:
                _autowrap_check(patcher, table, self._autowrap_function_ids)
            self.create_node("output", "output", (self.create_arg(function(*args)),), {})
        return self.graph


def symbolic_trace(root, concrete_args=None):
    """A GraphModule that does what root does, with its steps as a graph that can be read and changed."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
