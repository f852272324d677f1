"""einsum: labels over the axes of operands, contracted pairwise through batched matrix products."""

import weir

from ._register import composite

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@composite(method=False, out=None)
def einsum(equation, *operands):
    """Sums of products named by labels, e.g. "bij,bjk->bik"; "..." stands for broadcast axes.

    Also takes operands and lists of axis numbers in turn. Raises RuntimeError for an equation that does not fit.
    """
    if not isinstance(equation, str):
        if not operands:
            raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one "
                             "operand and its subscripts list")
        equation, operands = _from_sublists(equation, operands)
    operands = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else list(operands)
    inputs, output = _parse(equation, operands)
    terms = [_diagonals(*term) for term in zip(operands, inputs)]
    sizes = _sizes(terms)
    (result, labels), rest = terms[0], terms[1:]
    for i, (operand, names) in enumerate(rest):
        later = set(output).union(*(n for _, n in rest[i + 1:]))
        result, labels = _contract(result, labels, operand, names, later, sizes)
    result, labels = _sum_out(result, labels, set(output))
    result = result.permute([labels.index(label) for label in output]) if labels else result
    return result.expand([sizes[label] for label in output]) if output else result


def _from_sublists(first, rest):
    flat = [first, *rest]
    output = flat.pop() if len(flat) % 2 else None
    operands, lists = flat[::2], flat[1::2]

    def text(labels):
        return "".join("..." if label is Ellipsis else _LETTERS[label] for label in labels)

    equation = ",".join(map(text, lists))
    return equation if output is None else f"{equation}->{text(output)}", operands


def _parse(equation, operands):
    """Labels per operand and of the output; an ellipsis becomes numbered labels, the last axis numbered 0."""
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    texts = left.split(",")
    if len(texts) != len(operands):
        raise RuntimeError(f"einsum(): {'more' if len(operands) > len(texts) else 'fewer'} operands were provided than "
                           "specified in the equation")
    inputs, widest = [], 0
    for text, operand in zip(texts, operands):
        extra = operand.dim() - len(text.replace("...", ""))
        if extra < 0 or (extra > 0 and "..." not in text):
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({len(text)}) does not match the number "
                               f"of dimensions ({operand.dim()}) for an operand and no ellipsis was given")
        if "..." in text:
            widest = max(widest, extra)
        inputs.append(_expand_ellipsis(text, extra))
    if arrow:
        output = _expand_ellipsis(right, widest)
    else:
        once = sorted(c for c in set(left) - set(",.") if left.count(c) == 1)
        output = _expand_ellipsis("...", widest) + once
    _check_labels(inputs, output)
    return inputs, output


def _expand_ellipsis(text, count):
    before, dots, after = text.partition("...")
    for c in before + after:
        if not c.isalpha():
            raise RuntimeError(f"einsum(): invalid subscript given: {c}, subscripts must be in [a-zA-Z]")
    return list(before) + (list(range(count - 1, -1, -1)) if dots else []) + list(after)


def _check_labels(inputs, output):
    known = set().union(*inputs) if inputs else set()
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label not in known and not isinstance(label, int):
            raise RuntimeError(f"einsum(): output subscript {label} does not appear in the equation for any input operand")


def _diagonals(operand, labels):
    """Repeated labels of one operand become its diagonal."""
    labels = list(labels)
    while True:
        twice = next((c for c in labels if labels.count(c) > 1), None)
        if twice is None:
            return operand, labels
        i = labels.index(twice)
        j = labels.index(twice, i + 1)
        if operand.shape[i] != operand.shape[j]:
            raise RuntimeError(f"einsum(): subscript {twice} is repeated for an operand but the sizes don't match, "
                               f"{operand.shape[j]} != {operand.shape[i]}")
        operand = operand.diagonal(0, i, j)
        labels = [c for k, c in enumerate(labels) if k not in (i, j)] + [twice]


def _sizes(terms):
    sizes = {}
    for operand, labels in terms:
        for label, size in zip(labels, operand.shape):
            known = sizes.get(label, 1)
            if size != 1 and known not in (1, size):
                raise RuntimeError(f"einsum(): operands do not broadcast with remapped shapes: subscript {label} has sizes "
                                   f"{known} and {size}")
            sizes[label] = size if size != 1 else known
    return sizes


def _sum_out(operand, labels, keep):
    axes = [i for i, label in enumerate(labels) if label not in keep]
    if axes:
        operand = operand.sum(axes)
    return operand, [label for label in labels if label in keep]


def _contract(a, a_labels, b, b_labels, later, sizes):
    """a and b as one tensor over the labels that `later` needs, by one batched matrix product."""
    a, a_labels = _sum_out(a, a_labels, later | set(b_labels))
    b, b_labels = _sum_out(b, b_labels, later | set(a_labels))
    a, b = (x.to(weir.promote_types(a.dtype, b.dtype)) for x in (a, b))  # a sum of bytes is int64
    shared = [c for c in a_labels if c in b_labels]
    batch, summed = [c for c in shared if c in later], [c for c in shared if c not in later]
    rows, columns = [c for c in a_labels if c not in shared], [c for c in b_labels if c not in shared]
    size = lambda group: [sizes[c] for c in group]  # noqa: E731
    left = _arrange(a, a_labels, batch + rows + summed, sizes).reshape(*size(batch), _count(size(rows)), _count(size(summed)))
    right = _arrange(b, b_labels, batch + summed + columns, sizes).reshape(
        *size(batch), _count(size(summed)), _count(size(columns)))
    return (left @ right).reshape(size(batch + rows + columns)), batch + rows + columns


def _arrange(operand, labels, order, sizes):
    operand = operand.permute([labels.index(c) for c in order]) if order else operand
    return operand.expand([sizes[c] for c in order]) if order else operand


def _count(sizes):
    result = 1
    for s in sizes:
        result *= s
    return result
