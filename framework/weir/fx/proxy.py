"""Stand-ins for values while a function is traced: what is done with them becomes nodes. Source: torch.fx.Proxy."""
import builtins
import copy
import operator

import weir
from weir import overrides

from .node import Argument, Node  # noqa: F401


class TraceError(ValueError):
    """The function does with a value what needs the value itself."""


class Proxy:
    """A value of a graph that is being built."""

    def __init__(self, node, tracer=None):
        self.tracer, self.node = tracer or GraphAppendingTracer(node.graph), node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__") and name != "__torch_function__":
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        return self.tracer.iter(self)

    def __bool__(self):
        return self.tracer.to_bool(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
                           "please call torch.fx.wrap('len') at module scope")

    def __contains__(self, item):
        raise TraceError("symbolically traced variables cannot be used as the right side of `in`")

    def keys(self):
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, orig_method, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        proxy = find_proxy((args, kwargs))
        return proxy.tracer.create_proxy("call_function", orig_method, args, kwargs)


class Attribute(Proxy):
    """proxy.name: a method when it is called, else an attribute."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", builtins.getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter: questions of its shape are answered, so that programs may branch on them."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, weir.nn.Parameter):
            raise AssertionError(f"Expected Parameter, got {type(param)}")
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    shape, ndim = property(lambda self: self.param.shape), property(lambda self: self.param.ndim)

    def size(self):
        return self.param.size()

    def dim(self):
        return self.param.dim()

    def numel(self):
        return self.param.numel()

    nelement = numel


overrides.admit(Proxy, Attribute, ParameterProxy)  # functions of programs ask whether an argument has a rule


class Scope:
    """The path and the class of a module."""

    def __init__(self, module_path, module_type):
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    """`scope` says what `current_scope` says from now on, until `with` ends."""

    def __init__(self, scope, current_scope):
        self._scope, self._prev_scope = scope, copy.copy(scope)
        vars(scope).update(vars(current_scope))

    def __enter__(self):
        return self._scope

    def __exit__(self, *args):
        vars(self._scope).update(vars(self._prev_scope))


def find_proxy(a):
    """Some Proxy in a nested argument, or None."""
    if isinstance(a, Proxy):
        return a
    parts = a.values() if isinstance(a, dict) else a if isinstance(a, (list, tuple)) else (
        (a.start, a.stop, a.step) if isinstance(a, slice) else ())
    return next((p for p in map(find_proxy, parts) if p is not None), None)


def _operator(name, function, reflected=False):
    def method(self, *others):
        args = (others[0], self) if reflected else (self, *others)
        return self.tracer.create_proxy("call_function", function, args, {})
    method.__name__ = name
    setattr(Proxy, name, method)


for _name in ("add sub mul floordiv truediv mod lt le eq ne gt ge xor getitem matmul pow lshift rshift neg pos invert "
              "setitem").split():
    _operator(f"__{_name}__", getattr(operator, _name))
for _name in ("and", "or"):
    _operator(f"__{_name}__", getattr(operator, _name + "_"))
    _operator(f"__r{_name}__", getattr(operator, _name + "_"), reflected=True)
for _name in "add sub mul floordiv truediv mod xor matmul pow lshift rshift".split():
    _operator(f"__r{_name}__", getattr(operator, _name), reflected=True)
_operator("__abs__", operator.abs)
Proxy.__hash__ = object.__hash__


def _set_item(self, key, value):
    self.tracer.create_proxy("call_function", operator.setitem, (self, key, value), {})


Proxy.__setitem__ = _set_item


class TracerBase:
    """Makes nodes and proxies."""

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node):
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn is not None else self.proxy(node)

    def create_arg(self, a):
        """An argument with nodes in the place of proxies. NotImplementedError for values that no graph can hold."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, Node):
            return a
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*map(self.create_arg, a))
        if isinstance(a, weir.Size):
            return weir.Size(map(self.create_arg, a))
        if isinstance(a, (tuple, list)):
            return type(a)(map(self.create_arg, a))
        if isinstance(a, dict):
            return {k: self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, (str, int, float, complex, bool, type(None), weir.dtype, weir.device, weir.memory_format)) or a is ...:
            return a
        if callable(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj):
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        """RuntimeError unless the code unpacks into a known number of names."""
        import dis
        import inspect
        frame = inspect.currentframe().f_back.f_back
        instructions = list(dis.get_instructions(frame.f_code))
        here = next((i for i in instructions if i.offset == frame.f_lasti), None)
        if here is not None and here.opname == "UNPACK_SEQUENCE":
            return (obj[i] for i in range(here.argval))
        raise TraceError("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args "
                         "or **kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation "
                         "of what types of control flow can be traced, and check out the Proxy docstring for help "
                         "troubleshooting Proxy iteration errors")

    def keys(self, obj):
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Appends to a graph what is done with its proxies, outside a trace too: functions of the package ask them from then on."""

    def __init__(self, graph):
        self.graph = graph
        weir.overrides.admit(Proxy, Attribute)
        weir.overrides.ask_for_rules()
