"""Cases as text: one line for tables, PyTorch code for people who want to rerun them."""

import cmath
from math import prod

import numpy as np

from . import dtypes
from .case import Case, Made, Named, TensorSpec, leaves, map_tree, seen
from .objects import Built, Power
from .program import Program, Ref

_MAX_LITERAL = 64  # elements; larger tensors are described, not spelled out
_LINES = 15  # of a script; tensors share lines where there are too many of them


class _Text(str):
    """A leaf already rendered: shows without quotes inside a container's repr."""

    __repr__ = str.__str__


def call(label: str, case: Case, limit: int = 160) -> str:
    """`torch.add(float32[3, 2], 2, alpha=1)`, cut to `limit` characters."""
    text = f"{label}({arguments(case.args, case.kwargs, summary)})"
    return text if len(text) <= limit else text[: limit - 4] + "...)"


def code(label: str, case: Case) -> str:
    """The call as PyTorch code, with tensors built on lines of their own."""
    specs = {leaf.id: leaf for leaf in leaves((case.args, case.kwargs)) if isinstance(leaf, TensorSpec)}
    lines = [f"t{spec.id} = {_construction(spec, case)}" for spec in specs.values()]
    return "\n".join([*lines, f"{label}({arguments(case.args, case.kwargs, lambda spec: f't{spec.id}')})"])


def script(item, failure) -> str:
    """A script that shows one failing call, in either framework by changing its import."""
    case, label = item.case, item.target.label
    specs = {leaf.id: leaf for leaf in leaves((case.args, case.kwargs)) if isinstance(leaf, TensorSpec)}
    # A leaf that requires a gradient may not be written: an in-place call is made on a copy of it.
    written = case.args[0].id if case.relation == "inplace" and isinstance(case.args[0], TensorSpec) else None
    name = {key: f"t{key}.clone()" if key == written and spec.requires_grad else f"t{key}" for key, spec in specs.items()}
    call = f"out = {label}({arguments(case.args, case.kwargs, lambda spec: name[spec.id])})"
    lines = ["with torch.autocast('cpu', dtype=torch.bfloat16):", f"    {call}"] if case.relation == "autocast" else [call]
    return standing_alone(failure, specs.values(), case, lines + _shown(specs, failure))


def standing_alone(failure, specs, case, lines: list[str]) -> str:
    """A script that shows `failure`: makes the tensors of `specs`, then does `lines`; in at most 15 lines if those are few."""
    head = [f"# {failure.overload} {failure.dtype} {failure.property}: {failure.reason}"[:160],
            "import torch  # or: import weir as torch", ""]
    made, room = [(f"t{spec.id}", rebuilt(spec, case)) for spec in specs], max(_LINES - len(head) - len(lines), 1)
    share = -(-len(made) // room) or 1
    rows = [zip(*made[at:at + share]) for at in range(0, len(made), share)]
    return "\n".join([*head, *(" = ".join(", ".join(column) for column in row) for row in rows), *lines])


def steps(program: Program) -> list[str]:
    """One line per step: `s1 = torch.add(s0, float32[2, 3])`."""
    return [f"s{at} = {step.target.label}({arguments(step.args, step.kwargs, summary)})"
            for at, step in enumerate(program.steps)]


def program_script(item, failure) -> str:
    """A program as a script that runs in either framework by changing its import."""
    program = item.case
    specs = {leaf.id: leaf for step in program.steps for leaf in leaves((step.args, step.kwargs)) if isinstance(leaf, TensorSpec)}
    lines = [f"s{at} = {step.target.label}({arguments(step.args, step.kwargs, lambda spec: f't{spec.id}')})"
             for at, step in enumerate(program.steps)]
    shown = f"print({', '.join(f's{at}' for at in range(len(program.steps)))})"
    return standing_alone(failure, specs.values(), program, [*lines, shown])


def _shown(specs: dict, failure) -> list:
    """What to print for the property that fails; a way of calling names in its reason the property that fails there."""
    names = {failure.property, failure.reason.split(":")[0]}
    tensors = ", ".join(f"t{key}" for key in specs)
    if names & {"gradient", "gradgrad"}:
        return _gradients([f"t{key}" for key, spec in specs.items() if spec.requires_grad], "gradgrad" in names)
    what = {"stride": "out.stride()", "alias": f"[out is t for t in ({tensors},)], out", "requires_grad": "out.requires_grad",
            "version": f"[t._version for t in ({tensors},)]"}
    return [f"print({next((what[name] for name in names if name in what), 'out')})"]


def _gradients(inputs: list, second: bool) -> list:
    """The gradients of every output, for cotangents of which no two neighbours are alike."""
    lines = ["outs = [o for o in (out if isinstance(out, (tuple, list)) else [out]) if o.requires_grad]",
             "cotangent = lambda o: (((torch.arange(o.numel()) * 7 + 3) % 11 - 5) / 4).to(o.dtype).reshape(o.shape)",
             f"grads = torch.autograd.grad(outs, [{', '.join(inputs)}], list(map(cotangent, outs)), allow_unused=True, "
             f"create_graph={second})"]
    if not second:
        return [*lines, "print(grads)"]
    return [*lines, "outs = [g for g in grads if g is not None and g.requires_grad]",
            f"print(torch.autograd.grad(outs, [{', '.join(inputs)}], list(map(cotangent, outs)), allow_unused=True))"]


def rebuilt(spec: TensorSpec, case) -> str:
    """The tensor with its layout: a flat tensor of its storage, seen through its strides."""
    dtype, data = case.storages[spec.storage]
    flat = dtypes.to_array(data, dtype)
    made, shown = spec.dtype, ""
    if dtypes.shows_bytes(data, dtype):
        flat, made, shown = np.frombuffer(data, np.uint8), "uint8", ".view(torch.bool)"
    grad = (".conj()" if spec.conj else "") + (".numpy()" if spec.numpy else "") + (".requires_grad_()" if spec.requires_grad else "")
    if _dense(spec) and flat.size == prod(spec.size):
        return f"torch.tensor({_literal(flat.reshape(spec.size))}, dtype=torch.{made}){_sized(spec)}{shown}{grad}"
    return (f"torch.tensor({_literal(flat)}, dtype=torch.{made}){shown}"
            f".as_strided({spec.size}, {spec.stride}, {spec.offset}){grad}")


def _sized(spec: TensorSpec) -> str:
    """A literal cannot say that an empty tensor has several dimensions."""
    return f".reshape({spec.size})" if 0 in spec.size and len(spec.size) > 1 else ""


def _literal(array: np.ndarray) -> str:
    return _number(array.tolist())


def _number(value) -> str:
    """A number, or a list of them, as code: `nanj` and `inf` are none."""
    if isinstance(value, list):
        return f"[{', '.join(map(_number, value))}]"
    if isinstance(value, complex) and not cmath.isfinite(value):
        return f"complex({_number(value.real)}, {_number(value.imag)})"
    return repr(value) if cmath.isfinite(value) else f"float('{value}')"


def arguments(args: tuple, kwargs: dict, tensor) -> str:
    """The arguments of a call as code; `tensor` gives the text of a descriptor."""
    parts = [repr(item) for item in map_tree(lambda leaf: _leaf(leaf, tensor), args)]
    parts += [f"{name}={item!r}" for name, item in map_tree(lambda leaf: _leaf(leaf, tensor), kwargs).items()]
    return ", ".join(parts)


def _leaf(value, tensor):
    if isinstance(value, TensorSpec):
        return _Text(tensor(value))
    if isinstance(value, Ref):
        return _Text(f"s{value.step}" + (f"[{value.output}]" if value.output else ""))
    if isinstance(value, Power):
        return _Text(f"lambda step: {value.base} ** step")
    if isinstance(value, Made):
        return _Text(f"torch.{value.path}({arguments(value.args, value.kwargs, tensor)})")
    if isinstance(value, Built):
        return _Text(f"torch.{value.path}(optimizer=optimizer, {arguments((), value.kwargs, tensor)})")
    if isinstance(value, Named):
        return _Text(value.name if value.kind == "type" else f"torch.{value.name}")
    return value


def summary(spec: TensorSpec) -> str:
    """`float32[2, 3]`."""
    return f"{spec.dtype}{list(spec.size)}"


def _construction(spec: TensorSpec, case: Case) -> str:
    grad = ", requires_grad=True" if spec.requires_grad else ""
    array = _numbers(spec, case)
    if array is None or array.size > _MAX_LITERAL:
        return f"torch.empty_strided({spec.size}, {spec.stride}, dtype=torch.{spec.dtype}{grad})  # values not shown"
    if np.iscomplexobj(array):
        literal = _literal(array)
    else:
        literal = np.array2string(array, separator=", ", floatmode="unique", threshold=_MAX_LITERAL + 1)
        literal = literal.replace("nan", "float('nan')").replace("inf", "float('inf')").replace("\n", "")
    layout = f"  # stride {spec.stride}, offset {spec.offset}" if array.ndim and not _dense(spec) else ""
    return f"torch.tensor({literal}, dtype=torch.{spec.dtype}{grad}){layout}"


def _numbers(spec: TensorSpec, case: Case) -> np.ndarray | None:
    """The tensor's values; None if it reaches beyond its storage."""
    flat = dtypes.to_array(case.storages[spec.storage][1], spec.dtype)
    last = spec.offset + sum((n - 1) * s for n, s in zip(spec.size, spec.stride))
    return seen(flat, spec) if 0 in spec.size or last < flat.size else None


def _dense(spec: TensorSpec) -> bool:
    step = 1
    for extent, stride in zip(reversed(spec.size), reversed(spec.stride)):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return spec.offset == 0
