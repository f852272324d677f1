"""What to pass for a parameter, from its type and name; shapes that belong together come from one pool.

`shapes.json` holds the few operations whose parameters constrain each other's shapes. Its language: letters are sizes
drawn once per case (lower case: small, as kernels are; `Hx`: spatial extents), `space`, `kernel` and `ones` stand for as
many of them as the operation's name has dimensions, `|` separates alternatives, `below V` makes an index tensor (`within V`: one with no index beside it), and a
list gives constants.
"""

import json
import re
from functools import lru_cache
from math import prod
from pathlib import Path

from ..cases import dtypes
from ..cases.case import Case, Named, TensorSpec, row_major
from . import fill
from .choices import Choices
from .signature import Overload, Parameter

_DIMS = {"dim", "dim0", "dim1", "dim2", "axis", "axis0", "axis1", "source", "destination", "start_dim", "end_dim",
         "dimension", "dims"}
_INDEX_TENSORS = {"index", "indices", "repeats", "batch_sizes", "pivots", "LU_pivots"}
_MASKS = {"mask", "input_mask", "other_mask", "condition"}
_CONJUGATED = 0.2  # of complex tensors
_PER_DIMENSION = {"space": "Hx Wx Dx", "kernel": "k h k", "ones": "1 1 1"}
_OMITTED = ("Generator", "Stream")
_OTHER_DTYPES = ("float32", "int64", "bool", "float64", "int32", "uint8", "bfloat16", "float16")


class Impossible(Exception):
    """The parameter has a type nothing can be made for."""


def make(overload: Overload, dtype: str, choices: Choices, grad: float = 0.6, given: list = (), storages: list | None = None
         ) -> Case:
    """A call of `overload` whose tensors mostly have `dtype`; valid more often than not.

    `grad` is the probability that floating inputs require gradients. `given` are Refs to tensors that exist already and
    are taken where they fit; new ones go into `storages`.
    """
    call = Call(overload, dtype, choices, grad)
    call.given = list(given)
    if storages is not None:
        call.storages = storages
    return call.case()


def value(overload: Overload, parameter: Parameter, dtype: str, choices: Choices):
    """Something to pass for one parameter that takes no tensor. Raises Impossible."""
    return Call(overload, dtype, choices, 0.0)._value(parameter)


class Call:
    """One call being made: its pool of sizes and the tensors so far."""

    def __init__(self, overload: Overload, dtype: str, choices: Choices, grad: float):
        self._overload = overload
        self._dtype = dtype
        self._choices = choices
        self._rules = _rules(overload.operation)
        self._sizes: dict = {}
        self.storages: list = []
        self._tensors: list = []
        self.given: list = []
        self._grad = choices.chance(grad)
        rare = choices.rare(_LARGE, _SUMMED if dtype in _HALVES and not overload.pointwise else 0.0)
        self._large, self._summed = rare == 1, rare == 2
        self._dim = 0  # along which a call with an index sums
        if self._summed:
            self._shape = choices.pick(_SUMS)
        elif self._large:
            self._shape = choices.pick(_LONG if overload.pointwise else _WIDE)
        else:
            self._shape = tuple(choices.pick(_EXTENTS) for _ in range(choices.pick(_RANKS)))

    def case(self) -> Case:
        args, kwargs = [], {}
        for parameter in self._overload.parameters:
            if parameter.name == "pin_memory" or any(kind in parameter.type for kind in _OMITTED):
                continue  # pinning asks for an accelerator, a generator for an object of the framework's
            optional = parameter.has_default
            if optional and not self._choices.chance(0.4):
                continue
            value = self._value(parameter)
            positional = not parameter.keyword_only and not kwargs and len(args) == self._overload.parameters.index(parameter)
            alias = _ALIASES.get(parameter.name, "") if args and not self._overload.family and not self._overload.written and self._choices.chance(_ALIASED) else ""
            if positional and not alias and (not optional or self._choices.chance(0.5)):
                args.append(value)
            else:
                kwargs[alias or parameter.name] = value
        return Case(tuple(args), kwargs, self.storages)

    def _value(self, parameter: Parameter):
        rule = self._rules.get(parameter.name)
        if isinstance(rule, list):
            chosen = self._choices.pick(rule)
            return [self._size(letter) for letter in chosen.split()] if isinstance(chosen, str) else chosen
        if parameter.options:
            return self._choices.pick(parameter.options)
        kind = parameter.type
        if kind.startswith("Optional["):
            if self._choices.chance(0.15):
                return None
            kind = kind[9:-1]
        if kind == "Tensor":
            return self._tensor(parameter.name, rule)
        if kind.startswith("List["):
            return self._list(kind[5:-1], parameter, rule)
        maker = _SCALARS.get(kind)
        if maker is None:
            raise Impossible(f"{self._overload}: {parameter.name} of type {parameter.type}")
        return maker(self, parameter.name)

    # Tensors.

    def _tensor(self, name: str, rule: str | None = None):
        if self._tensors and rule is None and self._choices.chance(0.03):
            return self._choices.pick(self._tensors)
        dtype, kind, size = self._dtype, None, None
        if rule is not None:
            dtype, kind, size = self._ruled(rule)
        elif name in _INDEX_TENSORS:
            dtype, kind, size = "int64", ("below", self._choices.pick((2, 1, 3))), self._index_size()
        elif name in _MASKS:
            dtype = "bool"
        elif self._tensors and self._choices.chance(0.1):
            dtype = self._choices.pick(_OTHER_DTYPES)
        if size is None:
            if kind is None and (existing := self._existing(dtype)) is not None:
                return existing
            size = self._shape if not self._tensors else self._relative()
        return self._new(dtype, kind or self._fill(), size)

    def _existing(self, dtype: str):
        """A tensor that is there already: any for the first argument, one of its size for the others."""
        fitting = [ref for ref in self.given if (ref.dtype == dtype if dtype == "bool" else True)
                   and (not self._tensors or ref.size == self._shape)]
        if not fitting or not self._choices.chance(0.75):
            return None
        chosen = self._choices.pick(fitting[::-1])  # the newest first
        if not self._tensors:
            self._shape = chosen.size
        self._tensors.append(chosen)
        return chosen

    def _fill(self) -> str:
        return self._choices.pick(_TERMS if self._summed else _FILLS)

    def _index_size(self) -> tuple:
        if "gather" in self._overload.name or "scatter" in self._overload.name or "take_along" in self._overload.name:
            return tuple(self._choices.between(0, n) if self._choices.chance(0.4) else n for n in self._shape)
        if self._summed:
            return (self._shape[self._dim],)
        return (self._choices.pick((2, 1, 3, 0)),)

    def _ruled(self, rule: str) -> tuple:
        words = self._choices.pick(rule.split("|")).split()
        dtype, kind = self._dtype, None
        if words[:1] in (["below"], ["within"]):
            dtype, kind, words = "int64", (words[0], self._size(words[1])), words[2:]
        elif words[:1] == ["bool"]:
            dtype, words = "bool", words[1:]
        elif words[:1] == ["unit"]:
            kind, words = "unit", words[1:]
        size = tuple(self._size(word) for word in words)
        if self._choices.chance(0.04):  # so that shape errors are asked of every operation
            size = size[1:] if self._choices.chance(0.5) else (*size, 2)
        return dtype, kind, size

    def _size(self, letter: str) -> int:
        if letter.isdigit():
            return int(letter)
        if letter.startswith("G*"):
            return {"gru": 3, "lst": 4}.get(self._overload.name[:3], 1) * self._size(letter[2:])
        if letter not in self._sizes and self._summed and not letter.islower() and _MANY not in self._sizes.values() and self._choices.chance(0.4):
            self._sizes[letter] = _MANY
        if letter not in self._sizes:
            pool = _KERNELS if letter.islower() else _SPATIAL if letter.endswith("x") else _THRESHOLDS if self._large else _EXTENTS
            self._sizes[letter] = self._choices.pick(pool)
        return self._sizes[letter]

    def _relative(self) -> tuple:
        """A size that broadcasts with the case's shape, mostly the same one."""
        how = self._choices.pick(_RELATIONS)
        if how == "same":
            return self._shape
        if how == "tail":
            return self._shape[self._choices.below(len(self._shape) + 1):]
        if how == "ones":
            return tuple(1 if self._choices.chance(0.5) else n for n in self._shape)
        if how == "longer":
            return (self._choices.pick((2, 1, 3)), *self._shape)
        if how == "scalar":
            return ()
        return tuple(self._choices.pick(_EXTENTS) for _ in range(self._choices.pick(_RANKS)))

    def _new(self, dtype: str, kind, size: tuple) -> TensorSpec:
        stride, offset, length = fill.layout(self._choices, size)
        if length > fill.LONGEST:
            size = tuple(min(n, _LARGEST_EXTENT) for n in size)
            stride, offset, length = row_major(size), 0, prod(size)
        self.storages.append((dtype, fill.data(dtype, kind, fill.where(self._choices), length)))
        grad = self._grad and dtype in dtypes.EPSILON and not self._choices.chance(0.2)
        at = len(self.storages) - 1  # one tensor, one storage: its number names both
        conj = dtype.startswith("complex") and self._choices.chance(_CONJUGATED)
        spec = TensorSpec(at, dtype, size, stride, offset, at, grad, conj)
        self._tensors.append(spec)
        return spec

    def _numpy(self, dtype: str, kind, size: tuple, stride: tuple, offset: int, length: int) -> TensorSpec:
        """A NumPy array: no tensor that others may be like."""
        self.storages.append((dtype, fill.data(dtype, kind, fill.where(self._choices), length)))
        at = len(self.storages) - 1
        return TensorSpec(at, dtype, size, stride, offset, at, False, numpy=True)

    # Lists.

    def _list(self, kind: str, parameter: Parameter, rule):
        if kind in ("Tensor", "Optional[Tensor]"):
            return self._tensor_list(parameter.name, rule)
        if kind == "int":
            return self._int_list(parameter)
        if kind in ("float", "number"):
            return [self._float(parameter.name) for _ in range(self._choices.pick((1, 2)))]
        raise Impossible(f"{self._overload}: {parameter.name} of type {parameter.type}")

    def _tensor_list(self, name: str, rule) -> list:
        if name == "indices":
            count = self._choices.between(1, max(1, min(len(self._shape), 3)))
            return [self._new("int64", ("below", 2), self._shape[:1] if self._summed else (2,)) for _ in range(count)]
        return [self._tensor(name, rule) for _ in range(self._choices.pick((2, 1, 3)))]

    def _int_list(self, parameter: Parameter):
        name, rank = parameter.name, self._first_rank()
        if name in ("kernel_size", "stride", "dilation", "padding", "output_padding", "output_size") and parameter.size:
            low, high = _WINDOW[name]
            count = parameter.size if self._choices.chance(0.9) else self._choices.between(1, 3)
            return [self._choices.between(low, high) for _ in range(count)]
        if name in _DIMS and name not in ("dims",) or "flip" in self._overload.name or "permute" in self._overload.name:
            return self._axes(rank, parameter)
        return [self._choices.pick(_SMALL) for _ in range(self._choices.pick((2, 1, 3)))] if name not in _SIZES else self._sizes_for(name)

    def _axes(self, rank: int, parameter: Parameter) -> list:
        axes = list(range(rank))
        for i in range(rank - 1, 0, -1):  # a shuffle by choices
            j = i - self._choices.below(i + 1)
            axes[i], axes[j] = axes[j], axes[i]
        if "permute" not in self._overload.name:
            axes = axes[:self._choices.between(0 if not parameter.size else parameter.size, max(rank, parameter.size))]
        if self._choices.chance(0.05):
            axes.append(self._choices.pick((0, 7, -9)))
        return [axis - rank if self._choices.chance(0.3) else axis for axis in axes]

    def _sizes_for(self, name: str) -> list:
        base = list(self._tensors[0].size) if self._tensors else [self._choices.pick(_EXTENTS) for _ in range(self._choices.pick(_RANKS))]
        operation = self._overload.operation
        if not self._tensors or operation.startswith(("new_", "empty")):
            return base
        if operation in ("repeat", "tile"):
            return [self._choices.pick((1, 2, 0)) for _ in range(len(base) + self._choices.below(2))]
        if operation in ("expand", "expand_copy", "broadcast_to"):
            grown = [self._choices.pick((2, 3)) if n == 1 else -1 if self._choices.chance(0.3) else n for n in base]
            return [self._choices.pick((1, 2)) for _ in range(self._choices.below(2))] + grown
        if name == "split_sizes":
            total = base[0] if base else 1
            first = self._choices.between(0, total)
            return [first, total - first]
        if self._choices.chance(0.05):
            return [*base, 2]
        return self._regrouped(base)

    def _regrouped(self, base: list) -> list:
        """Sizes with the same number of elements."""
        sizes = list(base)
        if len(sizes) >= 2 and self._choices.chance(0.5):
            at = self._choices.below(len(sizes) - 1)
            sizes[at:at + 2] = [sizes[at] * sizes[at + 1]]
        if self._choices.chance(0.3):
            sizes.insert(self._choices.below(len(sizes) + 1), 1)
        if sizes and self._choices.chance(0.3):
            sizes[self._choices.below(len(sizes))] = -1
        return sizes

    # Scalars.

    def _first_rank(self) -> int:
        return len(self._tensors[0].size) if self._tensors else len(self._shape)

    def _first_extent(self) -> int:
        return self._tensors[0].size[0] if self._tensors and self._tensors[0].size else 1

    def _int(self, name: str) -> int:
        if name in _DIMS:
            rank = max(self._first_rank(), 1)
            if self._choices.chance(0.04):
                return self._choices.pick((rank, -rank - 1))
            axis = self._choices.below(rank)
            self._dim = min(axis, len(self._shape) - 1)
            return axis - rank if self._choices.chance(0.3) else axis
        if name in ("index", "start", "k", "length", "end"):
            extent = self._first_extent()
            return self._choices.between(0, max(extent, 1)) - (1 if self._choices.chance(0.5) else 0)
        if name in _INTS:
            return self._choices.pick(_INTS[name])
        return self._choices.pick(_SMALL)

    def _float(self, name: str) -> float:
        return self._choices.pick(_FLOATS.get(name, _ANY_FLOAT))

    def _number(self, name: str):
        if self._dtype == "bool" and self._choices.chance(0.3):
            return self._choices.chance(0.5)
        if name in ("start", "end", "step"):
            return self._choices.pick((1, 5, 0, 2.5, -3, 7))
        if self._choices.chance(0.5) and self._dtype in dtypes.EPSILON:
            return self._float(name)
        return self._choices.pick(_SMALL)

    def _bool(self, name: str) -> bool:
        return self._choices.chance(0.5)

    def _dtype_argument(self, name: str) -> Named:
        if self._choices.chance(0.05):
            return Named("type", self._choices.pick(("float", "int", "bool")))
        return Named("dtype", self._choices.pick((self._dtype, *_OTHER_DTYPES)))

    def _text(self, name: str) -> str:
        return self._choices.pick(_TEXTS.get((self._overload.operation, name)) or _TEXTS.get(name) or ("sum", "mean"))


#: NumPy's names of parameters, which PyTorch takes too where its own parser reads the call.
_ALIASES = {"dim": "axis", "keepdim": "keepdims", "other": "x2"}
_ALIASED = 0.05  # of the calls that have such a parameter
_LARGEST_EXTENT = 5  # of a tensor that would be too long; up to five of them fit
_EXTENTS = (2, 3, 1, 3, 4, 2, 5, 2, 3, 4, 2, 3, 1, 0)
#: Where kernels change their ways: vectors, blocks of products, rows, and the seams between threads.
_LARGE = 0.02  # of the calls
_LONG = ((32769,), (65600,), (3, 4097), (257, 130))  # for what is done element by element
_WIDE = ((2, 4097), (65, 64), (24, 65), (2049,), (257, 24))
_THRESHOLDS = (24, 64, 65, 257, 3)
#: Sums of so many halves that one which is itself a half loses terms: those of few lie within a rounding of each other, however they are added up.
_HALVES = ("bfloat16", "float16")
_SUMMED = 0.03  # of their calls, which take ten times as long as others
_MANY = 2503  # of such numbers float16 loses some from 2,048 on
_SUMS = ((_MANY,), (2, _MANY), (_MANY, 2), (2, _MANY, 3))
_TERMS = ("near", "near", "unit", "normal")  # those of one size are lost beside a large sum; others are rounded up as often as down
_RANKS = (1, 2, 2, 3, 2, 3, 1, 2, 0, 3, 4, 4, 5)
_KERNELS = (1, 2, 3, 2)
_SPATIAL = (5, 4, 6, 7, 3)
_RELATIONS = ("same",) * 8 + ("tail", "ones", "longer", "scalar", "ones", "any")
_FILLS = ("whole", "normal", "normal", "unit", "wide", "special")
_SMALL = (1, 2, 0, 3, -1, 4, -2)
_ANY_FLOAT = (0.5, 1.0, 2.0, 0.0, -1.5, 0.1, 2.0039)  # the last two are no halves
_SIZES = {"size", "shape", "split_sizes", "repeats", "sizes", "dims"}
_WINDOW = {"kernel_size": (1, 3), "stride": (1, 2), "dilation": (1, 2), "padding": (0, 1), "output_padding": (0, 1),
           "output_size": (1, 4)}
_INTS = {"groups": (1, 1, 1, 2), "reduction": (0, 1, 2), "diagonal": (0, 1, -1, 2), "offset": (0, 1, -1, 2),
         "chunks": (1, 2, 3), "sections": (1, 2, 3), "split_size": (1, 2, 3), "steps": (1, 5, 0, 3),
         "window_length": (1, 5, 0, 8), "n": (2, 1, 3, 5), "N": (2, 1, 3), "size": (1, 2, 3), "step": (1, 2, 3),
         "bins": (1, 4, 10), "upscale_factor": (1, 2), "downscale_factor": (1, 2), "num_classes": (-1, 3, 10),
         "high": (5, 10, 2), "low": (0, 1, -3), "decimals": (0, 1, -1, 3), "repeats": (1, 2, 0),
         "num_samples": (1, 2), "p": (1, 2, 3), "minlength": (0, 5), "blank": (0, 3), "n_fft": (4, 2),
         "divisor_override": (1, 2, 3), "ignore_index": (-100, 0, 1), "correction": (1, 0, 2)}
_FLOATS = {"p": (0.5, 0.0, 1.0, 2.0), "eps": (1e-5, 1e-3), "momentum": (0.1, 0.5), "dropout": (0.0, 0.5),
           "dropout_p": (0.0,), "q": (0.5, 0.0, 1.0), "alpha": (1.0, 0.5, 2.0, 0.0), "rtol": (1e-5, 1e-2), "rcond": (1e-5, 1e-2),
           "atol": (1e-8, 1e-2), "std": (1.0, 0.5), "delta": (1.0, 0.5), "beta": (1.0, 0.5, 2.0, 0.0)}
_TEXTS = {"reduce": ("sum", "prod", "mean", "amax", "amin", "max", "min"), "interpolation": ("linear", "lower", "higher", "midpoint", "nearest"),
          "UPLO": ("L", "U"), "padding": ("valid", "same"), "indexing": ("ij", "xy"), "approximate": ("none", "tanh"),
          "ord": ("fro", "nuc"), "norm": ("backward", "ortho", "forward"), "rounding_mode": ("floor", "trunc"),
          "side": ("left", "right"), "driver": ("gels", "gelsd"), "p": ("fro", "nuc"), "pad_mode": ("reflect", "constant"),
          ("pad", "mode"): ("constant", "reflect", "replicate", "circular"), ("linalg_qr", "mode"): ("reduced", "complete", "r"),
          ("scatter", "reduce"): ("add", "multiply"), "reduction": ("mean", "sum", "none"), "nonlinearity": ("tanh", "relu"),
          **{(name, "mode"): ("nearest", "bilinear", "bilinear", "bicubic", "nearest-exact", "linear", "trilinear", "area") for name in ("interpolate", "upsample", "nn.Upsample")},
          ("grid_sample", "mode"): ("bilinear", "nearest", "bicubic"), ("grid_sample", "padding_mode"): ("zeros", "border", "reflection"),
          ("nn.EmbeddingBag", "mode"): ("mean", "sum", "max"), "activation": ("relu", "gelu"), "padding_mode": ("zeros", "reflect", "replicate", "circular"),
          "equation": ("i->i", "ij->ji", "ij,jk->ik", "i,i->", "ii->i", "...i->...")}
_SCALARS = {"int": Call._int, "float": Call._float, "number": Call._number, "bool": Call._bool,
            "ScalarType": Call._dtype_argument, "str": Call._text, "complex": Call._number,
            "Device": lambda call, name: Named("device", "cpu"), "Layout": lambda call, name: Named("layout", "strided"),
            "MemoryFormat": lambda call, name: Named("memory_format", call._choices.pick(
                ("contiguous_format", "preserve_format", "channels_last")))}


@lru_cache(maxsize=None)
def _rules(operation: str) -> dict:
    found: dict = {}
    for pattern, rule in _table():
        if pattern.fullmatch(operation):
            found = {**rule, **found}
    dimensions = re.search(r"(\d)d", operation)
    rank = int(dimensions[1]) if dimensions else 2
    return {name: _expanded(rule, rank) if isinstance(rule, str) else rule for name, rule in found.items()}


def _expanded(rule: str, rank: int) -> str:
    for word, letters in _PER_DIMENSION.items():
        rule = rule.replace(word, " ".join(letters.split()[:rank]))
    return rule


@lru_cache(maxsize=1)
def _table() -> list:
    rows = json.loads((Path(__file__).parent / "shapes.json").read_text())
    return [(re.compile(pattern), rule) for pattern, rule in rows.items()]
