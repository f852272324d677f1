"""Ops of truth values, and the order of complex numbers, against PyTorch, whose kernels take them in some cases only."""

import pytest
import torch
from twins import assert_same

B = torch.tensor([True, False, True])
CALLS = [f"{op}({at})" for op in ("fmod", "remainder", "bitwise_left_shift", "bitwise_right_shift", "floor_divide", "pow") for at in ("b, b", "b, True", "b[:0], b[:0]", "b, 2")]
CALLS += [f"{op}({at})" for op in ("gcd", "lcm") for at in ("b, b", "b[:0], b[:0]", "b, b.int()")]
CALLS += [f"div({at}, rounding_mode='{mode}')" for at in ("b, b", "b, True", "b[:0], b", "b, 2") for mode in ("floor", "trunc")]
CALLS += ["clamp(b, b, b)", "clamp(b, min=b)", "clamp(b[:0], b[:0], b[:0])", "clamp_max(b, b)"]
CALLS += ["pow(True, b)", "pow(b, False)", "pow(b, t.tensor(True))", "result_type(2**63, b)", "dropout(b, 1.0, True)", "feature_dropout(b[None], 1.0, True)",
          "feature_dropout(b[None], 0.5, True)", "feature_dropout(b[None].int(), 0.5, True)", "alpha_dropout(b, 1.0, True)", "feature_alpha_dropout(b[None], 1.0, True)",
          "addbmm(b[:0, None], b[None, :0, None], b[None, None], beta=-2)", "addbmm(b, b[None, None, :1], b[None, None])", "addbmm(b[:0, None], b[:0, None, None][:, :0], b[:0, None, None], beta=4)", "addbmm(b[0], b[:0, None, None], b[:0, None, None])", "addbmm(b[0], b[:0, None, None], b[:0, None, None], beta=True)", "addmm(b[:0, None], b[:0, None], b[None], alpha=3)"]
Z = torch.tensor([[1j, 2]])


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    assert_same(lambda t, b: eval(f"t.{text}", {"t": t, "b": b}), B, what=text)


@pytest.mark.parametrize("text", ["b << b", "b >> True", "b // b", "b % True", "b ** b", "b ** True", "b << 1"])
def test_operators(text):
    assert_same(lambda t, b: eval(text, {"b": b}), B, what=text)


@pytest.mark.parametrize("text", ["aminmax(z)", "aminmax(z[:0], dim=1)", "aminmax(z[:, :0], dim=0, keepdim=True)"])
def test_complex_numbers_have_no_order(text):
    assert_same(lambda t, z: eval(f"t.{text}", {"t": t, "z": z}), Z, what=text)
