"""Results as data: what an op returned or raised, readable without a framework."""

import dis
from dataclasses import dataclass

import numpy as np

from . import dtypes
from .case import Unmappable


@dataclass(frozen=True)
class Value:
    """A tensor, or a Python scalar whose dtype reads `python float`, `python int`, ..."""

    dtype: str
    shape: tuple
    data: bytes

    def array(self) -> np.ndarray:
        """The numbers, in an array of `shape`."""
        return dtypes.to_array(self.data, self.number_dtype).reshape(self.shape)

    @property
    def number_dtype(self) -> str:
        """The dtype of the numbers themselves."""
        return _PYTHON.get(self.dtype, self.dtype)

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


_PYTHON = {"python bool": "bool", "python int": "int64", "python float": "float64",
           "python complex": "complex128"}


#: Classes of a subject's errors that stand for others, set once in the subject's process.
STANDS_FOR: dict = {}
#: Stands among the names of an error by which nobody refuses a call: the framework's own Python asked something for what it does not have, as in
#: `int.is_floating_point`, or its compiled code came where its authors say that it cannot come.
SLIP = "slip"


@dataclass(frozen=True)
class Raised:
    """An exception, by the names of its classes from the most derived one."""

    names: tuple
    message: str

    @classmethod
    def of(cls, error: BaseException) -> "Raised":
        names = tuple(c.__name__ for c in type(error).__mro__)
        stands_for = tuple(STANDS_FOR[name] for name in names if name in STANDS_FOR)
        return cls(names + stands_for + ((SLIP,) if _is_slip(error) else ()), str(error)[:400])

    def __str__(self) -> str:
        first_line = self.message.strip().split("\n")[0]
        return f"{self.names[0]}: {first_line[:200]}"


def _is_slip(error: BaseException) -> bool:
    """Whether the interpreter itself met the error, in code that is neither the caller's nor compiled: by no `raise`, in no call. Or an internal assertion
    failed, whose text calls that a bug of the framework; or its machinery stopped at something of its own, which no caller has said."""
    if any(text in str(error) for text in _OF_MACHINERY):
        return True
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    if at is None or at.tb_frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]:
        return False
    step = next((i.opname for i in dis.get_instructions(at.tb_frame.f_code) if i.offset == at.tb_lasti), "")
    of_sequence = isinstance(error, IndexError) and str(error) in _BEYOND_SEQUENCE
    return step.startswith("BINARY_SUBSCR") and (of_sequence or isinstance(error, KeyError)) or step.startswith(("LOAD_", "UNPACK_"))


#: What only machinery says: of its assertions, of the numbers in which it keeps sizes and counts places, of how it records writes, of a library that it
#: hands some dtypes to, and of NumPy's integers and truths, which it takes wherever it parses arguments itself.
_OF_MACHINERY = (
    "INTERNAL ASSERT FAILED",
    "SymIntArrayRef expected to contain only concrete integers",
    "cannot be represented as a SymInt",
    "numeric_limits<integer_t>::max() to be true",
    "Functions which modify views in-place must return a single Variable",
    "itensor_view_from_dense expects",
    "get_mkldnn_dtype: unsupported data type",
    "cond must be a bool, but got <class 'numpy.bool",
    "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not numpy.",
)
_BEYOND_SEQUENCE = ("tuple index out of range", "list index out of range", "string index out of range")


def flatten(result, W) -> tuple[str, list]:
    """The nesting of `result` and its leaves (framework tensors and Python values)."""
    found: list = []
    return _flatten(result, W, found), found


def _flatten(result, W, found: list) -> str:
    if isinstance(result, (tuple, list)):
        return "(" + ", ".join(_flatten(item, W, found) for item in result) + ")"
    if isinstance(result, dict):
        return "{" + ", ".join(f"{k}: {_flatten(v, W, found)}" for k, v in result.items()) + "}"
    found.append(result)
    if result is None:
        return "None"
    return "Tensor" if isinstance(result, W.Tensor) else type(result).__name__


def to_value(leaf, W) -> Value | None:
    """A result leaf as data. Raises Unmappable for sparse tensors and foreign objects."""
    if leaf is None:
        return None
    if isinstance(leaf, W.Tensor):
        return _tensor_value(leaf, W)
    for kind in (bool, int, float, complex):
        if type(leaf) is kind:
            name = f"python {kind.__name__}"
            return Value(name, (), np.asarray(leaf, dtype=_PYTHON[name]).tobytes())
    if isinstance(leaf, str):
        return Value("python str", (), leaf.encode())
    if isinstance(leaf, getattr(W, "dtype", ())):
        return Value("python str", (), dtypes.name_of(leaf).encode())
    raise Unmappable(f"result of type {type(leaf).__name__}")


def _tensor_value(tensor, W) -> Value:
    dtype = dtypes.name_of(tensor.dtype)
    layout = dtypes.name_of(getattr(tensor, "layout", "strided"))
    if layout != "strided" or not dtypes.is_known(dtype):
        raise Unmappable(f"{layout} {dtype} result")
    shown = tensor.detach()
    try:
        data = raw(shown, dtype, W)
    except (RuntimeError, TypeError):
        data = raw(_materialised(shown), dtype, W)
    return Value(dtype, tuple(tensor.shape), data)


def raw(tensor, dtype: str, W) -> bytes:
    """The bytes of a tensor that requires no gradient, in row-major order."""
    if dtype in dtypes.CARRIER:
        tensor = tensor.view(getattr(W, dtypes.CARRIER[dtype]))
    try:
        return tensor.numpy().tobytes()
    except ValueError as error:  # of an extent below zero, which PyTorch gives beside one of zero, or of more elements than there is memory
        raise Unmappable(f"tensor of shape {tuple(tensor.shape)}, which NumPy refuses: {error}") from error


def _materialised(tensor):
    """What NumPy cannot read as it is: conjugated and negated views, and tensors without memory of their own, such as the
    zero gradients of sgn."""
    plain = tensor.clone()
    for resolve in ("resolve_conj", "resolve_neg"):
        if hasattr(plain, resolve):
            plain = getattr(plain, resolve)()
    return plain.contiguous()
