"""Overhead: tensors so small that only the call path takes time."""

from functools import partial

from ..case import case, tensor

# Nothing to move and nothing to compute: a roofline figure would mean nothing here.
small = partial(case, "overhead", traffic=0)
X, M, ONE = tensor(64), tensor(8, 8), tensor(1)
LEAF = tensor(64, requires_grad=True)

CASES = [
    small("add", "1", [ONE, ONE]),
    small("add", "64", [X, X]),
    small("mul", "scalar 1", [ONE], [{"input": 0}, 2.0]),
    small("mul", "scalar 64", [X], [{"input": 0}, 2.0]),
    small("nn.functional.relu", "1", [ONE]),
    small("nn.functional.relu", "64", [X]),
    small("Tensor.view", "8x8 to 64", [M], [{"input": 0}, 64]),
    small("Tensor.transpose", "8x8", [M], [{"input": 0}, 0, 1]),
    small("Tensor.__getitem__", "slice 64", [X], [{"input": 0}, {"slice": [8, 56, None]}]),
    small("sum", "1", [ONE]),
    small("sum", "64", [X]),
    small("Tensor.item", "1", [ONE]),
    small("Tensor.to", "64, to the device it is on", [X], [{"input": 0}, "cpu"]),
    small("Tensor.to", "64, to the dtype it has, by name", [X], [{"input": 0}], dtype={"dtype": "float32"}),
    small("Tensor.to", "64, to the tensor's like", [X, X]),
    small("empty", "64", [], [64], check="shape"),
    small("cat", "2 x 64", [X, X], [[{"input": 0}, {"input": 1}]]),
    small("matmul", "8x8", [M, M]),
    small("add", "64, recording", [LEAF, X]),
    small("mul", "64, with sum and backward", [LEAF, X], mode="fwd_bwd"),
    small("Tensor.add_", "64", [X, X]),
]
