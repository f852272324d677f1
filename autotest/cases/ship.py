"""Ships the Python functions of torch.testing to a process that must not import torch.

About 80 entries of the op database are thin lambdas over `torch`, and some samples carry a
function that picks the well-defined part of an output. Their code objects travel by marshal;
their globals are rebound on the other side, `torch` to the framework under test.
"""

import builtins
import dis
import marshal
import types
from dataclasses import dataclass, field

#: Modules of the standard library (and NumPy) that mean the same in every process.
_PLAIN_MODULES = {"math", "cmath", "operator", "itertools", "functools", "random", "numpy", "builtins"}


class Unresolved(Exception):
    """A name that the framework, or the other process, does not have."""


@dataclass(frozen=True)
class Binding:
    """How to rebuild one global or closure variable.

    kind: framework (dotted path below the framework), module, function, constant, unseeded,
    record (attributes of an object, as constants) or unresolved (payload: the reason).
    """

    kind: str
    payload: object = None


@dataclass
class FunctionSpec:
    """A plain Python function as data."""

    name: str
    code: bytes
    defaults: tuple | None
    kwdefaults: dict | None
    globals: dict = field(default_factory=dict)
    closure: list = field(default_factory=list)


def pack(function: types.FunctionType) -> FunctionSpec:
    """The data of `function`. Names it cannot ship become unresolved bindings."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return FunctionSpec(
        function.__name__, marshal.dumps(function.__code__), function.__defaults__, function.__kwdefaults__,
        {name: _bind(name, function.__globals__[name]) for name in sorted(_global_names(function.__code__))
         if name in function.__globals__},
        [_bind("closure", cell) for cell in cells])


def build(spec: FunctionSpec, W) -> types.FunctionType:
    """The function of `spec` with `torch` meaning `W`. Raises Unresolved."""
    code = marshal.loads(spec.code)
    namespace = {"__builtins__": builtins, "__name__": "weir_autotest.shipped"}
    namespace.update({name: _rebuild(name, binding, W) for name, binding in spec.globals.items()})
    _check_paths(code, namespace, W)
    closure = tuple(types.CellType(_rebuild("closure", binding, W)) for binding in spec.closure)
    function = types.FunctionType(code, namespace, spec.name, spec.defaults, closure or None)
    function.__kwdefaults__ = spec.kwdefaults
    return function


def walk(root, path: str):
    """`root.a.b.c` for path `a.b.c`. Raises Unresolved naming the first part that is missing."""
    for part in path.split("."):
        try:
            root = getattr(root, part)
        except AttributeError:
            raise Unresolved(f"{path}: no attribute {part!r}") from None
    return root


def _unseeded(op, *args, **kwargs):
    """Stands in for torch.testing's wrapper_set_seed, whose seed means nothing elsewhere."""
    return op(*args, **kwargs)


def _global_names(code: types.CodeType) -> set:
    names = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def _bind(name: str, value) -> Binding:
    if name == "wrapper_set_seed":
        return Binding("unseeded")
    module = value.__name__ if isinstance(value, types.ModuleType) else None
    if module == "torch" or (module or "").startswith("torch."):
        return Binding("framework", module.removeprefix("torch").lstrip("."))
    if module in _PLAIN_MODULES:
        return Binding("module", module)
    if isinstance(value, types.FunctionType):
        return Binding("function", pack(value))
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return Binding("constant", value)
    if hasattr(value, "sample_inputs_func"):  # an OpInfo: shipped functions only ask for its name
        return Binding("record", {"name": value.name})
    return Binding("unresolved", f"global {name!r} of type {type(value).__name__}")


def _rebuild(name: str, binding: Binding, W):
    kind, payload = binding.kind, binding.payload
    if kind == "framework":
        return walk(W, payload) if payload else W
    if kind == "module":
        return __import__(payload)
    if kind == "function":
        return build(payload, W)
    if kind == "constant":
        return payload
    if kind == "unseeded":
        return _unseeded
    if kind == "record":
        return types.SimpleNamespace(**payload)
    raise Unresolved(f"shipped function needs {payload or name}")


def _check_paths(code: types.CodeType, namespace: dict, W) -> None:
    """Finds `torch.a.b` that `W` lacks before any call, so it counts as missing, not as wrong."""
    path: list = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL" and namespace.get(instruction.argval) is W:
            path = [W]
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and path:
            path.append(walk(path[-1], instruction.argval))
        else:
            path = []
