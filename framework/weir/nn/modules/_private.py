"""Private names of PyTorch's modules that libraries import or subclass."""
import copy
from collections import OrderedDict

import weir
from weir.nn import _reduction as _Reduction  # noqa: F401
from weir.nn import functional as F

from ._hooks import _shared
from ._state import _IncompatibleKeys  # noqa: F401
from .batchnorm import _InstanceNorm  # noqa: F401
from .container import ModuleList
from .dropout import _DropoutNd  # noqa: F401

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_grad_t = weir.Tensor
(_global_forward_hooks, _global_forward_pre_hooks, _global_backward_hooks, _global_backward_pre_hooks, _global_forward_hooks_with_kwargs,
 _global_forward_hooks_always_called) = (_shared.setdefault(kind, OrderedDict()) for kind in (
     "forward", "forward_pre", "backward", "backward_pre", "with_kwargs", "always_call"))
_shape_t = int


def _addindent(s_, numSpaces):
    """The text with its lines but the first indented."""
    first, *rest = s_.split("\n")
    return "\n".join([first] + [numSpaces * " " + line for line in rest])


def _copy_to_script_wrapper(fn):
    return fn


def _get_clones(module, N):
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_activation_fn(activation):
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _generate_square_subsequent_mask(sz, device=None, dtype=None):
    """Minus infinity above the diagonal, zeros elsewhere. Shape: (sz, sz)."""
    return weir.triu(weir.full((sz, sz), float("-inf"), dtype=dtype, device=device), diagonal=1)
