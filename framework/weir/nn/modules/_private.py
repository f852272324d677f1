"""Private names of PyTorch's modules that libraries import or subclass."""
import copy
import warnings
from collections import OrderedDict
from typing import Protocol

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
for _table, _kind in (("forward_hooks", "forward"), ("forward_pre_hooks", "forward_pre"), ("backward_hooks", "backward"), ("backward_pre_hooks", "backward_pre"),
                      ("forward_hooks_with_kwargs", "with_kwargs"), ("forward_hooks_always_called", "always_call"), ("parameter_registration_hooks", "parameter"),
                      ("buffer_registration_hooks", "buffer"), ("module_registration_hooks", "module")):
    globals()["_global_" + _table] = _shared.setdefault(_kind, OrderedDict())
_shape_t = int


def _addindent(s_, numSpaces):
    """The text with its lines but the first indented."""
    first, *rest = s_.split("\n")
    return "\n".join([first] + [numSpaces * " " + line for line in rest])


class _LazyProtocol(Protocol):
    """What a lazily shaped module has, for annotations."""


def apply_permutation(tensor, permutation, dim=1):
    """tensor with the places of an axis in the order `permutation`. Deprecated in PyTorch."""
    warnings.warn("`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead", FutureWarning, stacklevel=2)
    return tensor.index_select(dim, permutation)


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
