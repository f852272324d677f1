"""weir: a deep learning framework with PyTorch's API. `import weir as torch` is the one-line switch."""
import builtins as _builtins

from . import _C
from ._C import (Generator, Tensor, can_cast, cpu_capability, device, dtype, get_default_dtype, get_num_threads,
                 memory_format, promote_types, result_type, schema, set_default_dtype, set_num_threads)
from ._types import (Size, bfloat16, bool, channels_last, channels_last_3d, contiguous_format, double, finfo, float,
                     float16, float32, float64, half, iinfo, int, int8, int16, int32, int64, long, preserve_format,
                     short, uint8)
from . import _tensor, _tensor_str
from ._factories import (arange, as_tensor, asarray, empty, empty_like, empty_strided, eye, from_numpy, full, full_like,
                         linspace, logspace, ones, ones_like, scalar_tensor, tensor, zeros, zeros_like)

__version__ = "0.1.0"

#: Every op of the C++ registry that PyTorch has at the top level.
globals().update({_name: _f for _name, _f in _C.ops["torch"].items()})
_tensor.install(_tensor_str.tensor_repr)

from ._composites import *  # noqa: E402,F401,F403
from . import autograd  # noqa: E402
from .autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled  # noqa: E402
