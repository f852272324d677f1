"""framework/binding/old_order.cpp: factors before tensors, which PyTorch deprecated and takes."""
import warnings

import pytest
import torch
import weir


@pytest.mark.parametrize("call", [
    "t.add(x, 2, y)", "x.add(2, y)", "x.clone().add_(2, y)", "t.sub(x, 2, y)", "x.clone().sub_(2, y)", "t.addcmul(x, .5, y, y)",
    "x.clone().addcmul_(.5, y, y)", "t.addcdiv(x, .5, y, y)", "x.clone().addcdiv_(2, y, y)", "t.addmm(2, x, 3, y, y)",
    "t.addmm(2, x, y, y)", "x.clone().addmm_(2, 3, y, y)", "x.clone().addmm_(2, y, y)", "t.addmv(2, v, 3, y, v)", "t.addmv(2, v, y, v)",
    "t.addr(2, x, 3, v, v)", "t.baddbmm(2, x[None], 3, y[None], y[None])", "t.addmm(2, x, 3, y, y, out=t.empty(2, 2))"])
def test_factors_by_position(call):
    answers = []
    for t in (torch, weir):
        x, v = t.arange(4.0).reshape(2, 2), t.ones(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers.append(eval(call, {"t": t, "x": x, "y": x + 1, "v": v}).tolist())
    assert answers[0] == answers[1]


def test_warns_by_name():
    with pytest.warns(UserWarning, match="addcmul is deprecated: give value by name"):
        weir.addcmul(weir.ones(2), 2, weir.ones(2), weir.ones(2))
    with pytest.warns(UserWarning, match="addmm_ is deprecated: give beta by name"):
        weir.ones(2, 2).addmm_(2, weir.ones(2, 2), weir.ones(2, 2))


@pytest.mark.parametrize("call", ["t.addcmul(x, 1, 2, x)", "t.addcmul(x, x, 1, x)", "t.addmm(x, x, 1, x)", "t.add(x, x, x)", "t.mul(x, 2, x)"])
def test_other_orders_are_refused(call):
    for t in (torch, weir):
        with pytest.raises(TypeError):
            eval(call, {"t": t, "x": t.ones(2, 2)})
