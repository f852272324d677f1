"""weir: a deep learning framework with PyTorch's API. `import weir as torch` is the one-line switch."""
import builtins as _builtins

from . import _C
from ._C import (Generator, Tensor, can_cast, cpu_capability, device, dtype, get_default_dtype, get_num_threads,
                 memory_format, promote_types, result_type, schema, set_default_dtype, set_num_threads)
from ._types import (Size, bfloat16, bool, cdouble, cfloat, chalf, channels_last, channels_last_3d, complex32, complex64, complex128,
                     contiguous_format, double, finfo, float, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu,
                     float16, float32, float64, half, iinfo, int, int8, int16, int32, int64, legacy_contiguous_format, long, preserve_format, short, uint8, uint16, uint32, uint64)
from . import _absent_modules, _tensor, _tensor_str
from ._factories import as_tensor, asarray, frombuffer, from_numpy, tensor

__version__ = "0.1.0"

#: Every op of the C++ registry that PyTorch has at the top level. Of in-place forms those of functions of one tensor, for the most part; the others are methods.
_IN_PLACE = frozenset("""abs_ acos_ acosh_ addmv_ alpha_dropout_ as_strided_ asin_ asinh_ atan_ atanh_ ceil_ celu_ clamp_ clamp_max_ clamp_min_
    conj_physical_ cos_ cosh_ deg2rad_ dropout_ erf_ erfc_ exp2_ exp_ expm1_ feature_alpha_dropout_ feature_dropout_ fill_ floor_ frac_ gcd_ i0_
    index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ rad2deg_ reciprocal_ relu_ resize_as_ rrelu_ round_ rsqrt_ selu_ sigmoid_ sin_ sinc_
    sinh_ sqrt_ square_ tan_ tanh_ threshold_ trunc_ xlogy_""".split())
globals().update({_name: _f for _name, _f in _C.ops["torch"].items() if not _name.endswith("_") or _name in _IN_PLACE})
_tensor.install(_tensor_str.tensor_repr)
_absent_modules.install()

from ._composites import *  # noqa: E402,F401,F403
from . import autograd  # noqa: E402
from .autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled  # noqa: E402

from . import random as _random  # noqa: E402
from .random import (default_generator, fork_rng, get_rng_state, initial_seed, manual_seed,  # noqa: E402
                     seed, set_rng_state)
from . import amp, fft, linalg, masked, nn, optim, signal, special, utils  # noqa: E402
from .amp import autocast, is_autocast_enabled  # noqa: E402
from ._tensor_str import set_printoptions  # noqa: E402

for _name, _f in _random.methods.items():
    _C._add_method(_name, _f)

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

from . import _tensor_surface  # noqa: E402

_tensor_surface.install()


def _late_names():
    import importlib
    return importlib.import_module("weir._surface")  # `from . import` would ask `__getattr__` first


def __getattr__(name):
    """Names of the package that come from modules imported when first used: files, compilers, distributions and so on."""
    return _late_names().find(name)


def __dir__():
    return sorted({*globals(), *_late_names().names()})
