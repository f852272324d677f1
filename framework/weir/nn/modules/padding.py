"""Padding modules: a mode and a number of axes each."""

import weir.nn.functional as F

from .module import Module

__all__ = [f"{mode}Pad{rank}d" for mode in ("Constant", "Zero", "Reflection", "Replication", "Circular")
           for rank in (1, 2, 3)]


class _Pad(Module):
    """Pads the last `rank` axes in one mode."""

    _rank, _mode, value = 0, "constant", None

    def __init__(self, padding):
        super().__init__()
        if isinstance(padding, int):
            padding = (padding,) * (2 * self._rank)
        if len(padding) != 2 * self._rank:
            raise ValueError(f"padding must be one int or {2 * self._rank} ints, got {len(padding)}")
        self.padding = tuple(padding)

    def forward(self, input):
        if self._mode == "circular" and input.dim() not in (self._rank + 1, self._rank + 2):
            raise ValueError(f"expected {self._rank + 1}D or {self._rank + 2}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self):
        return f"{self.padding}"


class _ReflectionPadNd(_Pad):
    """Mirrors at the edges."""

    _mode = "reflect"


class _ReplicationPadNd(_Pad):
    """Repeats the edges."""

    _mode = "replicate"


class _CircularPadNd(_Pad):
    """Goes on at the other end."""

    _mode = "circular"


class _ConstantPadNd(_Pad):
    """Pads with a given value."""

    def __init__(self, padding, value: float):
        super().__init__(padding)
        self.value = value

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad:
    """Before a ConstantPad: pads with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


def _make(name, bases, rank):
    doc = f"Pads the last {rank} axes by (before, after) pairs from the last one on; mode {bases[-1]._mode}."
    return type(name, bases, {"_rank": rank, "__doc__": doc, "__module__": __name__})


for _rank in (1, 2, 3):
    for _base in (_ConstantPadNd, _ReflectionPadNd, _ReplicationPadNd, _CircularPadNd):
        _name = _base.__name__[1:].replace("N", str(_rank))
        globals()[_name] = _make(_name, (_base,), _rank)
    globals()[f"ZeroPad{_rank}d"] = _make(f"ZeroPad{_rank}d", (_ZeroPad, globals()[f"ConstantPad{_rank}d"]), _rank)


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
