"""`torch.testing.assert_close`: what it compares, and what it refuses to compare."""

import numpy as np
import pytest
import torch
import weir

OUTCOMES = {
    "a tensor and an array": lambda F: (F.zeros(2), np.zeros(2, "float32")),
    "a tensor and a list": lambda F: (F.zeros(2), [0.0, 0.0]),
    "a tensor and a number": lambda F: (F.zeros(()), 0.0),
    "an array and a list": lambda F: (np.zeros(2), [0, 0]),
    "arrays": lambda F: (np.zeros(2), np.zeros(2)),
    "a parameter and a tensor": lambda F: (F.nn.Parameter(F.zeros(2)), F.zeros(2)),
    "None": lambda F: (None, None),
    "a number and None": lambda F: (0, None),
    "None and NaN": lambda F: (None, float("nan")),
    "a tensor and None": lambda F: (F.tensor(float("nan")), None),
    "lists with None": lambda F: ([F.ones(1), None], [F.ones(1), F.ones(1)]),
    "texts": lambda F: ("0", "0"),
    "an integer and a float": lambda F: (1, 1.0),
    "a NumPy scalar and its number": lambda F: (np.float32(0.5), 0.5),
    "a number and a NumPy scalar": lambda F: (1, np.int8(1)),
    "a NumPy scalar and a number of another kind": lambda F: (np.float32(1), 1),
    "NumPy scalars of two dtypes": lambda F: (np.float32(0.5), np.float64(0.5)),
    "NumPy scalars as far apart as float32 allows": lambda F: (np.float32(1.000001), np.float32(1)),
    "truths": lambda F: (np.bool_(True), True),
    "other truths": lambda F: (np.bool_(True), np.bool_(False)),
    "a NumPy scalar and a tensor": lambda F: (np.float32(1), F.ones(())),
    "a NumPy scalar and an array": lambda F: (np.float32(1), np.ones((), "float32")),
    "as many values": lambda F: (F.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)), F.sparse_coo_tensor([[1, 0], [0, 1]], [2.0, 1.0], (2, 2)).coalesce()),
    "more values": lambda F: (F.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2)), F.sparse_coo_tensor([[0, 1, 1], [1, 0, 0]], [1.0] * 3, (2, 2))),
}


@pytest.mark.parametrize("options", [{}, {"allow_subclasses": False}, {"equal_nan": True}, {"check_dtype": False}])
@pytest.mark.parametrize("what", OUTCOMES)
def test_what_is_compared(what, options):
    told = []
    for F in (torch, weir):
        try:
            told.append(F.testing.assert_close(*OUTCOMES[what](F), **options))
        except Exception as error:
            told.append((type(error).__name__, str(error).splitlines()[0].replace("weir", "torch")))
    assert told[1] == told[0]
