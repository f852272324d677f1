"""Dictionaries with weak keys that compare by identity."""
import weakref


class WeakIdKeyDictionary(weakref.WeakKeyDictionary):
    """Keys are held weakly; tensors hash and so compare by identity here."""


class TensorWeakRef:
    """A weak reference to a tensor."""

    def __init__(self, tensor):
        self.ref = weakref.ref(tensor)

    def __call__(self):
        return self.ref()


WeakTensorKeyDictionary, WeakIdRef = WeakIdKeyDictionary, weakref.ref
