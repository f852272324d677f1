"""The callable under test, named so that each process finds its own."""

import functools
from dataclasses import dataclass, field

from . import plans, ship


@dataclass
class Target:
    """Dotted `paths` below the framework, or of `plans`, tried in order; or a `shipped` function."""

    label: str
    paths: list = field(default_factory=list)
    shipped: ship.FunctionSpec | None = None

    def resolve(self, W):
        """The callable in framework `W`. Raises ship.Unresolved with the first missing name."""
        if self.shipped is not None:
            return ship.build(self.shipped, W)
        missing = []
        for path in self.paths:
            if path in plans.FUNCTIONS:
                return functools.partial(plans.FUNCTIONS[path], W)
            try:
                return ship.walk(W, path)
            except ship.Unresolved as error:
                missing.append(error)
        raise missing[0]


def of_op(op, torch) -> Target:
    """The target of an entry of PyTorch's op database."""
    function = op.op
    if type(function).__name__ == "function" and function.__module__.startswith("torch.testing"):
        return Target(f"{op.name} (wrapped)", shipped=ship.pack(function))
    for path in (op.name, f"Tensor.{op.name}"):
        if _lookup(torch, path) == function:
            return Target(f"torch.{path}", [path])
    paths = _aten_paths(function, op.name)
    return Target(f"torch.{paths[0]}", paths)


def _lookup(torch, path: str):
    try:
        return ship.walk(torch, path)
    except ship.Unresolved:
        return None


def _aten_paths(function, name: str) -> list:
    schema = getattr(function, "_schema", None)
    if schema is None:
        return [f"ops.aten.{name}"]
    base = "ops." + schema.name.replace("::", ".")
    return [f"{base}.{function._overloadname}", base]
