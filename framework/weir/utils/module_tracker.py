"""Which modules are running, forward or backward. Source: torch.utils.module_tracker."""

import weakref

from ..autograd.graph import register_multi_grad_hook
from ..autograd.variable import Variable
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from ._pytree import tree_leaves

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A context manager in which `parents` holds the names of the modules that run at the moment, and "Global" always.

    A name is that of the outermost module's class, then attributes: "ResNet.layer1.0". `is_bw` says whether a backward pass runs; in one, a
    module is entered where the gradients of its outputs are known and left where those of its inputs are, so a module without inputs
    that need gradients stays until the pass ends. Source: torch.utils.module_tracker.ModuleTracker.
    """

    def __init__(self):
        self.parents: set[str] = {"Global"}
        self._names = weakref.WeakKeyDictionary()
        self._seen = weakref.WeakSet()
        self._in_backward = False
        self._hooks = []

    @property
    def is_bw(self):
        """Whether a backward pass runs that reached a module."""
        return self._in_backward

    def __enter__(self):
        self._handles = register_module_forward_pre_hook(self._entered), register_module_forward_hook(self._left)
        return self

    def __exit__(self, *args):
        for handle in (*self._handles, *self._hooks):
            handle.remove()
        self._hooks.clear()

    def _name_of(self, module):
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._seen:
            self._seen.add(module)
            for child_name, child in module.named_children():
                self._names[child] = f"{name}.{child_name}"
                self._name_of(child)
        return name

    def _moved(self, parents):
        """Takes the names of what runs from now on."""
        self.parents = parents

    def _entered(self, module, inputs):
        name = self._name_of(module)
        self._moved(self.parents | {name})
        self._at_gradients_of(inputs, lambda grads: self._moved(self.parents - {name}))

    def _left(self, module, inputs, outputs):
        name = self._name_of(module)
        self._moved(self.parents - {name})

        def entered_backward(grads):
            if not self._in_backward:
                self._in_backward = True
                Variable._execution_engine.queue_callback(self._backward_ended)
            self._moved(self.parents | {name})
        self._at_gradients_of(outputs, entered_backward)

    def _backward_ended(self):
        self._in_backward = False
        self._moved({"Global"})

    def _at_gradients_of(self, values, fn):
        from .._tensor import Tensor
        tensors = [t for t in tree_leaves(values) if isinstance(t, Tensor) and t.requires_grad]
        if tensors:
            self._hooks.append(register_multi_grad_hook(tensors, fn))
