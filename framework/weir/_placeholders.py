"""Types that programs name in annotations, `except` and comparisons, though no value of them can exist here."""
from ._absent import absent


class _Word(str):
    """A value that is its name; equal to its text, printed as PyTorch prints it."""

    def __repr__(self):
        return f"torch.{str.__str__(self)}"

    __str__ = __repr__

    def __format__(self, spec):
        return format(repr(self), spec)

    def __reduce__(self):
        return type(self), (str.__str__(self),)


class layout(_Word):
    """How a tensor's elements lie: `torch.strided` for all of weir's."""

    __hash__ = str.__hash__


class qscheme(_Word):
    """How a quantised tensor's numbers are scaled."""

    __hash__ = str.__hash__


class OutOfMemoryError(RuntimeError):
    """An accelerator's memory is used up. Never raised here; programs name it in `except`."""


class AcceleratorError(RuntimeError):
    """An accelerator reported an error. Never raised here; programs name it in `except`."""


class JITException(RuntimeError):
    """Never raised here; programs name it in `except`."""


class ErrorReport(Exception):
    """Never raised here; programs name it in `except`."""


Stream = absent("Stream", "there is no accelerator whose queue it would be")
Event = absent("Event", "there is no accelerator whose queue it would be in")
SymInt = absent("SymInt", "weir has no symbolic shapes")
SymFloat = absent("SymFloat", "weir has no symbolic shapes")
SymBool = absent("SymBool", "weir has no symbolic shapes")
thread_safe_generator = absent("thread_safe_generator")


class _Tags(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class Tag(metaclass=_Tags):
    """Facts about an op for PyTorch's compiler, as their names."""


class DispatchKey(metaclass=_Tags):
    """Layers of PyTorch's dispatcher, as their names. What takes one refuses those that weir has not."""


class DispatchKeySet:
    """A set of DispatchKeys."""

    def __init__(self, *keys):
        self.keys = frozenset(keys)

    def has(self, key):
        return key in self.keys

    def __or__(self, other):
        return DispatchKeySet(*self.keys, *other.keys)
