"""Ops on batched tensors (framework/op/batch.cpp, framework/op/batch_at_once.cpp), against the same ops on one example after the other: every op of
PyTorch's op database, with samples of theirs."""

import numpy as np
import pytest
import torch
import weir
from torch.testing._internal.common_methods_invocations import op_db
from twins import op_named, to_weir
from weir.utils._pytree import tree_flatten, tree_map, tree_unflatten

SAMPLES = 4
EXAMPLES = 3
#: What vmap refuses, since shapes or decisions depend on values.
REFUSED = ("data-dependent control flow", "dynamic shapes", "random operation", "all examples share")
NAMES = sorted({op.name for op in op_db if op.supports_dtype(torch.float32, "cpu") and not op.name.startswith(("_", "sparse", "to_sparse"))})


def variants(x):
    """Examples that differ, and are valid where x is."""
    if x.dtype == weir.bool:
        return [x, ~x, x]
    return [x * f for f in (1, 0.75, 0.5)] if x.is_floating_point() else [x, x.flip(0) if x.dim() else x, x]


def samples(name):
    op = next(o for o in op_db if o.name == name and not o.variant_test_name) if any(o.name == name and not o.variant_test_name for o in op_db) else next(
        o for o in op_db if o.name == name)
    for s in list(op.sample_inputs("cpu", torch.float32, requires_grad=False))[:SAMPLES]:
        try:
            yield tree_map(to_weir, (s.input, *s.args)), tree_map(to_weir, s.kwargs)
        except (TypeError, RuntimeError, AttributeError):  # sparse inputs and the like, which have no array
            continue


def numbers(x):
    x = x.detach().resolve_conj().resolve_neg()
    return (x.float() if x.dtype == weir.bfloat16 else x).numpy()


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_examples(name):
    f = op_named(name)
    if f is None:
        return
    for args, kwargs in samples(name):
        flat, spec = tree_flatten(args)
        tensors = [i for i, t in enumerate(flat) if isinstance(t, weir.Tensor)]
        for chosen in {tuple(tensors), tuple(tensors[:1]), tuple(tensors[-1:])} - {()}:
            batch = {i: variants(flat[i]) for i in chosen}

            def call(*xs, chosen=chosen, flat=flat, spec=spec, kwargs=kwargs):
                leaves = list(flat)
                for i, x in zip(chosen, xs):
                    leaves[i] = x
                return tuple(tree_flatten(f(*tree_unflatten(leaves, spec), **kwargs))[0])
            try:
                wanted = [call(*(batch[i][k].clone() for i in chosen)) for k in range(EXAMPLES)]
            except Exception:  # not valid for these examples
                continue
            if not all(isinstance(x, weir.Tensor) for x in wanted[0]) or len({tuple(x.shape for x in w) for w in wanted}) > 1:
                continue
            try:
                found = weir.func.vmap(call)(*(weir.stack(batch[i]) for i in chosen))
            except RuntimeError as refused:
                assert any(word in str(refused) for word in REFUSED), (name, chosen, str(refused))
                continue
            for k, x in enumerate(found):
                y = weir.stack([w[k] for w in wanted])
                assert x.dtype == y.dtype and x.shape == y.shape, (name, chosen)
                if "empty" not in name:
                    np.testing.assert_allclose(numbers(x), numbers(y), rtol=5e-4, atol=5e-5, err_msg=f"{name} {chosen}")


def test_nothing_is_not_computed_for_each_example():
    """2^40 of them would take hours."""
    x = weir.zeros(2, 0).expand(2**40, 2, 0)
    assert weir.func.vmap(lambda x: weir.special.i0(x.double()).cumsum(0).sort(1)[0])(x).shape == (2**40, 2, 0)


@pytest.mark.parametrize("sizes", [(3, 0), (0, 3), (0, 0), (0, 2**62), (2**62, 0)])
def test_axes_may_have_no_examples(sizes):
    a, b = weir.zeros(1, 1).expand(sizes[0], 1), weir.zeros(1).expand(sizes[1])
    both = weir.func.vmap(weir.func.vmap(lambda x, y: (x[0] * y + 1).cumsum(0).mul_(y), (None, 0)), (0, None))
    assert both(a, b).shape == sizes


def test_there_are_not_more_examples_than_63_bits_count():
    a = weir.zeros(1).expand(2**40)
    both = weir.func.vmap(weir.func.vmap(lambda x, y: x * y, (None, 0)), (0, None))
    with pytest.raises(RuntimeError, match="overflow"):
        both(a, a)
    with pytest.raises(RuntimeError, match="overflow"):
        weir.func.vmap(weir.func.vmap(lambda x, y: weir.zeros(0).add(x).add(y), (None, 0)), (0, None))(a, a)


def test_places_in_memory_are_those_of_every_example():
    x = weir.arange(12.0).reshape(3, 4)
    window = weir.func.vmap(lambda row: row.as_strided((2,), (1,), 2) + 0)
    assert window(x).tolist() == [[2, 3], [6, 7], [10, 11]]
    for call in (lambda row: row.as_strided((2,), (1,), 4) + 0, lambda row: row.as_strided_scatter(weir.zeros(2), (2,), (1,), 4)):
        with pytest.raises(RuntimeError, match="out of bounds"):
            weir.func.vmap(call)(x)
    assert weir.func.vmap(lambda row: row.as_strided_scatter(weir.zeros(2), (2,), (1,), 1))(x).tolist()[2] == [8, 0, 0, 11]
