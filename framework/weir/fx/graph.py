"""A graph: nodes in order, and the Python code they stand for. Source: torch.fx.Graph."""
import builtins
import contextlib
import math
import operator
import re
import typing

import weir
from weir._absent import absent as _absent

from ._naming import _CustomBuiltin, _custom_builtins, _is_from_torch, _Namespace, _register_custom_builtin  # noqa: F401
from .node import Argument, Node, map_arg, qualified_name  # noqa: F401

#: How the functions of `operator` are written in code, by their names: programs read these tables, and put others in their place.
reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "div": "{} / {}", "mod": "{} % {}",
    "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}",
    "getitem": "{}[{}]", "matmul": "{} @ {}"}
magic_methods = {"eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
                 "pos": "+{}", "neg": "-{}", "invert": "~{}", **reflectable_magic_methods}
inplace_methods = {"iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
                   "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
                   "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}"}
_origin_type_map = {list: typing.List, dict: typing.Dict, set: typing.Set, frozenset: typing.FrozenSet, tuple: typing.Tuple}
#: Short names of dtypes.
dtype_abbrs = {getattr(weir, name): short for name, short in (pair.split(":") for pair in """uint8:u8 int8:i8 int16:i16 int32:i32 int64:i64 float16:f16
    float32:f32 float64:f64 complex32:c32 complex64:c64 complex128:c128 bool:b8 bfloat16:bf16 bits1x8:b1x8 bits2x4:b2x4 bits4x2:b4x2 bits8:b8x1
    bits16:b16x1 float8_e5m2:f8e5m2 float8_e4m3fn:f8e4m3fn float8_e5m2fnuz:f8e5m2fnuz float8_e4m3fnuz:f8e4m3fnuz uint16:u16 uint32:u32
    uint64:u64 float8_e8m0fnu:f8e8m0fnu float4_e2m1fn_x2:f4e2m1fnx2""".split())}


class PythonCode:
    """Source text and the globals it needs."""

    def __init__(self, src, globals_):
        self.src, self.globals = src, globals_


class CodeGen:
    """How a graph becomes source text; subclasses write the function's head, its `return` or all of it in their own way."""

    _func_name = "forward"

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        """The head of the function, which takes `self` and the free variables."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args, *, descs=None, repr_fn=repr):
        """The last statement."""
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args):
        """What the graph takes for arguments of the function."""
        return args

    def process_outputs(self, outputs):
        """What the function gives for results of the graph."""
        return outputs

    def additional_globals(self):
        """[(name, object)] of what the code needs besides."""
        return []

    def _gen_python_code(self, nodes, root_module, namespace, *, verbose=False, **_options):
        """The code of the nodes, with every value dropped after its last use."""
        globals_ = {name: made.obj for name, made in _custom_builtins.items()}
        globals_.update(self.additional_globals())
        seen, uses = set(), {}  # node -> the nodes that nobody uses after it
        for node in reversed(nodes):
            uses[node] = [n for n in node.all_input_nodes if n not in seen]
            seen.update(uses[node])
        free, body = [], []
        for node in nodes:
            if node.op == "placeholder":
                free.append(_placeholder(node, globals_))
                if node.target.lstrip("*") != node.name:
                    body.append(f"{node.name} = {node.target.lstrip('*')}")
                continue
            if node.op == "output":
                body.append(self.generate_output(node.args[0], repr_fn=lambda a: _show(a, globals_)))
                continue
            done = [n.name for n in uses[node]] + ([] if node.users else [node.name])
            drop = "".join(f"{name} = " for name in done)
            body.append(_statement(node, globals_, root_module) + (f";  {drop}None" if drop else ""))
        lines = "\n".join("    " + line for line in body) or "    pass"
        return PythonCode(f"\n\n\n{self.gen_fn_def(free, '')}\n{lines}\n    ", globals_)


class _BoxedCodeGen(CodeGen):
    """The function takes its arguments in one list, and empties it, so that nobody else keeps them alive."""

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        names = [re.split("[:=]", v)[0].strip() for v in free_vars if v != "self"]
        taking = ["args_iter = iter(args_list)", *(f"{name} = next(args_iter)" for name in names), "args_list.clear()"] if names else []
        return "\n    ".join([f"def {self._func_name}(self, args_list){maybe_return_annotation}:", *taking])


_PyTreeCodeGen = _absent("fx.graph._PyTreeCodeGen", "weir traces no containers apart")


class _Nodes:
    """The nodes of a graph in order; they may be erased or added while one walks over them."""

    def __init__(self, graph, backwards=False):
        self._graph, self._backwards = graph, backwards

    def __len__(self):
        return sum(1 for _ in self)

    def __iter__(self):
        root = self._graph._root
        node = root._prev if self._backwards else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self._backwards else node._next

    def __reversed__(self):
        return iter(_Nodes(self._graph, not self._backwards))


class _InsertPoint:
    """What puts new nodes where they go, from when it is made until the end of a `with`: programs also make it and go on."""

    def __init__(self, graph, new_insert):
        self.graph, self.orig_insert = graph, graph._insert
        graph._insert = new_insert

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        self.graph._insert = self.orig_insert


class Graph:
    """A list of nodes, from placeholders to one output."""

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self.owning_module, self._tracer_cls = owning_module, tracer_cls
        self._graph_namespace = _Namespace()
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend
        self._codegen = CodeGen()

    @property
    def nodes(self):
        return _Nodes(self)

    def find_nodes(self, *, op, target=None, sort=True):
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def _candidate(self, op, target):
        if callable(target):
            return _snake(target.__name__ if hasattr(target, "__name__") else type(target).__name__)
        target = str(target)
        return _snake(target[2:-2] if target.startswith("__") and target.endswith("__") else target)

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """Adds a node at the insertion point, which is the end unless set."""
        name = self._graph_namespace.create_name(name if name is not None else self._candidate(op, target), None)
        node = Node(self, name, op, target, args or (), kwargs or {}, type_expr)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        return node

    def placeholder(self, name, type_expr=None, default_value=...):
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result, type_expr=None):
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def output_node(self):
        return next(n for n in reversed(self.nodes) if n.op == "output")

    def node_copy(self, node, arg_transform=lambda x: x):
        """Adds a copy of another graph's node, whose arguments arg_transform brings over."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copy = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copy.meta = dict(node.meta)
        return copy

    def graph_copy(self, g, val_map, return_output_node=False):
        """Adds copies of all of g's nodes but the output. Returns what stands for g's result."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def erase_node(self, to_erase):
        """Takes a node out. RuntimeError while others use it."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                               f"{to_erase.users}!")
        if to_erase._erased:
            return
        to_erase._unlink()
        to_erase._erased = True
        to_erase._update((), {})

    def inserting_before(self, n=None):
        """New nodes go before n, or to the start, until `with` ends; without one from now on."""
        return self.inserting_after(self._root) if n is None else _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        """New nodes go directly behind n, each before the last, or to the end, until `with` ends; without one from now on."""
        return self.inserting_before(self._root) if n is None else _InsertPoint(self, n.append)

    def eliminate_dead_code(self, is_impure_node=None):
        """Erases nodes that nobody uses. Returns whether there were any."""
        changed = False
        for node in list(reversed(self.nodes)):
            impure = is_impure_node(node) if is_impure_node is not None else node.is_impure()
            if node.op == "call_module" and self.owning_module is not None and is_impure_node is None:
                impure = False
            if not impure and not node.users:
                self.erase_node(node)
                changed = True
        return changed

    def lint(self):
        """RuntimeError when a node is used before it stands, a name occurs twice or a target does not exist."""
        seen, names = set(), set()
        for node in self.nodes:
            for used in node.all_input_nodes:
                if used not in seen:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check "
                                       "that Nodes in the graph are topologically ordered")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                place = self.owning_module
                for atom in node.target.split("."):
                    if not hasattr(place, atom):
                        raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {atom}")
                    place = getattr(place, atom)

    def on_generate_code(self, make_transformer):
        raise NotImplementedError("Graph.on_generate_code: weir's code generation takes no transformers")

    def print_tabular(self):
        """Prints the nodes as a table."""
        rows = [["opcode", "name", "target", "args", "kwargs"]] + [
            [n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self.nodes]
        widths = [max(len(r[k]) for r in rows) for k in range(5)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows]
        print("\n".join([lines[0], "  ".join("-" * w for w in widths)] + lines[1:]))

    def __str__(self):
        return "graph():" + "".join("\n    " + n.format_node() for n in self.nodes)

    def __deepcopy__(self, memo=None):
        g = Graph(tracer_cls=self._tracer_cls)
        val_map: dict = {}
        result = g.graph_copy(self, val_map)
        if any(n.op == "output" for n in self.nodes):
            g.output(result)
        return g

    def set_codegen(self, codegen):
        """Code is written by this CodeGen from now on."""
        self._codegen = codegen

    def python_code(self, root_module="self", *, verbose=False, **options):
        """The code of `forward`."""
        namespace, nodes = _Namespace(), list(self.nodes)
        for node in nodes:  # a code generator writes repr(node), and may have given the name to a global
            node._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            return self._codegen._gen_python_code(self.nodes, root_module, namespace, verbose=verbose, **options)
        finally:
            for node in nodes:
                del node._repr_fn

    def process_inputs(self, *args):
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        return self._codegen.process_outputs(out)


def _snake(s):
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", s).lower()


def _placeholder(node, globals_):
    return node.target + (f" = {_show(node.args[0], globals_)}" if node.args else "")


def _show(a, globals_):
    """An argument as source text."""
    if isinstance(a, Node):
        return a.name
    if isinstance(a, tuple):
        if hasattr(a, "_fields"):
            globals_[type(a).__name__] = type(a)
            return f"{type(a).__name__}({', '.join(_show(x, globals_) for x in a)})"
        if isinstance(a, weir.Size):
            return f"torch.Size([{', '.join(_show(x, globals_) for x in a)}])"
        return "(" + ", ".join(_show(x, globals_) for x in a) + ("," if len(a) == 1 else "") + ")"
    if isinstance(a, list):
        return "[" + ", ".join(_show(x, globals_) for x in a) + "]"
    if isinstance(a, dict):
        return "{" + ", ".join(f"{k!r}: {_show(v, globals_)}" for k, v in a.items()) + "}"
    if isinstance(a, slice):
        return f"slice({_show(a.start, globals_)}, {_show(a.stop, globals_)}, {_show(a.step, globals_)})"
    if isinstance(a, (str, int, float, complex, bool, type(None), weir.dtype)) or a is ...:
        return repr(a) if a is not ... else "..."
    if isinstance(a, weir.device):
        return f"torch.device({str(a)!r})"
    if callable(a):
        return _function(a, globals_)
    name = f"_constant_{type(a).__name__}_{len(globals_)}"
    globals_[name] = a
    return name


def _function(function, globals_):
    """A function's name in the code; what the code cannot find by that name becomes a global."""
    name = qualified_name(function)
    if name.startswith("torch."):
        place = weir
        for part in name.split(".")[1:]:
            place = getattr(place, part, None)
        if place is function:
            return name
    if name == "getattr":
        return name
    if name.startswith("operator."):
        globals_["operator"] = operator
        return name
    if name.startswith("builtins."):
        return name[len("builtins."):]
    if name.startswith("math."):
        globals_["math"] = math
        return name
    short = name.replace(".", "_").replace("<", "_").replace(">", "_")
    while globals_.get(short, function) is not function:
        short += "_"
    globals_[short] = function
    return short


def _format_target(base, target):
    """What lies at a dotted name under `base`, as source text."""
    for atom in target.split("."):
        base = f"{base}.{atom}" if atom.isidentifier() else f'getattr({base}, "{atom}")'
    return base


def _statement(node, globals_, root):
    def call(args):
        return ", ".join([_show(a, globals_) for a in args] + [f"{k} = {_show(v, globals_)}" for k, v in node.kwargs.items()])
    if node.op == "get_attr":
        return f"{node.name} = {_format_target(root, node.target)}"
    if node.op == "call_module":
        return f"{node.name} = {_format_target(root, node.target)}({call(node.args)})"
    if node.op == "call_method":
        return f"{node.name} = {_show(node.args[0], globals_)}.{node.target}({call(node.args[1:])})"
    operator_name = node.target.__name__ if getattr(node.target, "__module__", None) == "_operator" and not node.kwargs else None
    if operator_name in magic_methods:
        return f"{node.name} = " + magic_methods[operator_name].format(*(_operand(a, globals_) for a in node.args))
    if operator_name in inplace_methods:
        shown = [_show(a, globals_) for a in node.args]
        return f"{inplace_methods[operator_name].format(*shown)};  {node.name} = {shown[0]}"
    if node.target is builtins.getattr and isinstance(node.args[1], str) and node.args[1].isidentifier() and len(node.args) == 2:
        return f"{node.name} = {_show(node.args[0], globals_)}.{node.args[1]}"
    return f"{node.name} = {_function(node.target, globals_)}({call(node.args)})"


def _operand(a, globals_):
    text = _show(a, globals_)
    return f"({text})" if isinstance(a, (int, float)) and not isinstance(a, bool) and a < 0 else text
