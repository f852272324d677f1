"""The failure database: cases that once failed, as JSON files that any later version can replay.

A file holds the case itself, bytes included, and not how it was generated, so that it outlives changes to the
generator. What is expected is asked of the oracle anew at each replay.
"""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from weir_reports.hashing import digest

from .case import Case, Made, Named, TensorSpec, tensors_of
from .objects import CASES, Built, Power, parts, tensors
from .program import Program, Ref, Step
from .target import Target

SCHEMA = "weir.case/v1"


@dataclass(frozen=True)
class Entry:
    """A stored case, of any kind: `property` is what once failed, `reason` how."""

    name: str
    op: str
    property: str
    reason: str
    target: Target
    case: object


def save(folder: Path, item, failure) -> Path:
    """Writes the case of `item` into `folder`; the name is the op and a digest of the case."""
    content = {"schema": SCHEMA, "op": failure.overload, "property": failure.property, "reason": failure.reason,
               "path": item.target.paths[0], **encode(item.case)}
    identity = {key: value for key, value in content.items() if key != "reason"}
    path = folder / f"{failure.overload}.{failure.property}.{digest(identity)[:10]}.json".lower()
    folder.mkdir(parents=True, exist_ok=True)
    fields = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
    path.write_text(f"{{\n{fields}\n}}\n")
    return path


def load(path: Path) -> Entry:
    """The entry in file `path`. Raises ValueError if it is not one."""
    content = json.loads(path.read_text())
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise ValueError(f"{path} is not a {SCHEMA} file")
    target = Target(f"torch.{content['path']}", [content["path"]])
    return Entry(path.stem, content["op"], content["property"], content["reason"], target, decode(content))


def entries(folder: Path) -> list[Entry]:
    """All entries of `folder`, by name."""
    return [load(path) for path in sorted(folder.glob("*.json"))]


def encode(case) -> dict:
    """`case` as JSON; floats keep every bit, as hexadecimal text."""
    if isinstance(case, Program):
        steps = [{"path": step.target.paths[0], "inplace": step.inplace, "args": _to_json(step.args),
                  "kwargs": _to_json(step.kwargs)} for step in case.steps]
        return {"steps": steps, "storages": _bytes_to_json(case.storages)}
    for kind, made in CASES.items():
        if isinstance(case, made):
            return {"kind": kind, **{name: _to_json(part) for name, part in parts(case).items()},
                    "storages": _bytes_to_json(case.storages)}
    return {"relation": case.relation, "differentiate": case.differentiate,
            "args": _to_json(case.args), "kwargs": _to_json(case.kwargs),
            "storages": _bytes_to_json(case.storages)}


def _bytes_to_json(storages: list) -> list:
    return [[dtype, base64.b64encode(data).decode()] for dtype, data in storages]


def decode(content: dict):
    """The case that `encode` wrote. Raises ValueError for anything it did not write."""
    storages = [(dtype, base64.b64decode(data)) for dtype, data in content["storages"]]
    if "kind" in content:
        made = CASES.get(content["kind"])
        if made is None:
            raise ValueError(f"an unknown kind of case: {content['kind']!r}")
        given = {name: _from_json(content[name]) for name in parts(made()) if name in content}
        return _checked(made(**given, storages=storages), tensors)
    if "steps" in content:
        return Program(storages, [Step(Target(f"torch.{step['path']}", [step["path"]]), _from_json(step["args"]),
                                       _from_json(step["kwargs"]), step["inplace"]) for step in content["steps"]])
    return _checked(Case(_from_json(content["args"]), _from_json(content["kwargs"]), storages,
                         relation=content["relation"], differentiate=content["differentiate"]), tensors_of)


def _checked(case, specs):
    for spec in specs(case):
        if not 0 <= spec.storage < len(case.storages):
            raise ValueError(f"tensor {spec.id} names storage {spec.storage}, of {len(case.storages)}")
    return case


def _to_json(value):
    if isinstance(value, np.generic):  # before Python's own numbers, of which some are
        return {"scalar": [str(value.dtype), base64.b64encode(value.tobytes()).decode()]}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, list):
        return [_to_json(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_to_json(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": {key: _to_json(item) for key, item in value.items()}}
    if isinstance(value, slice):
        return {"slice": [_to_json(part) for part in (value.start, value.stop, value.step)]}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, Named):
        return {"named": [value.kind, value.name]}
    if isinstance(value, Power):
        return {"power": value.base.hex()}
    if isinstance(value, Made):
        return {"made": [value.path, _to_json(value.args), _to_json(value.kwargs)]}
    if isinstance(value, Built):
        return {"built": [value.path, _to_json(value.kwargs)]}
    if isinstance(value, Ref):
        return {"ref": [value.step, value.output, value.dtype, list(value.size), value.requires_grad]}
    return {"tensor": {"id": value.id, "dtype": value.dtype, "size": list(value.size), "stride": list(value.stride),
                       "offset": value.offset, "storage": value.storage, "requires_grad": value.requires_grad,
                       **{name: True for name in ("conj", "numpy") if getattr(value, name)}}}


def _tensor(fields: dict) -> TensorSpec:
    return TensorSpec(fields["id"], fields["dtype"], tuple(fields["size"]), tuple(fields["stride"]), fields["offset"],
                      fields["storage"], fields["requires_grad"], fields.get("conj", False), fields.get("numpy", False))


_READERS = {"float": float.fromhex, "complex": lambda parts: complex(*map(float.fromhex, parts)),
            "tuple": lambda items: tuple(map(_from_json, items)),
            "dict": lambda items: {key: _from_json(item) for key, item in items.items()},
            "slice": lambda parts: slice(*map(_from_json, parts)), "ellipsis": lambda _: Ellipsis, "range": lambda parts: range(*parts),
            "named": lambda parts: Named(*parts), "tensor": _tensor,
            "power": lambda base: Power(float.fromhex(base)),
            "made": lambda parts: Made(parts[0], *map(_from_json, parts[1:])),
            "scalar": lambda parts: np.frombuffer(base64.b64decode(parts[1]), parts[0])[0],
            "built": lambda parts: Built(parts[0], _from_json(parts[1])),
            "ref": lambda parts: Ref(*parts[:3], tuple(parts[3]), parts[4])}


def _from_json(value):
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    (kind, content), = value.items()
    if kind not in _READERS:
        raise ValueError(f"a case holds an unknown kind of value: {kind!r}")
    return _READERS[kind](content)
