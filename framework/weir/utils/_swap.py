"""Small helpers of `torch.utils`."""

import copyreg
import weakref

import weir
from _weir import _swap_tensors, _use_count


def swap_tensors(t1, t2):
    """Exchanges what two Tensor objects are: class, attributes, memory and history; each stays the object that it is.

    RuntimeError where others hold one of them: a weak reference, a view, a saved tensor. Of a leaf that was used in a forward
    pass, the backward pass raises RuntimeError afterwards. NotImplementedError between a Tensor and one of a subclass, such as a
    Parameter. Source: torch.utils.swap_tensors.
    """
    pairs = (("t1", t1), ("t2", t2))
    for name, t in pairs:
        if weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = set(copyreg._slotnames(type(t1)))
    if slots != set(copyreg._slotnames(type(t2))):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name, t in pairs:
        _check_unshared(name, t)
    _swap_tensors(t1, t2)
    for slot in slots:
        values = [getattr(t, slot, _UNSET) for t in (t2, t1)]
        for t, value in zip((t1, t2), values):
            if value is not _UNSET:
                setattr(t, slot, value)
            elif hasattr(t, slot):
                delattr(t, slot)


_UNSET = object()


def _check_unshared(name, t):
    """RuntimeError unless the object alone holds its tensor, or beside it the end of a graph, which then refuses gradients."""
    if _use_count(t) == 1:
        return
    if _use_count(t) == 2 and t.is_leaf:
        node = weir.autograd.graph.get_gradient_edge(t).node
        if _use_count(t) == 2:  # the node was there before
            node.register_prehook(_refuse)
            return
    raise RuntimeError(f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node but got {_use_count(t)} make sure you are not "
                       "holding references to the tensor in other places.")


def _refuse(grad_outputs):
    raise RuntimeError("Trying to execute AccumulateGrad node that was poisoned by swap_tensors: the tensor was swapped between forward and backward.")


def set_module(obj, mod):
    """Sets the module that a function or class names as its own."""
    obj.__module__ = mod
