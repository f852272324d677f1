"""Tangents against PyTorch's forward mode: every op of PyTorch's op database, with samples of theirs, and what changes tensors in place."""

import operator

import numpy as np
import pytest
import torch
import torch.autograd.forward_ad as theirs
import weir
import weir.autograd.forward_ad as ours
from torch.testing._internal.common_methods_invocations import op_db
from twins import assert_close
from weir.utils._pytree import tree_flatten, tree_map, tree_unflatten

SAMPLES = 4
#: No answer to compare with: memory that nobody wrote, and numbers that each library draws from its own state.
UNDEFINED = ("empty", "random", "rand", "normal", "bernoulli", "multinomial", "dropout", "cauchy", "geometric", "exponential", "log_normal", "uniform", "rrelu",
             "gumbel", "fractional", "pca_lowrank", "svd_lowrank", "multi_head_attention")
OPS = {(op.name, op.variant_test_name): op for op in op_db if op.supports_forward_ad and op.supports_dtype(torch.float64, "cpu")
       and op.variant_test_name not in ("partial_views", "singular")  # of memory around the input, of a matrix's two factors
       and not op.name.startswith(("_", "sparse", "to_sparse")) and not any(word in op.name for word in UNDEFINED)}


def ours_of(x):
    if isinstance(x, torch.Tensor):
        return weir.tensor(x.detach().resolve_conj().resolve_neg().numpy().copy())
    if isinstance(x, torch.dtype | torch.memory_format):
        return getattr(weir, str(x).split(".")[1])
    return x


def function(name):
    for at in (name, f"Tensor.{name}"):
        try:
            return operator.attrgetter(at)(weir)
        except AttributeError:
            continue
    return None


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


def phases(shape, dtype, seed):
    g = np.random.default_rng(seed)
    x = g.standard_normal(shape)
    return torch.from_numpy(np.asarray(x + 1j * g.standard_normal(shape) if dtype.is_complex else x)).to(dtype)


def both(program):
    ours_found, theirs_found = program(weir, ours), program(torch, theirs)
    for a, b in zip(ours_found, theirs_found, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert_close(a, b)


def test_a_result_s_tangent_is_its_own():
    def program(t, ad):
        v = t.ones(3)
        with ad.dual_level():
            d = ad.make_dual(t.zeros(3), v)
            for same in (d.clone(), d + 0, -(-d)):
                same[0] = 5
            return [v, ad.unpack_dual(d).tangent]
    both(program)


def test_writes_reach_the_tangents_of_views_and_bases():
    def program(t, ad):
        found = []
        with ad.dual_level():
            d = ad.make_dual(t.arange(6.).reshape(2, 3), t.arange(6.).reshape(2, 3) / 7)
            x = d * 1
            row, column, flat = x[0], x[:, 1], x.view(-1)
            x.mul_(d)
            row[1] = 3
            column += d[:, 0]
            found += [ad.unpack_dual(y).tangent for y in (x, row, column, flat)]
            plain = t.zeros(2, 3)
            inner = plain[:, 1:]
            inner.copy_(d[:, :2])
            found += [ad.unpack_dual(y).tangent for y in (plain, inner)]
            plain.zero_()
            found += [ad.unpack_dual(y).tangent for y in (plain, inner)]
            y = d * 1
            y.t_()
            y.unsqueeze_(0)
            found += [ad.unpack_dual(y).tangent, ad.unpack_dual(d.T.exp_()).tangent, ad.unpack_dual(d).tangent]
        found.append(ad.unpack_dual(d).tangent)
        return found
    both(program)


def test_detached_tensors_have_no_tangent():
    def program(t, ad):
        with ad.dual_level():
            d = ad.make_dual(t.ones(2), t.ones(2))
            return [ad.unpack_dual(d.detach()).tangent, ad.unpack_dual(d.data).tangent, ad.unpack_dual(d.round()).tangent,
                    ad.unpack_dual((d > 0).float()).tangent]
    both(program)


@pytest.mark.parametrize("create", [False, True])
def test_gradients_of_duals_are_duals(create):
    def program(t, ad):
        x, v = t.tensor([1., 2., 3.], requires_grad=True), t.tensor([1., 0., -1.])
        with ad.dual_level():
            d = ad.make_dual(x, v)
            (g,) = t.autograd.grad(t.nn.functional.layer_norm(d ** 3, (3,)).pow(2).mul(t.arange(3.)).sum(), x, create_graph=create)
            return [g.detach(), ad.unpack_dual(g).tangent.detach()]
    both(program)


def test_out_is_refused():
    for t, ad in ((torch, theirs), (weir, ours)):
        with ad.dual_level():
            d = ad.make_dual(t.ones(2), t.ones(2))
            with pytest.raises(RuntimeError):
                t.exp(d, out=t.empty(2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=["float64", "complex128"])
@pytest.mark.parametrize("key", OPS, ids=lambda k: "-".join(filter(None, k)))
def test_tangents_are_pytorchs(key, dtype):
    op, f = OPS[key], function(key[0])
    if f is None or not op.supports_dtype(dtype, "cpu") or not op.supports_autograd:
        return
    compared = 0
    for n, sample in enumerate(list(op.sample_inputs("cpu", dtype, requires_grad=False))[:SAMPLES]):
        flat, spec = tree_flatten((sample.input, *sample.args))
        directions = [phases(x.shape, x.dtype, n) if isinstance(x, torch.Tensor) and x.dtype == dtype else None for x in flat]
        try:
            wanted = tangents_of(torch, theirs, called(op, op.op, sample, sample.kwargs), flat, spec, directions)
            inputs, call = tree_map(ours_of, flat), called(op, f, sample, tree_map(ours_of, sample.kwargs))
            call(*tree_unflatten(inputs, spec))
        except (TypeError, RuntimeError, ValueError, NotImplementedError, AttributeError, AssertionError):  # not valid with tangents, no array, or called otherwise
            continue
        pushed = tree_map(ours_of, directions)
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
