"""Small helpers of `torch.utils`."""


def swap_tensors(t1, t2):
    """NotImplementedError: a tensor's object cannot take over another's memory and history."""
    raise NotImplementedError("swap_tensors: weir cannot swap the objects of two tensors")


def set_module(obj, mod):
    """Sets the module that a function or class names as its own."""
    obj.__module__ = mod
