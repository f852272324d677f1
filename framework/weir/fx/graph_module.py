"""A module whose forward is generated from a graph. Source: torch.fx.GraphModule."""
import copy
import itertools
import linecache
import sys
import traceback

import weir
from weir.nn import Module

from ._naming import _custom_builtins, _is_from_torch

_count = itertools.count()


_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"  # in `meta`: what a copy of the module keeps of its root's attributes


class _CodeOnlyModule(Module):
    """A module that is no more than attributes, to be traced again."""

    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def _copy_attr(from_module, to_module, target):
    """Puts the module, parameter or tensor of a dotted name at the same place of another module; modules on the way are made."""
    *prefix, field = target.split(".")
    for atom in prefix:
        child, there = getattr(from_module, atom, None), getattr(to_module, atom, None)
        if child is None or child is there:  # with a module came all that is in it
            return
        if there is None:
            setattr(to_module, atom, Module())
        from_module, to_module = child, getattr(to_module, atom)
    _assign_attr(getattr(from_module, field), to_module, field)


def _assign_attr(from_obj, to_module, target):
    """Puts from_obj at a dotted name of a module; modules on the way are made. Tensors that are no parameters become buffers."""
    *prefix, field = target.split(".")
    for atom in prefix:
        if getattr(to_module, atom, None) is None:
            setattr(to_module, atom, Module())
        to_module = getattr(to_module, atom)
    if isinstance(from_obj, weir.Tensor) and not isinstance(from_obj, weir.nn.Parameter):
        to_module.register_buffer(field, from_obj)
    else:
        setattr(to_module, field, from_obj)


def _get_attr(model, attr_name):
    """What lies at a dotted name of a module. AssertionError where something on the way is missing, AttributeError where the last is."""
    *prefix, field = attr_name.split(".")
    for atom in prefix:
        model = getattr(model, atom, None)
        if model is None:
            raise AssertionError(f"Attribute '{atom}' not found in model")
    return getattr(model, field)


def _exec_with_source(src, globals, co_fields=None):
    """Runs source text in a scope; tracebacks show its lines."""
    file = f"<eval_with_key>.weir.{next(_count)}"
    linecache.cache[file] = (len(src), None, src.splitlines(True), file)
    exec(compile(src, file, "exec", dont_inherit=True), globals)


def _forward_from_src(src, globals, co_fields=None):
    """The function `forward` of source text that finds the globals; they stay as they are."""
    scope = dict(globals)
    _exec_with_source(src, scope, co_fields)
    return scope["forward"]


def _format_import_statement(name, obj, importer):
    """The line that gives obj to a program by that name; `importer` says where another than the package has it."""
    if name in _custom_builtins:
        return _custom_builtins[name].import_str
    if _is_from_torch(name):
        return "import torch"
    return "from {} import {} as {}".format(*importer.get_name(obj), name)


class _WrappedCall:
    """`__call__` of a module whose generated code, where it fails, is shown with the line."""

    def __init__(self, cls, cls_call):
        self.cls, self.cls_call = cls, cls_call

    @staticmethod
    def _generate_error_message(frame_summary):
        line, source = frame_summary.lineno, linecache.getlines(frame_summary.filename)
        marker = "~" * len(frame_summary.line) + "~~~ <--- HERE"
        return "\n".join([traceback.format_exc(), f"Call using an FX-traced Module, line {line} of the traced Module's generated forward function:",
                          "".join(source[line - 2:line]), marker, "\n".join(source[line:line + 2])])

    def __call__(self, obj, *args, **kwargs):
        try:
            return super(self.cls, obj).__call__(*args, **kwargs) if self.cls_call is None else self.cls_call(obj, *args, **kwargs)
        except Exception as error:
            innermost = traceback.extract_tb(error.__traceback__)[-1]
            if "eval_with_key" not in innermost.filename:
                raise
            print(self._generate_error_message(innermost), file=sys.stderr)
            raise error.with_traceback(None)  # noqa: B904  (the message is its place)


class GraphModule(Module):
    """Takes from `root` (a module, or a dict of dotted names) what the graph's nodes name, and runs the graph's code.

    Changing `.graph` needs `recompile()` before the next call, as in PyTorch.
    """

    def __new__(cls, *args, **kwargs):
        own = type(cls.__name__, (cls,), {})  # a class of its own, since forward differs from module to module
        return object.__new__(own)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                if isinstance(root, Module):
                    _copy_attr(root, self, node.target)
                elif node.target not in root:
                    raise RuntimeError(f"Node {node} referenced target {node.target} but that target was not provided in `root`!")
        if isinstance(root, dict):
            for path in sorted(root, key=lambda p: p.count(".")):
                *prefix, field = path.split(".")
                place = self
                for atom in prefix:
                    if not hasattr(place, atom):
                        setattr(place, atom, Module())
                    place = getattr(place, atom)
                setattr(place, field, root[path])
        self.graph = graph
        self.meta = {}

    @property
    def graph(self):
        return self._graph

    @graph.setter
    def graph(self, g):
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The source of forward."""
        return self._code

    def recompile(self):
        """Generates forward from the graph anew."""
        made = self._graph.python_code("self")
        self.__dict__["_code"] = made.src
        type(self).forward = _forward_from_src(made.src, made.globals)
        return made

    def add_submodule(self, target, m):
        """Puts m at a dotted name. False when the way there is not of modules."""
        *prefix, field = target.split(".")
        place = self
        for atom in prefix:
            child = getattr(place, atom, None)
            if child is None:
                child = Module()
                setattr(place, atom, child)
            if not isinstance(child, Module):
                return False
            place = child
        place.add_module(field, m)
        return True

    def delete_submodule(self, target):
        *prefix, field = target.split(".")
        place = self.get_submodule(".".join(prefix))
        if field not in place._modules:
            return False
        del place._modules[field]
        return True

    def delete_all_unused_submodules(self):
        """Drops the modules that no node calls."""
        used = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[:i + 1]) for i in range(len(parts)))
                if node.op == "call_module":
                    used.update(f"{node.target}.{n}" for n, _ in self.get_submodule(node.target).named_modules() if n)
        for name, _ in list(self.named_modules()):
            if name and name not in used:
                self.delete_submodule(name) if self._has(name) else None

    def _has(self, name):
        try:
            self.get_submodule(name)
        except AttributeError:
            return False
        return True

    def print_readable(self, print_output=True, **options):
        text = f"class {type(self).__name__}(torch.nn.Module):\n" + "\n".join(
            "    " + line for line in self._code.strip().splitlines())
        if print_output:
            print(text)
        return text

    def __deepcopy__(self, memo):
        fake = Module()
        fake.__dict__.update(copy.deepcopy({k: v for k, v in self.__dict__.items() if k not in ("_graph", "_code")}, memo))
        return GraphModule(fake, copy.deepcopy(self._graph), type(self).__name__)

    def __copy__(self):
        return GraphModule(self, copy.deepcopy(self._graph), type(self).__name__)

    def __reduce__(self):
        raise NotImplementedError("GraphModule: weir cannot pickle generated code; save the state_dict")

    def __repr__(self):
        return f"{super().__repr__()}\n{self._code}\n# To see more debug info, please use `graph_module.print_readable()`"
