"""`torch._C._functorch`: what libraries ask of tensors inside `vmap`, and in `grad`, which wraps none here."""
import _weir
from weir._absent import absent_names


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


__getattr__ = absent_names("weir._C._functorch", "_add_batch_dim _remove_batch_dim _vmap_increment_nesting _vmap_decrement_nesting "
                           "_grad_increment_nesting _grad_decrement_nesting _wrap_for_grad _unwrap_for_grad current_level TransformType "
                           "CInterpreter", "transforms are loops and backward passes here")
