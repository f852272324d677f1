"""vmap: a function of one example becomes one of a batch.

Tensors enter the function as they would look for one example; each op runs for all examples (`framework/op/batch.h`).
"""
import functools

import _weir
from weir import Tensor, cat, get_rng_state, set_rng_state
from weir.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps func over a dim of its arguments and stacks the results.

    in_dims: for each argument (or leaf) the dim to map over, None to pass it whole. out_dims: where the new dim goes.
    randomness: with "same" all examples draw the same numbers, with "different" their own, with "error" none may be drawn.
    chunk_size: how many examples are computed at a time; None for all.
    Raises ValueError for in_dims that do not fit, RuntimeError for a wrong randomness, and where func reads the value of a
    tensor that differs between examples. Source: torch.func.vmap.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        flat, spec = tree_flatten(args)
        dims = _dims(in_dims, spec, func)
        kw_flat, kw_spec = tree_flatten(kwargs)  # keyword arguments are mapped over dim 0, as in PyTorch
        leaves, dims = flat + kw_flat, dims + [0 if isinstance(x, Tensor) else None for x in kw_flat]
        size = _size(leaves, dims, func)

        def one(leaves):
            return func(*tree_unflatten(leaves[:len(flat)], spec), **tree_unflatten(leaves[len(flat):], kw_spec))
        if chunk_size is None or chunk_size >= size:
            results, places, out_spec = _mapped(one, leaves, dims, size, out_dims, randomness, func)
            return tree_unflatten(results, out_spec)
        parts, state = [], get_rng_state() if randomness == "same" else None
        for begin in range(0, size, chunk_size):
            if state is not None:
                set_rng_state(state)
            n = min(chunk_size, size - begin)
            chunk = [x if d is None else x.narrow(d, begin, n) for x, d in zip(leaves, dims)]
            results, places, out_spec = _mapped(one, chunk, dims, n, out_dims, randomness, func)
            parts.append(results)
        joined = [column[0] if d is None else cat(column, d) for column, d in zip(zip(*parts), places)]
        return tree_unflatten(joined, out_spec)
    return wrapped


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """vmap that computes the batch in so many parts. Source: functorch.experimental.chunk_vmap."""
    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        flat, spec = tree_flatten(args)
        size = _size(flat, _dims(in_dims, spec, func), func)
        return vmap(func, in_dims, out_dims, randomness, chunk_size=max(1, -(-size // chunks)))(*args, **kwargs)
    return wrapped


def _mapped(one, leaves, dims, size, out_dims, randomness, func):
    """(results with the batch's axis, where it is in each, their structure)"""
    level = _weir._vmap_enter(size, randomness)
    try:
        out = one([x if d is None else _weir._into_batch(x, d, level) for x, d in zip(leaves, dims)])
        results, spec = tree_flatten(out)
        alone = isinstance(out, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1
        places = list(out_dims) if alone else _broadcast_to_and_flatten(out_dims, spec, is_leaf=lambda d: d is None)
        if places is None:
            raise ValueError(f"vmap({_name(func)}, ..., out_dims={out_dims}): out_dims is not compatible with the structure of "
                             "the outputs.")
        for d in places:
            if d is not None and not isinstance(d, int):
                raise ValueError(f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
                                 "representing where in the outputs the vmapped dimension should appear.")
        return [_shown(x, d, level, size, func) for x, d in zip(results, places)], places, spec
    finally:
        _weir._vmap_leave(level)


def _shown(x, dim, level, size, func):
    if dim is not None:
        if not isinstance(x, Tensor):
            raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(x)}. Did you mean to set out_dims= "
                             "to None for output?")
        return _weir._out_of_batch(x, dim, level, size)
    if isinstance(x, Tensor) and any(own == level for own, _ in _weir._batch_axes(x)):
        raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor when out_dim is None")
    return x


def _name(func):
    return getattr(func, "__name__", repr(func))


def _dims(in_dims, spec, func):
    if not isinstance(in_dims, int | tuple):
        raise ValueError(f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a "
                         f"(potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}.")
    if spec.num_leaves == 0:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                         "vmap over a function with no inputs. The latter is unsupported.")
    dims = _broadcast_to_and_flatten(in_dims, spec, is_leaf=lambda x: x is None)
    if dims is None:
        raise ValueError(f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure "
                         "of `inputs`.")
    return dims


def _size(leaves, dims, func):
    """How many examples there are."""
    sizes = set()
    for x, d in zip(leaves, dims):
        if d is None:
            continue
        if not isinstance(d, int):
            raise ValueError(f"vmap({_name(func)}, ...): Got in_dim={d} for an input but in_dim must be either an integer dimension or None.")
        if not isinstance(x, Tensor):
            raise ValueError(f"vmap({_name(func)}, ...): Got in_dim={d} for an input but the input is of type {type(x)}. "
                             "We cannot vmap over non-Tensor arguments, please use None as the respective in_dim")
        if not -x.dim() <= d < x.dim():
            raise ValueError(f"vmap({_name(func)}, ...): Got in_dim={d} for some input, but that input is a Tensor of "
                             f"dimensionality {x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}.")
        sizes.add(x.shape[d])
    if not sizes:
        raise ValueError(f"vmap({_name(func)}, ...): at least one input must be mapped over: all in_dims are None")
    if len(sizes) > 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                         f"{sorted(sizes)} for the mapped dimension")
    return sizes.pop()
