"""Tangents against PyTorch's forward mode: every op of PyTorch's op database, with samples of theirs."""

import numpy as np
import pytest
import torch
import torch.autograd.forward_ad as theirs
import weir
import weir.autograd.forward_ad as ours
from torch.testing._internal.common_methods_invocations import op_db
from twins import op_named, to_weir
from weir.utils._pytree import tree_flatten, tree_map, tree_unflatten

SAMPLES = 4
#: No answer to compare with: memory that nobody wrote, and numbers that each library draws from its own state.
UNDEFINED = ("empty", "random", "rand", "normal", "bernoulli", "multinomial", "dropout", "cauchy", "geometric", "exponential", "log_normal", "uniform", "rrelu",
             "gumbel", "fractional", "pca_lowrank", "svd_lowrank", "multi_head_attention")
OPS = {(op.name, op.variant_test_name): op for op in op_db if op.supports_forward_ad and op.supports_dtype(torch.float64, "cpu")
       and op.variant_test_name != "singular"  # of a matrix's two factors
       and not op.name.startswith(("_", "sparse", "to_sparse")) and not any(word in op.name for word in UNDEFINED)}


def called(op, f, sample, kwargs):
    """f as the op's own tests call it: of inputs made symmetric, with what is not unique about the results taken away."""
    return lambda *args: sample.output_process_fn_grad(op.gradcheck_wrapper(f, *args, **kwargs))


def tangents_of(t, ad, f, flat, spec, directions):
    """Tangents of the results of f, whose leaves with a direction are duals."""
    with ad.dual_level():
        leaves = [x if d is None else ad.make_dual(x, d) for x, d in zip(flat, directions)]
        results = t.utils._pytree.tree_leaves(f(*tree_unflatten(leaves, spec)))
        found = [ad.unpack_dual(y) for y in results if isinstance(y, t.Tensor)]
        return [(y.primal.detach(), None if y.tangent is None else y.tangent.detach()) for y in found]


def numbers(x):
    return x.resolve_conj().resolve_neg().numpy(force=True)


def in_its_memory(x):
    """As to_weir, of a part of a larger tensor with what lies around it."""
    if not isinstance(x, torch.Tensor) or x.numel() * x.element_size() == x.untyped_storage().nbytes():
        return to_weir(x)
    whole = x.detach().as_strided((x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)
    return to_weir(whole).as_strided(x.shape, x.stride(), x.storage_offset())


def phases(shape, dtype, seed):
    g = np.random.default_rng(seed)
    x = g.standard_normal(shape)
    return torch.from_numpy(np.asarray(x + 1j * g.standard_normal(shape) if dtype.is_complex else x)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=["float64", "complex128"])
@pytest.mark.parametrize("key", OPS, ids=lambda k: "-".join(filter(None, k)))
def test_tangents_are_pytorchs(key, dtype):
    op, f = OPS[key], op_named(key[0])
    if f is None or not op.supports_dtype(dtype, "cpu") or not op.supports_autograd:
        return
    compared = 0
    for n, sample in enumerate(list(op.sample_inputs("cpu", dtype, requires_grad=False))[:SAMPLES]):
        flat, spec = tree_flatten((sample.input, *sample.args))
        directions = [phases(x.shape, x.dtype, n) if isinstance(x, torch.Tensor) and x.dtype == dtype else None for x in flat]
        try:
            wanted = tangents_of(torch, theirs, called(op, op.op, sample, sample.kwargs), flat, spec, directions)
            inputs, call = tree_map(in_its_memory, flat), called(op, f, sample, tree_map(to_weir, sample.kwargs))
            call(*tree_unflatten(inputs, spec))
        except (TypeError, RuntimeError, ValueError, NotImplementedError, AttributeError, AssertionError):  # not valid with tangents, no array, or called otherwise
            continue
        pushed = tree_map(to_weir, directions)
        found = tangents_of(weir, ours, call, inputs, spec, pushed)
        with weir.no_grad():
            silent = tangents_of(weir, ours, call, inputs, spec, pushed)
        for (y, t), (_, quiet), (their_y, their_t) in zip(found, silent, wanted):
            if their_t is None or np.isnan(numbers(their_t)).any():
                continue  # PyTorch has no answer
            np.testing.assert_allclose(numbers(y), numbers(their_y), rtol=1e-5, atol=1e-8, err_msg=f"{key} {n} value")
            assert t is not None and quiet is not None and t.shape == y.shape and str(t.dtype).split(".")[1] == str(their_t.dtype).split(".")[1], (key, n)
            np.testing.assert_allclose(numbers(t), numbers(their_t), rtol=1e-5, atol=1e-8, err_msg=f"{key} {n}")
            np.testing.assert_allclose(numbers(quiet), numbers(t), rtol=1e-9, atol=1e-10, err_msg=f"{key} {n} without gradients")
            compared += 1
