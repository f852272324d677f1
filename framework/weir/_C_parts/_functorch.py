"""`torch._C._functorch`: what libraries ask of tensors inside `vmap`, and in `grad`, which wraps none here."""
import _weir
from _weir import _into_batch as _add_batch_dim  # noqa: F401
from _weir import _vmap_enter as _vmap_increment_nesting  # noqa: F401
from _weir import _vmap_leave as _vmap_decrement_nesting  # noqa: F401
from _weir import _vmap_level as current_level  # noqa: F401
from weir._absent import absent_names


def _remove_batch_dim(tensor, level, batch_size, out_dim):
    """The tensor with the axis of the level as axis `out_dim`; repeated where it does not differ between examples."""
    return _weir._out_of_batch(tensor, out_dim, level, batch_size)


def maybe_current_level():
    """The innermost vmap of this thread, None outside."""
    return current_level() or None


def is_batchedtensor(tensor):
    """Has the tensor a hidden batch axis?"""
    return bool(_weir._batch_axes(tensor))


is_functorch_wrapped_tensor = is_batchedtensor


def is_gradtrackingtensor(tensor):
    """Is the tensor wrapped by a `grad`? Never: gradients are recorded on the tensor itself."""
    return False


is_functionaltensor = is_legacy_batchedtensor = is_gradtrackingtensor


def maybe_get_level(tensor):
    """The innermost vmap that the tensor differs between the examples of, -1 for none."""
    axes = _weir._batch_axes(tensor)
    return axes[-1][0] if axes else -1


def maybe_get_bdim(tensor):
    """Where get_unwrapped shows the batch's axis: 0, or -1 where there is none."""
    return 0 if is_batchedtensor(tensor) else -1


def get_unwrapped(tensor):
    """The tensor with the axis of its innermost vmap in front."""
    axes = _weir._batch_axes(tensor)
    return _weir._out_of_batch(tensor, 0, *axes[-1]) if axes else tensor


__getattr__ = absent_names("weir._C._functorch", "_grad_increment_nesting _grad_decrement_nesting _wrap_for_grad _unwrap_for_grad TransformType "
                           "CInterpreter", "transforms are loops and backward passes here")
