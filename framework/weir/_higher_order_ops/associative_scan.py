"""Prefixes of an associative operation, in about log2(n) steps."""
import weir
from weir.utils import _pytree as pytree


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """x0, x0 + x1, x0 + x1 + x2 ... along dim, where + is combine_fn(a, b) of two trees like xs.

    "pointwise" calls combine_fn on slices with all axes, "generic" maps it over dim. ValueError for another mode, for no tensors
    and for tensors of different lengths.
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, tree = pytree.tree_flatten(xs)
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    if len({x.shape[dim] for x in leaves}) > 1:
        raise ValueError(f"All xs leaves must have the same scan dimension: got {[x.shape[dim] for x in leaves]}")

    def combine(a, b):
        made = combine_fn(pytree.tree_unflatten(a, tree), pytree.tree_unflatten(b, tree))
        return pytree.tree_leaves(made)

    if combine_mode == "generic":
        each = weir.func.vmap(lambda a, b: tuple(combine(a, b)))
        prefixes = _prefixes(lambda a, b: list(each(a, b)), [_turned(x.movedim(dim, 0), reverse) for x in leaves])
        return pytree.tree_unflatten([_turned(x, reverse).movedim(0, dim) for x in prefixes], tree)
    moved = [_turned(x.movedim(dim, 0), reverse) for x in leaves]
    return pytree.tree_unflatten([_turned(x, reverse).movedim(0, dim) for x in _prefixes(combine, moved)], tree)


def _turned(x, reverse):
    return x.flip(0) if reverse else x


def _prefixes(combine, xs):
    """Along axis 0. Pairs are combined, their prefixes are every second answer; one step more gives the others."""
    n = xs[0].shape[0]
    if n < 2:
        return xs
    odd = _prefixes(combine, combine([x[:-1:2] for x in xs], [x[1::2] for x in xs]))
    behind = [x[2::2] for x in xs]
    even = combine([x[:len(b)] for x, b in zip(odd, behind)], behind) if n > 2 else behind
    answers = []
    for x, o, e in zip(xs, odd, even):
        answer = weir.stack([weir.cat([x[:1], e])[:len(o)], o], 1).flatten(0, 1)
        answers.append(weir.cat([answer, e[-1:]]) if n % 2 else answer)
    return answers
