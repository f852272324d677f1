"""A recurrence along an axis."""
import weir
from weir.utils import _pytree as pytree


def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    """(last carry, stacked outputs) of carry, y = combine_fn(carry, x) for the slices x of xs along dim, which stay in front.

    init and xs are trees of tensors; those of xs have one length along dim (RuntimeError otherwise).
    """
    leaves, tree = pytree.tree_flatten(xs)
    lengths = {x.shape[dim] for x in leaves}
    if len(lengths) > 1 or 0 in lengths:
        raise RuntimeError(f"All xs leaves must have the same, nonzero, scan dimension: got {sorted(lengths)}")
    carry, made = init, []
    count = lengths.pop() if lengths else 0
    for i in reversed(range(count)) if reverse else range(count):
        carry, y = combine_fn(carry, pytree.tree_unflatten([x.select(dim, i) for x in leaves], tree))
        made.append(pytree.tree_flatten(y))
    if reverse:
        made.reverse()
    if not made:
        return carry, []
    return carry, pytree.tree_unflatten([weir.stack(parts) for parts in zip(*(values for values, _ in made))], made[0][1])
