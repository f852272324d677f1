"""Functional forms of the modules, under PyTorch's names; by family in the files beside this one.

Source: torch.nn.functional's documented signatures. Arguments are checked before any work.
"""

from .activation import *  # noqa: F401,F403
from .attention import *  # noqa: F401,F403
from .conv import *  # noqa: F401,F403
from .distance import *  # noqa: F401,F403
from .dropout import *  # noqa: F401,F403
from .grid import *  # noqa: F401,F403
from .linear import *  # noqa: F401,F403
from .loss import *  # noqa: F401,F403
from .loss_margin import *  # noqa: F401,F403
from .loss_sequence import *  # noqa: F401,F403
from .norm import *  # noqa: F401,F403
from .pad import *  # noqa: F401,F403
from .pool import *  # noqa: F401,F403
from .pool_adaptive import *  # noqa: F401,F403
from .pool_fractional import *  # noqa: F401,F403
from .resize import *  # noqa: F401,F403
from .vision import *  # noqa: F401,F403


def __getattr__(name):
    """Names that libraries import from here beside the functions."""
    import importlib
    for words, module in (("handle_torch_function has_torch_function has_torch_function_unary has_torch_function_variadic", "weir.overrides"),
                          ("BroadcastingList1 BroadcastingList2 BroadcastingList3 boolean_dispatch", "weir._jit_internal"),
                          ("Tensor", "weir"), ("grad", "weir.nn"),
                          ("_canonical_mask _none_or_dtype _mha_shape_check _check_key_padding_mask _in_projection _in_projection_packed "
                           "_verify_batch_size _verify_spatial_size _Reduction", "weir.nn.functional._private")):
        if name in words.split():
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'weir.nn.functional' has no attribute '{name}'")
