"""The graph of derivatives. Source: torch.autograd.graph."""
import contextlib
import threading
import weakref

from _weir import Tensor, _bump_version, _current_graph_task_id, _pass_runs, _queue_callback, _set_saved_hooks
from weir._absent import absent
from weir._C import Node
from weir._tensor import RemovableHandle

from .grad_mode import enable_grad


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
    """Saved tensors wait in the memory of the CPU. pin_memory says nothing where there is no accelerator to copy from it."""

    def __init__(self, pin_memory=False, device_type="cuda"):
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
    """Calls fn once in a backward pass: with mode "all" as fn(grads), with None for tensors that the pass does not reach, when the others
    have their gradients; with "any" as fn(grad), at the first. Passes of several threads are told apart. ValueError for other modes.
    Source: torch.autograd.graph.register_multi_grad_hook.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    runs = [_runs(t) for t in tensors]
    lock = threading.Lock()
    passes = {}  # number of a pass that is under way -> its gradients so far, and how many are still to come

    def hook_of(place):
        def hook(grad):
            number = _current_graph_task_id()
            with lock:
                if first := number not in passes:
                    passes[number] = [[None] * len(tensors), sum(run() for run in runs)]
                    _queue_callback(lambda: passes.pop(number, None))
                grads, missing = state = passes[number]
                grads[place], state[1] = grad, missing - 1
            if mode == "any" and first:
                fn(grad)
            elif mode == "all" and missing == 1:
                fn(grads)
        return hook

    handles = [t.register_hook(hook_of(i)) for i, t in enumerate(tensors)]
    return RemovableHandle(lambda: [handle.remove() for handle in handles])


def _runs(tensor):
    """Whether the pass under way brings the tensor a gradient. A hook that held a tensor or its node would hold itself."""
    if tensor.grad_fn is not None:
        number = tensor.grad_fn._sequence_nr()
        return lambda: _pass_runs(number)
    known = weakref.ref(tensor)
    return lambda: (leaf := known()) is not None and _pass_runs(get_gradient_edge(leaf).node._sequence_nr())


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
        with enable_grad():
            return GradientEdge(*tensor.view_as(tensor).grad_fn.next_functions[0])
    return GradientEdge(tensor.grad_fn, tensor.output_nr)
