"""Views under further names."""

from weir._C import Tensor

from ._register import alias, composite


for _name, _target in (("swapdims", "transpose"), ("moveaxis", "movedim")):
    alias(_name, _target)


def _slice(input: Tensor, dim=0, start=None, end=None, step=1):
    """Every step-th index from start to end along dim."""
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    index = [slice(None)] * input.dim()
    index[dim] = slice(start, end, step)
    return input[tuple(index)]


_slice.__name__ = "slice"
composite(_slice, method=False)
