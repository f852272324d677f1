"""What names the code of graphs has for values, and for objects that it finds without an import."""
import builtins
import keyword
import math
import re
import typing

import weir

from weir.fx import _pytree


class _CustomBuiltin(typing.NamedTuple):
    """What every graph's code finds by a name, and the line that imports it."""

    import_str: str
    obj: object


_custom_builtins: dict = {}
#: Names that no value of a graph may have.
_illegal_names: dict = {**dict.fromkeys(keyword.kwlist, object()), **vars(builtins)}


def _register_custom_builtin(name, import_str, obj):
    """Code of graphs finds obj by that name from now on."""
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)
    _illegal_names[name] = obj


for _name, _line, _object in (
        ("inf", "from math import inf", math.inf), ("nan", "from math import nan", math.nan), ("NoneType", "NoneType = type(None)", type(None)),
        ("torch", "import torch", weir), ("device", "from torch import device", weir.device),
        ("fx_pytree", "import torch.fx._pytree as fx_pytree", _pytree), ("pytree", "import torch.utils._pytree as pytree", weir.utils._pytree)):
    _register_custom_builtin(_name, _line, _object)


def _is_from_torch(obj):
    """Does the package hold obj?"""
    module = getattr(obj, "__module__", None)
    if module is not None:
        return module.partition(".")[0] in ("torch", "weir") and not module.partition(".")[2].startswith("_dynamo")
    name = getattr(obj, "__name__", None)
    return name not in (None, "torch", "weir") and any(getattr(place, name, None) is obj for place in (weir, weir.nn.functional))


class _Namespace:
    """Names, each of one value: none is a keyword or a name of Python's own, and no two are the same."""

    def __init__(self):
        self._obj_to_name, self._used_names, self._base_count = {}, set(), {}

    def create_name(self, candidate, obj):
        """The name of obj, made from the candidate where it has none yet; a new one where obj is None."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        base, number = re.fullmatch(r"([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?", candidate).groups()
        if number is None or candidate in self._used_names:
            number = self._base_count.get(base, 0)
            if _illegal_names.get(candidate, obj) is not obj:
                number += 1
                candidate = f"{base}_{number}"
        number = int(number)
        while candidate in self._used_names:
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name, obj):
        """Says that obj has the name. AssertionError where it has another."""
        if self._obj_to_name.setdefault(obj, name) is not name:
            raise AssertionError("obj is already associated")

    def _rename_object(self, obj, name):
        if obj not in self._obj_to_name:
            raise AssertionError(f"Object {obj} is not in _obj_to_name")
        self._obj_to_name[obj] = name
        self._used_names.add(name)
