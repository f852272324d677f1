"""vmap: a function of one example becomes one of a batch, by a loop."""
import contextlib
import functools

import weir
from weir import Tensor
from weir.autograd import graphs_are_used_again
from weir.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps func over a dim of its arguments and stacks the results.

    in_dims: for each argument (or leaf) the dim to map over, None to pass it whole. out_dims: where the new dim goes.
    randomness: with "same" all examples draw the same numbers, with "different" (and "error", which PyTorch refuses) their own.
    Raises ValueError for in_dims that do not fit, RuntimeError for a wrong randomness. Source: torch.func.vmap.
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
        dims = dims + [0 if isinstance(x, Tensor) else None for x in kw_flat]
        size, columns = _columns(flat + kw_flat, dims, func)
        state = weir.get_rng_state() if randomness == "same" else None
        results, out_spec = [], None
        for i in range(size):
            if state is not None:
                weir.set_rng_state(state)
            row = [c[i] if d is not None else c for c, d in zip(columns, dims)]
            with graphs_are_used_again() if i + 1 < size else contextlib.nullcontext():
                out = func(*tree_unflatten(row[:len(flat)], spec), **tree_unflatten(row[len(flat):], kw_spec))
            leaves, out_spec = tree_flatten(out)
            for leaf in leaves:
                if not isinstance(leaf, Tensor):
                    raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(leaf)}.")
            results.append(leaves)
        if out_spec is None:
            raise NotImplementedError("vmap: a batch of no examples says nothing of the results' shapes")
        places = _broadcast_to_and_flatten(out_dims, out_spec)
        if places is None:
            raise ValueError(f"vmap({_name(func)}, ..., out_dims={out_dims}): out_dims is not compatible with the structure of "
                             "the outputs.")
        stacked = [weir.stack(list(column), d) if d is not None else column[0] for column, d in zip(zip(*results), places)]
        return tree_unflatten(stacked, out_spec)
    return wrapped


def _name(func):
    return getattr(func, "__name__", repr(func))


def _dims(in_dims, spec, func):
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a "
                         f"(potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}.")
    if spec.num_leaves == 0:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                         "vmap over a function with no inputs. The latter is unsupported.")
    dims = _broadcast_to_and_flatten(tuple(in_dims) if isinstance(in_dims, list) else in_dims, spec,
                                     is_leaf=lambda x: x is None)
    if dims is None:
        raise ValueError(f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure "
                         "of `inputs`.")
    return dims


def _columns(flat, dims, func):
    """(size of the mapped dim, for each leaf its examples or itself)"""
    sizes = set()
    for x, d in zip(flat, dims):
        if d is None:
            continue
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
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)} "
                         "for the mapped dimension")
    return sizes.pop(), [x.unbind(d) if d is not None else x for x, d in zip(flat, dims)]
