"""The graph of derivatives. Source: torch.autograd.graph."""
import contextlib

from _weir import Tensor, _bump_version, _set_saved_hooks
from weir._absent import absent
from weir._C import Node
from weir._tensor import RemovableHandle


def _register_hook(self, fn):
    """fn(grad_inputs, grad_outputs) runs after the node; what it returns takes the place of grad_inputs."""
    number = self._listen_after(fn)
    return RemovableHandle(lambda: self._forget(number))


def _register_prehook(self, fn):
    """fn(grad_outputs) runs before the node; what it returns takes their place."""
    number = self._listen_before(fn)
    return RemovableHandle(lambda: self._forget(number))


Node.register_hook, Node.register_prehook = _register_hook, _register_prehook

_active = []  # the hooks in force, the innermost last; None where they are switched off by a message


def hooks_in_force():
    """(pack, unpack) of the innermost saved_tensors_hooks, or None."""
    return _active[-1] if _active and isinstance(_active[-1], tuple) else None


def increment_version(tensor):
    """Counts a change in place that autograd has not seen, of a tensor or of several."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        _bump_version(t)


class saved_tensors_hooks:
    """Within, what forward saves for backward is pack_hook(tensor), and backward gets unpack_hook of that back.

    Source: https://pytorch.org/docs/stable/autograd.html#torch.autograd.graph.saved_tensors_hooks
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _active and isinstance(_active[-1], str):
            raise RuntimeError(_active[-1])
        _active.append((self.pack_hook, self.unpack_hook))
        _set_saved_hooks(*_active[-1])

    def __exit__(self, *exc):
        _active.pop()
        _set_saved_hooks(*(hooks_in_force() or (None, None)))


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors wait in the memory of the CPU. pin_memory needs an accelerator."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        if pin_memory:
            raise RuntimeError("save_on_cpu: pin_memory=True needs an accelerator")
        super().__init__(lambda t: (t.device, t.cpu()), lambda packed: packed[1].to(packed[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Within, saved_tensors_hooks raises RuntimeError(error_message)."""
    _active.append(error_message)
    _set_saved_hooks(None, None)
    try:
        yield
    finally:
        _active.pop()
        _set_saved_hooks(*(hooks_in_force() or (None, None)))



def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls fn in a backward pass: with mode "all" as fn(grads), once every tensor has its gradient; with "any" as fn(grad), at the first.

    With "all", a pass that reaches only some of the tensors calls fn when a later one reaches the rest. ValueError for other modes.
    Source: torch.autograd.graph.register_multi_grad_hook.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    seen = {}

    def hook_of(place):
        def hook(grad):
            if place in seen:  # another pass began
                seen.clear()
            first = not seen
            seen[place] = grad
            if mode == "any" and first:
                fn(grad)
            if len(seen) == len(tensors):
                grads = [seen[i] for i in range(len(tensors))]
                seen.clear()
                if mode == "all":
                    fn(grads)
        return hook

    tensors = tuple(tensors)
    handles = [t.register_hook(hook_of(i)) for i, t in enumerate(tensors)]
    return RemovableHandle(lambda: [handle.remove() for handle in handles])


allow_mutation_on_saved_tensors = absent("autograd.graph.allow_mutation_on_saved_tensors")


class GradientEdge(tuple):
    """(node, output number): the place of a tensor in the graph."""

    def __new__(cls, node, output_nr, ownership_token=None):
        return super().__new__(cls, (node, output_nr))

    node, output_nr = property(lambda self: self[0]), property(lambda self: self[1])


def get_gradient_edge(tensor):
    """Where gradients of the tensor arrive."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    if tensor.grad_fn is None:
        return GradientEdge(*tensor.view_as(tensor).grad_fn.next_functions[0])
    return GradientEdge(tensor.grad_fn, tensor.output_nr)
