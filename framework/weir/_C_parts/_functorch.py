"""`torch._C._functorch`: what libraries ask of tensors inside `vmap` and `grad`, which wrap none here."""
from weir._absent import absent_names


def is_batchedtensor(tensor):
    """Has the tensor a hidden batch axis? Never: `func.vmap` is a loop."""
    return False


is_gradtrackingtensor = is_functionaltensor = is_functorch_wrapped_tensor = is_legacy_batchedtensor = is_batchedtensor


def maybe_get_level(tensor):
    """The transform that a tensor belongs to: none."""
    return -1


maybe_get_bdim = maybe_get_level


def get_unwrapped(tensor):
    """The tensor without its wrapper, of which there is none."""
    return tensor


__getattr__ = absent_names("weir._C._functorch", "_add_batch_dim _remove_batch_dim _vmap_increment_nesting _vmap_decrement_nesting "
                           "_grad_increment_nesting _grad_decrement_nesting _wrap_for_grad _unwrap_for_grad current_level TransformType "
                           "CInterpreter", "transforms are loops and backward passes here")
