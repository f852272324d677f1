"""einsum: equations as labels, which the op takes."""

import functools

import weir

from ._register import composite

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SIGNS = {"...": -1, ",": -2, "->": -3}  # as the op has them
_LABELS = {c: i for i, c in enumerate(_LETTERS)}
_einsum = weir._C.ops["hidden"]["einsum_labels"]


@composite(method=False, out=None)
def einsum(equation, *operands):
    """Sums of products named by labels, e.g. "bij,bjk->bik"; "..." stands for broadcast axes.

    Also takes operands and lists of axis numbers in turn. Raises RuntimeError for an equation that does not fit.
    """
    if isinstance(equation, str) and len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = operands[0]
    if not operands:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one "
                         "operand and its subscripts list")
    labels, operands = (_of_text(equation), operands) if isinstance(equation, str) else _of_sublists(equation, operands)
    return _einsum(operands, labels)


@functools.lru_cache(1024)
def _of_text(equation):
    labels, text = [], equation.lstrip(" ")
    while text:
        sign = next((s for s in _SIGNS if text.startswith(s)), text[0])
        if sign not in _SIGNS and sign not in _LABELS:
            raise RuntimeError(f"einsum(): invalid subscript given: {sign}, subscripts must be in [a-zA-Z]")
        labels.append(_SIGNS[sign] if sign in _SIGNS else _LABELS[sign])
        text = text[len(sign):].lstrip(" ")
    return tuple(labels)


def _of_sublists(first, rest):
    flat = [first, *rest]
    output = flat.pop() if len(flat) % 2 else None
    labels = []
    for i, part in enumerate(flat[1::2]):
        labels += [_SIGNS[","]] * (i > 0) + list(map(_label, part))
    return labels if output is None else [*labels, _SIGNS["->"], *map(_label, output)], flat[::2]


def _label(number):
    if number is Ellipsis:
        return _SIGNS["..."]
    if not 0 <= number < len(_LETTERS):
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return number
