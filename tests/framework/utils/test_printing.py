"""Tensors print as PyTorch's do."""

import pytest
import torch
import weir

MAKERS = {
    "ints": lambda F: F.arange(5), "empty": lambda F: F.tensor([]), "empty 2d": lambda F: F.zeros(2, 0),
    "empty int": lambda F: F.zeros(0, dtype=F.int64), "scalar": lambda F: F.tensor(3.5), "scalar int": lambda F: F.tensor(-7),
    "bool": lambda F: F.tensor([True, False]), "half": lambda F: F.tensor([1.5, 2.25], dtype=F.float16),
    "bfloat16": lambda F: F.tensor([[1.5, 2.25]], dtype=F.bfloat16), "double": lambda F: F.tensor([1.1], dtype=F.float64),
    "int32": lambda F: F.tensor([1, -20], dtype=F.int32), "wide range": lambda F: F.tensor([1e-5, 1.0, 1e5]),
    "large": lambda F: F.tensor([1e9, 2e9]), "small": lambda F: F.tensor([1e-6]), "whole": lambda F: F.tensor([1.0, -20.0]),
    "special": lambda F: F.tensor([float("nan"), float("inf"), -float("inf"), 1.0]), "zeros": lambda F: F.zeros(2, 3),
    "only inf": lambda F: F.tensor([float("inf"), 0.0]), "summary": lambda F: F.arange(2000),
    "summary 2d": lambda F: F.arange(4000.0).reshape(40, 100), "3d": lambda F: F.arange(24).reshape(2, 3, 4),
    "4d": lambda F: F.ones(2, 2, 2, 2), "long row": lambda F: F.arange(60) * 1000, "leaf": lambda F: F.ones(2, requires_grad=True),
    "grad_fn": lambda F: F.ones(2, requires_grad=True) * 2, "wraps": lambda F: F.arange(9.0).reshape(3, 3).requires_grad_() + 1.5,
    "meta": lambda F: F.empty(2, 3, device="meta"), "parameter": lambda F: F.nn.Parameter(F.ones(2, 2)),
    "complex": lambda F: F.complex(F.tensor([[1.5, -2], [3, 4]]), F.tensor([[0.25, 1e5], [float("nan"), 0]])),
    "complex whole": lambda F: F.complex(F.tensor([1.0, -2]), F.tensor([3.0, -0.0])), "complex scalar": lambda F: F.polar(F.tensor(2.0), F.tensor(0.5)),
    "conjugate": lambda F: F.complex(F.arange(3.0).double(), F.arange(3.0).double()).conj(),
    "negative": lambda F: F.tensor([[-1.5, 2], [3, -4e3]])}


@pytest.mark.parametrize("name", MAKERS)
def test_repr(name):
    assert repr(MAKERS[name](weir)) == repr(MAKERS[name](torch))


@pytest.mark.parametrize("options", [dict(precision=2), dict(sci_mode=True), dict(linewidth=40), dict(profile="short"),
                                     dict(threshold=5, edgeitems=1)], ids=str)
def test_printoptions(options):
    try:
        for F in (weir, torch):
            F.set_printoptions(**options)
        assert repr(weir.arange(12.0) / 7) == repr(torch.arange(12.0) / 7)
        assert repr(weir.arange(30).reshape(3, 10)) == repr(torch.arange(30).reshape(3, 10))
    finally:
        for F in (weir, torch):
            F.set_printoptions(profile="default")
