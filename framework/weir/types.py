"""Types for annotations. Source: torch.types."""
import builtins
import os
from collections.abc import Sequence
from typing import Any, List, Optional, Tuple, Union  # noqa: F401

import weir
from weir import Size, Tensor  # noqa: F401
from weir._placeholders import SymBool, SymFloat, SymInt  # noqa: F401

_bool, _int, _float, _complex = builtins.bool, builtins.int, builtins.float, builtins.complex
_dtype, _device, _size = weir.dtype, weir.device, Union[Size, List[int], Tuple[int, ...]]
_qscheme, _layout = Any, Any
_symsize, _dispatchkey, _TensorOrTensors = _size, Any, Union[Tensor, Sequence[Tensor]]
_TensorOrTensorsOrGradEdge = _TensorOrTensors
Number = Union[int, float, bool]
Device = Union[weir.device, str, int, None]
FileLike = Union[str, "os.PathLike[str]", Any]
IntLikeType, FloatLikeType, BoolLikeType = Union[int, SymInt], Union[float, SymFloat], Union[bool, SymBool]
PySymType = Union[SymInt, SymFloat, SymBool]
py_sym_types = (SymInt, SymFloat, SymBool)
Storage = Any
