"""Containers of parameters."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping

from weir import Tensor
from weir.nn.parameter import Parameter

from .container import _position
from .module import Module

__all__ = ["ParameterDict", "ParameterList"]


def _as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _describe(key, value, named):
    if not isinstance(value, Tensor):
        return f"({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(s) for s in value.shape)
    return f"({key}): {kind} containing: [{named(value)} of size {size}]"


class ParameterList(Module):
    """A list of parameters; tensors put in become Parameters."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self):
        return self._size

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(*index.indices(len(self)))])
        return getattr(self, str(_position(index, len(self))))

    def __setitem__(self, index, value):
        setattr(self, str(_position(index, len(self))), _as_parameter(value))

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, values):
        return self.extend(values)

    def append(self, value):
        """Adds a value at the end. Returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Appends every value of an iterable. Returns self."""
        if isinstance(values, Tensor) or not hasattr(values, "__iter__"):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join("  " + _describe(i, value, lambda t: t.dtype) for i, value in enumerate(self))


def _name(key):
    if not isinstance(key, str):
        raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string "
                        f"(type is '{type(key).__name__}'). Open an issue on github if you need non-string keys.")
    return key


class ParameterDict(Module):
    """A dictionary of parameters; tensors put in become Parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return getattr(self, _name(key))

    def __setitem__(self, key, value):
        name = _name(key)
        self._keys[name] = None
        setattr(self, name, _as_parameter(value))

    def __delitem__(self, key):
        name = _name(key)
        del self._keys[name]
        delattr(self, name)

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """Pairs of name and value."""
        return ((key, self[key]) for key in self._keys)

    def values(self):
        """The values."""
        return (self[key] for key in self._keys)

    def get(self, key, default=None):
        """The value of a name, or `default`."""
        return self[key] if key in self else default

    def pop(self, key):
        """Takes a value out and returns it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Takes the pair that came last."""
        key, _ = self._keys.popitem()  # KeyError where there is none
        self._keys[key] = None
        return key, self.pop(key)

    def setdefault(self, key, default=None):
        """The value of a name, which is `default` from now on where there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Takes all values out."""
        for key in list(self._keys):
            del self[key]

    def copy(self):
        """Another dictionary of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def fromkeys(self, keys, default=None):
        """A new dictionary with `default` for every name."""
        return ParameterDict((key, default) for key in keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __or__(self, other):
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other):
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other):
        self.update(other)
        return self

    def update(self, parameters):
        """Adds values from a mapping or from pairs: in their order, those of a plain dict by name."""
        if not isinstance(parameters, Iterable):
            raise TypeError(f"ParameterDict.update should be called with an iterable of key/value pairs, but got {type(parameters).__name__}")
        ordered = isinstance(parameters, (OrderedDict, ParameterDict))
        pairs = parameters.items() if ordered else sorted(parameters.items()) if isinstance(parameters, Mapping) else parameters
        for i, pair in enumerate(pairs):
            if not isinstance(pair, Iterable):
                raise TypeError(f"ParameterDict update sequence element #{i} should be Iterable; is {type(pair).__name__}")
            if len(pair) != 2:
                raise ValueError(f"ParameterDict update sequence element #{i} has length {len(pair)}; 2 is required")
            self[pair[0]] = pair[1]

    extra_repr = lambda self: "\n".join("  " + _describe(k, v, lambda t: t.type()) for k, v in self.items())  # noqa: E731
