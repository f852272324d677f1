"""Ops over lists of tensors, and conditions, do and raise what PyTorch's do."""

import pytest
import torch
import weir
from twins import assert_close
from weir._foreach import _ONE


def lists(F):
    return ([F.tensor([0.25, 0.5]), F.tensor([[0.75]])], [F.tensor([1.5, 0.5]), F.tensor([[2.0]])], [F.tensor([3.0, 1.0]), F.tensor([[0.5]])])


CALLS = [f"t._foreach_{name}(a)" for name in _ONE] + """
t._foreach_add(a, 2)
t._foreach_add(a, b, alpha=3)
t._foreach_add(a, [1.0, 2.0])
t._foreach_add(a, t.tensor(2.0))
t._foreach_sub(a, b)
t._foreach_mul(a, b)
t._foreach_mul(a, t.tensor(2.0))
t._foreach_div(a, [2.0, 4.0])
t._foreach_pow(a, 2)
t._foreach_pow(2.0, a)
t._foreach_pow(a, b)
t._foreach_maximum(a, 0.4)
t._foreach_maximum(a, b)
t._foreach_clamp_min(a, b)
t._foreach_clamp_max(a, 0.4)
t._foreach_clamp_max(a, [0.3, 0.4])
t._foreach_addcmul(a, b, c)
t._foreach_addcmul(a, b, c, 2.0)
t._foreach_addcdiv(a, b, c, value=0.5)
t._foreach_addcdiv(a, b, c, [1.0, 2.0])
t._foreach_addcdiv(a, b, c, t.tensor([1.0, 2.0]))
t._foreach_lerp(a, b, 0.25)
t._foreach_lerp(a, b, c)
t._foreach_norm(a)
t._foreach_norm(a, 1)
t._foreach_norm(a, ord=float("inf"))
t._foreach_max(a)
t._foreach_clone(a)
t._foreach_add(a, b[:1])
t._foreach_add([], 1)
t._foreach_exp([])""".strip().splitlines()


def outcome(call, F):
    a, b, c = lists(F)
    try:
        return eval(call, {"t": F, "a": a, "b": b, "c": c}), a
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("call", CALLS)
def test_as_pytorch(call):
    assert_close(outcome(call, weir), outcome(call, torch), what=call)


@pytest.mark.parametrize("call", ["add_(a, b, alpha=2)", "mul_(a, 0.5)", "lerp_(a, b, 0.1)", "copy_(a, b)", "zero_(a)", "sqrt_(a)", "addcdiv_(a, b, c, -0.1)",
                                  "clamp_min_(a, 0.4)", "div_(a, b)", "maximum_(a, b)"])
def test_in_place_as_pytorch(call):
    theirs, ours = (outcome(f"t._foreach_{call}", F) for F in (torch, weir))
    assert_close(ours, theirs)


def test_gradients_pass():
    a, b, _ = lists(weir)
    a[0].requires_grad_()
    weir._foreach_mul(a, b)[0].sum().backward()
    assert weir.equal(a[0].grad, b[0])


@pytest.mark.parametrize("call", """t._assert(1 == 2, "no")
t._assert(True, "no")
t._check(False)
t._check(False, lambda: "no")
t._check(1)
t._check(False, "no")
t._check_value(False)
t._check_index(False)
t._check_type(False)
t._check_not_implemented(False)
t._check_with(KeyError, False, lambda: "no")
t._check_is_size(-1)
t._check_tensor_all(t.tensor([True, False]))
t._check_tensor_all(t.ones(2))
t._is_all_true(t.tensor([True, False]))
t._shape_as_tensor(t.ones(2, 3))""".splitlines())
def test_conditions_as_pytorch(call):
    assert_close(outcome(call, weir), outcome(call, torch))
