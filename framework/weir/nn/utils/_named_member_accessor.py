"""Tensors of modules by name. Source: torch.nn.utils._named_member_accessor, which libraries import."""


_MISSING = object()  #: What stands for no tensor at all


def swap_tensor(module, name, tensor, allow_missing=False):
    """Puts `tensor` in the place of a parameter, buffer or tensor attribute; None or _MISSING takes it away. Returns what was there, _MISSING for
    nothing.

    AttributeError where nothing of the name is, unless allow_missing; TypeError for what is no tensor.
    """
    from weir import Tensor
    if "." in name:
        raise KeyError("tensor name can't contain \".\"")
    home = next((kept for kept in (module._parameters, module._buffers) if name in kept), module.__dict__)
    if name not in home and not allow_missing:
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    former = home.get(name, _MISSING)
    if former is not None and former is not _MISSING and not isinstance(former, Tensor):
        raise TypeError(f"attribute `{name}`: expected a tensor, got {type(former).__name__}")
    if tensor is None or tensor is _MISSING:
        home.pop(name, None)
    else:
        home[name] = tensor
    return former
