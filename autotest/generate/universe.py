"""The denominator: every public operation of PyTorch, with the signatures of its overloads.

Public means reachable by a name that users write (`torch.add`, `torch.Tensor.expand`, `torch.linalg.norm`). Nothing
leaves the list because it is hard to test; what the oracle itself cannot run here is counted as its limit.
"""

import re
import types
from dataclasses import replace
from functools import lru_cache, reduce

import torch

from . import functions
from .signature import Overload, Parameter

#: How aten spells the members of PyTorch's submodules.
_PREFIXES = {"linalg_": "linalg", "special_": "special", "fft_": "fft"}

#: Types that no tensor program passes: TorchScript's containers, named dimensions, packed weights.
_NOT_TENSOR_PROGRAMS = re.compile(r"Dimname|Dict\(|Future|__torch__|\bt\[\]|\bt \w|AnyEnum|Stream|QScheme")

#: Changes what a tensor is rather than its numbers.
_ON_STORAGE = re.compile(r"::set_|Storage|requires_grad_")

#: Needs a library, a device or a layout that the CPU oracle lacks.
_OTHER_BACKENDS = re.compile(
    r"cudnn|miopen|mkldnn|fbgemm|quantize|sparse|coalesce|crow_|ccol_|col_indices|row_indices|hspmm|^smm|sspaddmm"
    r"|batch_norm_(elemt|gather|backward|stats|update)|from_file|choose_qparams|is_pinned|pin_memory")


#: How PyTorch's page of an operation says that it is another name of one, or works element by element.
_ALIAS = re.compile(r"[Aa]lias (?:for|of) :(?:func|meth):`~?(?:torch\.)?([\w.]+)`")
_ELEMENTWISE = re.compile(r"^Computes [^.]*\belement-?wise\b", re.M)

_OPTIONS = ("dtype", "layout", "device", "pin_memory")  # of a factory


@lru_cache(maxsize=1)
def overloads() -> tuple[Overload, ...]:
    """All overloads, sorted by name."""
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::") and s.name[6] != "_"]
    outs = {_key(s): sum(a.is_out for a in s.arguments) for s in schemas if _is_out(s)}
    mutating = {_key(s) for s in schemas if _mutates(s) and not _is_out(s)}
    found = {}
    for schema in schemas:
        if _is_out(schema) or _mutates(schema) or not _on_tensors(schema):
            continue
        path = _public_path(schema.name[6:])
        if path:
            found[_label(schema)] = _overload(schema, path, outs, mutating)
    twins = {overload.inplace for overload in found.values()}
    for schema in schemas:  # methods that only exist in place, such as uniform_
        path = f"Tensor.{schema.name[6:]}"
        if _only_inplace(schema) and path not in twins:
            found[_label(schema)] = replace(_overload(schema, path, outs, mutating), inplace=path)
    for overload in functions.overloads(_reached(found.values())):
        found.setdefault(overload.name, overload)
    return tuple(found[name] for name in sorted(found))


def _reached(found) -> set:
    """The functions of `torch.nn.functional` that an overload stands for, under whatever name it is found."""
    paths = {overload.path for overload in found}
    return paths | {f"nn.functional.{path.split('.')[-1]}" for path in paths}


def _overload(schema, path: str, outs: dict, mutating: set) -> Overload:
    base = schema.name[6:]
    parameters = tuple(
        Parameter(a.name, _type(a), a.kwarg_only, a.has_default_value(), a.N or 0) for a in schema.arguments)
    inputs = tuple(p.name for p in parameters)
    twin = f"Tensor.{base}_" if (base + "_", inputs) in mutating and hasattr(torch.Tensor, base + "_") else ""
    text = str(schema)
    tags = [tag.name for tag in _tags(schema)]
    random = "Generator" in text or "nondeterministic_seeded" in tags
    out = outs.get((base, inputs)) or outs.get((base, _without_options(inputs)), 0)
    return Overload(_label(schema), path, parameters, twin, out, random,
                    bool(_OTHER_BACKENDS.search(base)), "pointwise" in tags or _on_one_tensor(schema) and _says_pointwise(path))


def _on_one_tensor(schema) -> bool:
    return [str(a.type) for a in (schema.arguments[0], *schema.returns)] == ["Tensor", "Tensor"] if schema.arguments else False


def _says_pointwise(path: str) -> bool:
    """Whether PyTorch's page says so: of `floor_divide`, and of other names (`divide`, `special.logit`), which have no tags of their own."""
    said = reduce(getattr, path.split("."), torch).__doc__ or ""
    other = _ALIAS.search(said)
    if not other and _ELEMENTWISE.search(said):
        return True
    if not other and not path.startswith("special."):
        return False
    packet = getattr(torch.ops.aten, (other[1] if other else path).split(".")[-1], None)
    return packet is not None and any(torch.Tag.pointwise in getattr(packet, name).tags for name in packet.overloads())


def _without_options(inputs: tuple) -> tuple:
    """The inputs of a factory, whose `out=` says dtype and device itself, and those of anything else as they are."""
    return tuple(name for name in inputs if name not in _OPTIONS) if set(_OPTIONS) <= set(inputs) else inputs


def _only_inplace(schema) -> bool:
    name = schema.name[6:]
    return (name.endswith("_") and _mutates(schema) and not _is_out(schema) and _on_tensors(schema)
            and not _ON_STORAGE.search(str(schema)) and hasattr(torch.Tensor, name))


def _key(schema) -> tuple:
    return schema.name[6:], tuple(a.name for a in schema.arguments if not a.is_out)


def _label(schema) -> str:
    return schema.name[6:] + (f".{schema.overload_name}" if schema.overload_name else "")


def _is_out(schema) -> bool:
    return any(a.is_out for a in schema.arguments)


def _mutates(schema) -> bool:
    return any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)


def _on_tensors(schema) -> bool:
    types = [str(a.type) for a in (*schema.arguments, *schema.returns)]
    return any("Tensor" in t for t in types) and not _NOT_TENSOR_PROGRAMS.search(str(schema))


def _type(argument) -> str:
    """aten's own spelling, which tells SymInt, ScalarType and the like from plain integers."""
    return str(argument.real_type).replace("SymInt", "int")


def _tags(schema):
    packet = getattr(torch.ops.aten, schema.name[6:], None)
    overload = getattr(packet, schema.overload_name or "default", None)
    return getattr(overload, "tags", [])


@lru_cache(maxsize=1)
def renamed() -> dict:
    """The public names of functions that `torch.nn.functional` takes from C++ under other names."""
    return {value.__name__: name for name, value in vars(torch.nn.functional).items()
            if isinstance(value, types.BuiltinFunctionType) and name[0] != "_" and value.__name__ != name}


def _public_path(name: str) -> str:
    for prefix, module in _PREFIXES.items():
        if name.startswith(prefix) and hasattr(getattr(torch, module), name[len(prefix):]):
            return f"{module}.{name[len(prefix):]}"
    for root, module in (("", torch), ("Tensor.", torch.Tensor), ("nn.functional.", torch.nn.functional)):
        if callable(getattr(module, name, None)):
            return root + name
    return f"nn.functional.{renamed()[name]}" if name in renamed() else ""
