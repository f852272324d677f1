"""weir: a deep learning framework with PyTorch's API. `import weir as torch` is the one-line switch."""
import builtins as _builtins

from . import _C
from ._C import (Generator, Tensor, can_cast, cpu_capability, device, dtype, get_default_dtype, get_num_threads,
                 memory_format, promote_types, result_type, schema, set_default_dtype, set_num_threads)
from ._types import (Size, bfloat16, bool, cdouble, cfloat, channels_last, channels_last_3d, complex64, complex128,
                     contiguous_format, double, finfo, float, float16, float32, float64, half, iinfo, int, int8, int16, int32, int64, long, preserve_format,
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

from . import random as _random  # noqa: E402
from .random import (default_generator, fork_rng, get_rng_state, initial_seed, manual_seed, multinomial,  # noqa: E402
                     normal, rand, rand_like, randint, randint_like, randn, randn_like, randperm, seed, set_rng_state)
from . import amp, cuda, fft, linalg, masked, nn, optim, signal, special, utils  # noqa: E402
from .nn.functional.grid import grid_sampler, grid_sampler_2d, grid_sampler_3d  # noqa: E402,F401
from .amp import autocast, is_autocast_enabled  # noqa: E402
from ._tensor_str import set_printoptions  # noqa: E402

for _name, _f in _random.methods.items():
    _C._add_method(_name, _f)

strided = "strided"
sparse_coo, sparse_csr = "torch.sparse_coo", "torch.sparse_csr"  # layouts that weir has not: functions refuse them by name
complex32 = chalf = "torch.complex32"  # a dtype that weir has not, refused by name too
inf, nan, pi, e = _builtins.float("inf"), _builtins.float("nan"), 3.141592653589793, 2.718281828459045


def is_tensor(obj):
    """Is obj a Tensor?"""
    return isinstance(obj, Tensor)


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    """Number of elements."""
    return input.numel()



TYPE_CHECKING = False  # type checkers take this name for true, and so see the stubs of every op
if TYPE_CHECKING:
    from ._stubs import *  # noqa: F401,F403

from ._lazy import lazy_attributes as _lazy_attributes  # noqa: E402

#: Files bring zip and pickle with them: only who saves or loads pays for that.
__getattr__ = _lazy_attributes("weir", {"save": "serialization", "load": "serialization", "serialization": ""})
