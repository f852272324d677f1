"""vmap: a function of one example becomes one of a batch.

Tensors enter the function as they would look for one example; each op runs for all examples (`framework/op/batch.h`).
The steps have the names of PyTorch's, since libraries put others in their place (tensordict does, for arguments that hold tensors).
Source: torch._functorch.vmap.
"""
import contextlib
import functools

from _weir import _batch_axes
from weir import Tensor, cat, get_rng_state, set_rng_state
from weir._C._functorch import _add_batch_dim, _remove_batch_dim, _vmap_decrement_nesting, _vmap_increment_nesting
from weir.utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps func over a dim of its arguments and stacks the results.

    in_dims: for each positional argument (or leaf) the dim to map over, None to pass it whole; keyword arguments are passed whole.
    out_dims: where the new dim goes. randomness: with "same" all examples draw the same numbers, with "different" their own,
    with "error" none may be drawn. chunk_size: how many examples are computed at a time; None for all.
    Raises ValueError for in_dims that do not fit, RuntimeError for a wrong randomness, and where func reads the value of a
    tensor that differs between examples. Source: torch.func.vmap.
    """
    _check_randomness_arg(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        return vmap_impl(func, in_dims, out_dims, randomness, chunk_size, *args, **kwargs)
    return wrapped


def chunk_vmap(func, in_dims=0, out_dims=0, randomness="error", chunks=2):
    """vmap that computes the batch in so many parts. Source: functorch.experimental.chunk_vmap."""
    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        size = _process_batched_inputs(in_dims, args, func)[0]
        return vmap_impl(func, in_dims, out_dims, randomness, max(1, -(-size // chunks)), *args, **kwargs)
    return wrapped


def vmap_impl(func, in_dims, out_dims, randomness, chunk_size, *args, **kwargs):
    """vmap's answer for such arguments."""
    _check_out_dims_is_int_or_int_pytree(out_dims, func)
    size, dims, leaves, spec = _process_batched_inputs(in_dims, args, func)
    if chunk_size is None or chunk_size >= size:
        return _flat_vmap(func, size, dims, leaves, spec, out_dims, randomness, **kwargs)
    parts, state = [], get_rng_state() if randomness == "same" else None
    for begin in range(0, size, chunk_size):
        if state is not None:
            set_rng_state(state)
        n = min(chunk_size, size - begin)
        chunk = [x if d is None else x.narrow(d, begin, n) for x, d in zip(leaves, dims)]
        parts.append(_flat_vmap(func, n, dims, chunk, spec, out_dims, randomness, **kwargs))
    columns, specs = zip(*map(tree_flatten, parts))
    places = _broadcast_to_and_flatten(out_dims, specs[0])
    return tree_unflatten([cat(column, d) for column, d in zip(zip(*columns), places)], specs[0])


@contextlib.contextmanager
def vmap_increment_nesting(batch_size, randomness):
    """A vmap's level, while it is in force."""
    level = _vmap_increment_nesting(batch_size, randomness)
    try:
        yield level
    finally:
        _vmap_decrement_nesting()


def _flat_vmap(func, batch_size, flat_in_dims, flat_args, args_spec, out_dims, randomness, **kwargs):
    with vmap_increment_nesting(batch_size, randomness) as level:
        results = func(*_create_batched_inputs(flat_in_dims, flat_args, level, args_spec), **kwargs)
        return _unwrap_batched(results, out_dims, level, batch_size, func)


def _process_batched_inputs(in_dims, args, func):
    """(how many examples there are, the dim of each leaf of the arguments, the leaves, their structure)"""
    here = f"vmap({_get_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, int | tuple):
        raise ValueError(f"{here}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(f"vmap({_get_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                         "vmap over a function with no inputs. The latter is unsupported.")
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec, is_leaf=_is_none)
    if dims is None:
        raise ValueError(f"{here}in_dims is not compatible with the structure of `inputs`. in_dims has structure {tree_flatten(in_dims)[1]} "
                         f"but inputs has structure {spec}.")
    for i, (x, d) in enumerate(zip(leaves, dims)):
        if d is None:
            continue
        if not isinstance(d, int):
            raise ValueError(f"{here}Got in_dim={d} for an input but in_dim must be either an integer dimension or None.")
        if not isinstance(x, Tensor):
            raise ValueError(f"{here}Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor arguments, "
                             "please use None as the respective in_dim")
        if not -x.dim() <= d < x.dim():
            raise ValueError(f"{here}Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.dim()} so expected in_dim "
                             f"to satisfy -{x.dim()} <= in_dim < {x.dim()}.")
        dims[i] = d % x.dim()
    return _validate_and_get_batch_size(dims, leaves), dims, leaves, spec


def _validate_and_get_batch_size(flat_in_dims, flat_args):
    sizes = [x.shape[d] for x, d in zip(flat_args, flat_in_dims) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    return sizes[0]


def _create_batched_inputs(flat_in_dims, flat_args, vmap_level, args_spec):
    return tree_unflatten([x if d is None else _add_batch_dim(x, d, vmap_level) for x, d in zip(flat_args, flat_in_dims)], args_spec)


def _unwrap_batched(batched_outputs, out_dims, vmap_level, batch_size, func):
    leaves, spec = tree_flatten(batched_outputs)
    alone = isinstance(batched_outputs, Tensor) and isinstance(out_dims, tuple) and len(out_dims) == 1
    places = list(out_dims) if alone else _broadcast_to_and_flatten(out_dims, spec, is_leaf=_is_none)
    if places is None:
        raise ValueError(f"vmap({_get_name(func)}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
                         f"out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}.")
    return tree_unflatten([_maybe_remove_batch_dim(_get_name(func), x, vmap_level, batch_size, d) for x, d in zip(leaves, places)], spec)


def _maybe_remove_batch_dim(name, batched_output, vmap_level, batch_size, out_dim):
    if out_dim is None:
        if isinstance(batched_output, Tensor) and any(own == vmap_level for own, _ in _batch_axes(batched_output)):
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return batched_output
    if not isinstance(batched_output, Tensor):
        raise ValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(batched_output)}. Did you mean to set out_dims= "
                         "to None for output?")
    return _remove_batch_dim(batched_output, vmap_level, batch_size, out_dim)


def _check_out_dims_is_int_or_int_pytree(out_dims, func):
    for d in tree_flatten(out_dims, is_leaf=_is_none)[0]:
        if d is not None and not isinstance(d, int):
            raise ValueError(f"vmap({_get_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
                             "representing where in the outputs the vmapped dimension should appear.")


def _check_randomness_arg(randomness):
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def _is_none(x):
    return x is None


def _get_name(func):
    return getattr(func, "__name__", repr(func))
