"""Nodes of a graph. Source: torch.fx.Node."""
import builtins
import operator
import types

import weir

BASE_ARGUMENTS = (str, int, float, bool, complex, type(None))
_public: dict = {}  # function -> its name under torch, filled once


def _names():
    if not _public:
        for prefix, module in (("torch", weir), ("torch.nn.functional", weir.nn.functional), ("torch.special", weir.special),
                               ("torch.linalg", weir.linalg)):
            for name, value in vars(module).items():
                if callable(value) and not name.startswith("_") and not isinstance(value, type):
                    try:
                        _public.setdefault(value, f"{prefix}.{name}")
                    except TypeError:
                        pass  # unhashable
    return _public


def qualified_name(function):
    """The name by which printed code finds a function: torch.relu, operator.add, builtins.getattr, module.function."""
    if function is builtins.getattr:
        return "getattr"
    try:
        known = _names().get(function)
    except TypeError:
        known = None
    if known:
        return known
    name = getattr(function, "__name__", repr(function))
    module = getattr(function, "__module__", None) or type(function).__module__
    return f"{_named_as_torch({'_operator': 'operator'}.get(module, module))}.{name}"


def _named_as_torch(module):
    return "torch" + module[len("weir"):] if module.partition(".")[0] in ("weir", "_weir") else module


def _find_module_of_method(orig_method):
    """The module of a function. RuntimeError where nothing says which."""
    if orig_method.__module__ is not None:
        return orig_method.__module__
    for guess in (weir, weir.nn.functional):
        if getattr(guess, orig_method.__name__, None) is orig_method:
            return guess.__name__
    raise RuntimeError(f"cannot find module for {orig_method}")


def _type_repr(obj):
    """A class by its module and name, those of Python itself by their name; a function by its name; else repr(obj)."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        return obj.__qualname__ if obj.__module__ == "builtins" else f"{_named_as_torch(obj.__module__)}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    return obj.__name__ if isinstance(obj, types.FunctionType) else repr(obj)


def _get_qualified_name(func):
    """qualified_name with the module that functions of `operator` say they are of."""
    return "_" * (getattr(func, "__module__", None) == "_operator") + qualified_name(func)


def map_arg(a, fn):
    """The nested argument with fn of each Node in it."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a, fn):
    """The nested argument with fn of each leaf in it."""
    if isinstance(a, tuple):
        parts = [map_aggregate(x, fn) for x in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return [map_aggregate(x, fn) for x in a]
    if isinstance(a, dict):
        return {k: map_aggregate(v, fn) for k, v in a.items()}
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


class Node:
    """One step of a graph: a placeholder, get_attr, call_function, call_method, call_module or the output."""

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root"):
            raise AssertionError(f"Node: unknown op {op!r}")
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users, self._input_nodes, self.meta = {}, {}, {}
        self._prev = self._next = self
        self._erased = False
        self._args, self._kwargs = (), {}
        self._update(tuple(args), dict(kwargs))

    @property
    def args(self):
        return self._args

    @args.setter
    def args(self, args):
        self._update(tuple(args), self._kwargs)

    @property
    def kwargs(self):
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._update(self._args, dict(kwargs))

    def _update(self, args, kwargs):
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._args, self._kwargs, self._input_nodes = args, kwargs, {}
        map_arg((args, kwargs), lambda n: self._input_nodes.setdefault(n))
        for used in self._input_nodes:
            used.users.setdefault(self)

    @property
    def all_input_nodes(self):
        return list(self._input_nodes)

    @property
    def next(self):
        return self._next

    @property
    def prev(self):
        return self._prev

    def prepend(self, x):
        """Moves x before this node."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x):
        """Moves x behind this node."""
        self._next.prepend(x)

    def _unlink(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def update_arg(self, idx, arg):
        args = list(self._args)
        args[idx] = arg
        self.args = args

    def insert_arg(self, idx, arg):
        args = list(self._args)
        args.insert(idx, arg)
        self.args = args

    def update_kwarg(self, key, arg):
        self.kwargs = {**self._kwargs, key: arg}

    def replace_input_with(self, old_input, new_input):
        """Uses new_input where old_input was used."""
        swap = lambda n: new_input if n is old_input else n  # noqa: E731
        self._update(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """Uses replace_with wherever this node is used. Returns the users that changed."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [u for u in list(self.users) if delete_user_cb(u)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    @property
    def stack_trace(self):
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random=True):
        """Must it run though nobody uses it?"""
        if self.op in ("placeholder", "output"):
            return True
        return self.op == "call_function" and self.target in _side_effectful_functions

    _repr_fn = staticmethod(lambda node: node.name)  # another while code is written

    def __repr__(self):
        return self._repr_fn(self)

    def __lt__(self, other):
        order = {n: i for i, n in enumerate(self.graph.nodes)}
        return order[self] < order[other]

    def format_node(self, placeholder_names=None, maybe_return_typename=None, **options):
        """The node as a line of the printed graph."""
        def show(a):
            if isinstance(a, Node):
                return f"%{a.name}"
            if isinstance(a, tuple):
                return "(" + ", ".join(map(show, a)) + ("," if len(a) == 1 else "") + ")"
            if isinstance(a, list):
                return "[" + ", ".join(map(show, a)) + "]"
            if isinstance(a, dict):
                return "{" + ", ".join(f"{k}: {show(v)}" for k, v in a.items()) + "}"
            return str(a)
        if self.op == "output":
            return f"return {self.args[0]}"
        head = f"%{self.name} : [num_users={len(self.users)}] = {self.op}[target={self._target_text()}]"
        if self.op == "placeholder":
            return head + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return head
        return f"{head}(args = {show(self.args)}, kwargs = {show(self.kwargs)})"

    def _target_text(self):
        if isinstance(self.target, str):
            return self.target
        return "builtins.getattr" if self.target is builtins.getattr else qualified_name(self.target)


#: Functions whose calls stay though nobody uses what they give; programs read it and add to it.
_side_effectful_functions: set = {weir._assert, weir._assert_async, weir._C._set_grad_enabled, operator.setitem}


def has_side_effect(fn):
    """Keeps calls of fn when dead code goes. Returns fn."""
    _side_effectful_functions.add(fn)
    return fn


Target, Argument = object, object
