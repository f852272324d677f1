"""Axes rearranged as a pattern says, `b (h w) -> b w h`. Source: torch.func.rearrange; https://einops.rocks/api/rearrange."""
import math
import re

_REST = "..."
_AXIS = r" |(?:\.\.\.|\w+)(?![\w.])"


class DimensionBindError(Exception):
    """Sizes that do not fit the pattern. Source: functorch.dim."""


def rearrange(tensor, pattern, **axes_lengths):
    """tensor, or a list of tensors stacked, with its axes split, ordered and merged.

    An axis in parentheses on the left is a product of axes, of which axes_lengths tells all lengths but one; `1` is an axis of length 1 and `...` all
    axes not named. ValueError for a pattern that is none, DimensionBindError where tensor's sizes do not fit.
    """
    from .. import Tensor, stack
    x = tensor if isinstance(tensor, Tensor) else stack(tensor)
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    (left, names), (right, other_names) = map(_side, sides)
    if any(_REST in axis for axis in left if axis != _REST):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    for length in axes_lengths.values():
        if type(length) is not int:
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    if names != other_names or axes_lengths.keys() - names:
        raise ValueError(f"Identifiers only on one side of rearrange expression, or in neither: {names ^ other_names or axes_lengths.keys() - names}")
    named, rest = len(names - {_REST}) + left.count([]), x.ndim - len(left) + 1 if _REST in names else 0
    if named > x.ndim if _REST in names else len(left) != x.ndim:
        raise ValueError(f"Number of dimensions in pattern ({named}) does not fit the number of dimensions in the tensor ({x.ndim})")
    if named + rest == 0:
        return x
    wide, places, ones, sizes = [], {}, [], iter(x.shape)
    for axis in left:
        if axis == _REST:
            places[_REST] = range(len(wide), len(wide) + rest)
            wide += [next(sizes) for _ in range(rest)]
        elif axis:
            places.update((name, [len(wide) + i]) for i, name in enumerate(axis))
            wide += _split(next(sizes), [axes_lengths.get(name) for name in axis])
        else:
            ones.append(len(wide))
            wide.append(next(sizes))
    merged = [part for axis in right for part in ([[i] for i in places[_REST]] if axis == _REST else [[i for name in axis for i in places[name]]])]
    x = x.reshape(wide).permute([i for part in merged for i in part] + ones)
    return (x.sum(list(range(-len(ones), 0))) if ones else x).reshape([math.prod(wide[i] for i in part) for part in merged])


def _split(size, lengths):
    """The lengths, of which one may be None, so that their product is size."""
    if lengths.count(None) > 1:
        raise DimensionBindError("cannot infer the sizes of two dimensions at once")
    known = math.prod(n for n in lengths if n is not None)
    if size % known if None in lengths else size != known:
        raise DimensionBindError(f"Axes of lengths {lengths} do not make one of {size}")
    return [size // known if n is None else n for n in lengths]


def _side(text):
    """([the names in each axis, or `...`], all names)"""
    if not re.fullmatch(rf"(?:{_AXIS}|\((?:{_AXIS})*\))*", text):
        raise ValueError(f"Expression may contain names, `1`, an ellipsis and parentheses around them: {text!r}")
    found = [(bare, (bare or inner).split()) for inner, bare in re.findall(r"\(([^)]*)\)|([\w.]+)", text)]
    axes = [bare if bare == _REST else [n for n in inner if not (n.isdecimal() and int(n) == 1)] for bare, inner in found]
    names = [n for axis in axes for n in ([axis] if axis == _REST else axis)]
    if len(set(names)) < len(names):
        raise ValueError(f"Indexing expression contains duplicate dimension: {text!r}")
    for name in set(names) - {_REST}:
        if not name.isidentifier() or "_" in (name[0], name[-1]):
            raise ValueError(f"Invalid axis identifier: {name}")
    return axes, set(names)
