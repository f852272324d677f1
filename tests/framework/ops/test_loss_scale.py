"""framework/ops/loss_scale.h, framework/kernels/cpu/loss_scale.cpp: what GradScaler does with gradients and with its scale."""
import numpy as np
import pytest
import torch
import weir

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])
NUMBERS = [1.0, -3.5, 1e-3, 0.0, 60000.0]


def unscaled(F, dtype, numbers, factor=0.3, found=0.0, of=lambda x: x):
    gradients = [of(F.tensor(numbers, dtype=getattr(F, dtype))), F.ones(2, 3, dtype=getattr(F, dtype))]
    found_inf = F.tensor(found)
    assert F._amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, F.tensor(factor)) is None
    return [g.double().numpy() for g in gradients], found_inf.item()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("last", [2.0, float("inf"), -float("inf"), float("nan")])
def test_gradients_are_divided_and_asked_whether_they_are_finite(dtype, last):
    (ours, found), (theirs, expected) = (unscaled(F, dtype, NUMBERS * 500 + [last]) for F in (weir, torch))
    for a, b in zip(ours, theirs):
        np.testing.assert_array_equal(a, b)
    assert found == expected == (not np.isfinite(last))


@FRAMEWORKS
def test_what_was_found_before_stays(F):
    assert unscaled(F, "float32", NUMBERS, found=1.0)[1] == 1


@FRAMEWORKS
def test_a_product_that_overflows_is_no_infinite_gradient(F):
    (values, _), found = unscaled(F, "float32", [1e30], factor=1e30)
    assert np.isinf(values).all() and found == 0


def test_gradients_that_do_not_lie_in_rows():
    for of in (lambda x: x.reshape(5, 2)[:, 0], lambda x: x.reshape(5, 2).t(), lambda x: x.expand(2, 10)[0]):
        (ours, _), (theirs, _) = (unscaled(F, "float32", NUMBERS * 2, of=of) for F in (weir, torch))
        np.testing.assert_array_equal(ours[0], theirs[0])


@FRAMEWORKS
def test_gradients_are_changed_where_they_lie(F):
    whole = F.ones(2, 4)
    F._amp_foreach_non_finite_check_and_unscale_([whole[:, ::2]], F.tensor(0.0), F.tensor(2.0))
    assert whole.tolist() == [[2, 1, 2, 1]] * 2


@pytest.mark.parametrize("scale, good, found, changed", [(8.0, 3, 1.0, (4.0, 0)), (8.0, 3, 0.0, (16.0, 0)), (8.0, 2, 0.0, (8.0, 3)),
                                                         (3e38, 3, 0.0, (float(np.float32(3e38)), 0)), (8.0, 3, float("nan"), (4.0, 0)), (8.0, 7, 0.0, (8.0, 8))])
@FRAMEWORKS
def test_the_scale_moves(F, scale, good, found, changed):
    number, tracker = F.tensor(scale), F.tensor(good, dtype=F.int32)
    assert F._amp_update_scale_(number, tracker, F.tensor(found), 2.0, 0.5, 4) is number
    assert (number.item(), tracker.item()) == changed


def test_other_tensors_are_refused_as_pytorch_refuses_them():
    def refusals(F):
        unscale, update = F._amp_foreach_non_finite_check_and_unscale_, F._amp_update_scale_
        one, two, double, count = F.tensor(1.0), F.ones(2), F.tensor(1.0, dtype=F.float64), F.tensor(1, dtype=F.int32)
        for call in (lambda: unscale([two], two, one), lambda: unscale([two], double, one), lambda: unscale([two], one, two), lambda: unscale([two], one, double),
                     lambda: update(two, count, one, 2.0, 0.5, 4), lambda: update(double, count, one, 2.0, 0.5, 4), lambda: update(one, one, one, 2.0, 0.5, 4),
                     lambda: update(one, F.ones(2, dtype=F.int32), one, 2.0, 0.5, 4), lambda: update(one, count, double, 2.0, 0.5, 4),
                     lambda: update(one, count, two, 2.0, 0.5, 4)):
            with pytest.raises(RuntimeError) as error:
                call()
            yield str(error.value)
        for dtype in (F.int64, F.complex64):
            with pytest.raises(NotImplementedError, match="_amp_foreach_non_finite_check_and_unscale_cpu"):
                unscale([F.ones(2, dtype=dtype)], F.tensor(0.0), one)
    assert list(refusals(weir)) == list(refusals(torch))
