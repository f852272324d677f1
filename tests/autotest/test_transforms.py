"""The properties `vmap` and `forward`: a wrong batch and a wrong tangent are found, and a refusal is told apart."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import weir
from weir import func

from weir_autotest.campaign.score import UNANSWERED
from weir_autotest.cases.case import Case, TensorSpec, row_major
from weir_autotest.record import _totals_of
from weir_autotest.workers import transforms
from weir_autotest.workers.trial import Observation


def case_of(*arrays, differentiate=True, relation="call"):
    specs = [TensorSpec(at, str(a.dtype), a.shape, row_major(a.shape), 0, at, differentiate and a.dtype.kind in "fc") for at, a in enumerate(arrays)]
    return Case(tuple(specs), {}, [(str(a.dtype), a.tobytes()) for a in arrays], relation=relation, differentiate=int(differentiate))


def item(*arrays, index=0, draws=False, random=False, **expected):
    case = case_of(*arrays)
    return SimpleNamespace(case=case, expected=Observation(gradients=[None] * len(arrays), **expected), draws=draws, random=random, index=index)


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


def found(function, *arrays, checks=("vmap", "forward"), W=weir):
    return transforms.faults(W, item(*(arrays or (numbers(2, 3),))), function, Observation(), set(checks))


class _SumsOverTheBatch(weir.autograd.Function):
    """A product with a weight, whose gradient in a batch is the sum of all examples'."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, w):
        return x * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, _summed(g * x)


def _summed(t):
    """In a batch the sum over its examples, else t."""
    return func.debug_unwrap(t).sum(0) if weir._C._functorch.is_batchedtensor(t) else t


class _WrongTangent(weir.autograd.Function):
    """A square whose tangent forgets a factor."""

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g

    @staticmethod
    def jvp(ctx, t):
        return ctx.saved_tensors[0] * t


@pytest.mark.parametrize("function", [lambda x: (x.exp() * 2).sum(1), lambda x: x.sort(1), lambda x: x.t(), lambda x: [x, x.argmax()]])
def test_right_functions_have_no_fault(function):
    assert found(function) == []


def test_a_sum_over_the_batch_is_a_fault():
    def sums(x):
        return _summed(x) + 0 * x
    (fault,) = found(sums)
    assert fault.property == "vmap" and not fault.absent and "values of example" in fault.reason


def test_a_gradient_summed_over_the_batch_is_a_fault():
    assert found(lambda x, w: x * w, numbers(3), numbers(3), checks=["vmap"]) == []
    (fault,) = found(_SumsOverTheBatch.apply, numbers(3), numbers(3), checks=["vmap"])
    assert fault.property == "vmap" and "gradients of example" in fault.reason


def test_a_wrong_tangent_is_a_fault():
    (fault,) = found(_WrongTangent.apply, checks=["forward"])
    assert fault.property == "forward" and not fault.absent and "<v, J u>" in fault.reason


def test_another_value_beside_tangents_is_a_fault():
    calls = []

    def wavers(x):
        calls.append(1)
        return x * len(calls)
    (fault,) = found(wavers, checks=["forward"])
    assert "other bits" in fault.reason


def test_a_refusal_by_name_is_no_wrong_batch():
    (fault,) = found(lambda x: x * x.sum().item(), checks=["vmap"])
    assert fault.absent and "refused" in fault.reason


def test_what_depends_on_values_stands_apart_in_a_batch():
    faults = found(lambda x: x.nonzero(), checks=["vmap"])
    assert [(f.property, f.absent) for f in faults] == [("vmap", True), (transforms.DYNAMIC, True)]


def in_a_batch(x):
    return weir._C._functorch.is_batchedtensor(x)


def test_an_error_of_the_batch_alone_is_a_fault():
    def breaks(x):
        if in_a_batch(x):
            raise KeyError("x")
        return x
    (fault,) = found(breaks, checks=["vmap"])
    assert not fault.absent and "the batch raises KeyError" in fault.reason


def test_an_error_of_examples_alone_is_a_fault():
    def breaks(x):
        if not in_a_batch(x):
            raise ValueError("no")
        return x
    (fault,) = found(breaks, checks=["vmap"])
    assert not fault.absent and "an example alone raises ValueError" in fault.reason


def test_an_example_alone_has_the_strides_of_one_in_the_batch():
    assert found(lambda x: (x.stride(0), x.as_strided((2,), (1,)), x)) == []


@pytest.mark.parametrize("seen", [{"index": 1}, {"draws": True}, {"random": True}, {"spoiled": (0,)}, {"written": {0: None}}])
def test_who_is_not_asked(seen):
    assert transforms.asked(item(numbers(3))) == ["vmap", "forward"] and transforms.asked(item(numbers(3), **seen)) == []


@pytest.mark.parametrize("shape, checks", [((3,), ["vmap", "forward"]), ((1, 3), ["vmap", "forward"]), ((2, 3), ["vmap"])])
def test_what_is_resized_in_place_has_no_tangent_there(shape, checks):
    made = item(numbers(3), values=[SimpleNamespace(shape=shape)])
    made.case = replace(made.case, relation="inplace")
    assert transforms.asked(made) == checks


def test_a_subject_without_transforms_lacks_the_properties():
    bare = SimpleNamespace(Tensor=weir.Tensor)
    assert [(f.property, f.absent) for f in found(lambda x: x, W=bare)] == [("vmap", True), ("forward", True)]


def test_totals_of_batches_count_what_stands_apart():
    scores = [{"asked": {"vmap": 10}, "absent": {"vmap": 4, transforms.DYNAMIC: 1, UNANSWERED["vmap"]: 2}, "failed": {"vmap": 1}}]
    assert _totals_of("vmap", scores) == {"asked": 8, "dynamic": 1, "refused": 1, "wrong": 1}
