"""Optimizer steps: loops over many small tensors, or over a few large ones."""

from functools import partial

from ..case import case, tensor

MANY = [tensor(64, 16, grad=True, requires_grad=True, repeat=100)]
LARGE = [tensor(256, 1024, grad=True, requires_grad=True, repeat=10)]
SMALL_TOTAL, LARGE_TOTAL = 100 * 64 * 16 * 4, 10 * 256 * 1024 * 4  # bytes of all parameters

optimizer = partial(case, "optimizer")

CASES = [
    # SGD reads parameter, gradient and momentum and writes two of them; Adam has one more state to read and write.
    optimizer("optim.SGD", "100 small", MANY, [], mode="step", traffic=5 * SMALL_TOTAL, lr=1e-3, momentum=0.9),
    optimizer("optim.Adam", "100 small", MANY, [], mode="step", traffic=7 * SMALL_TOTAL, lr=1e-3),
    optimizer("optim.AdamW", "10 large", LARGE, [], mode="step", traffic=7 * LARGE_TOTAL, lr=1e-3,
              weight_decay=0.01),
    # PyTorch's fastest way, which has to be asked for.
    optimizer("optim.SGD", "100 small fused", MANY, [], mode="step", traffic=5 * SMALL_TOTAL, lr=1e-3, momentum=0.9, fused=True),
    optimizer("optim.Adam", "100 small fused", MANY, [], mode="step", traffic=7 * SMALL_TOTAL, lr=1e-3, fused=True),
    optimizer("optim.AdamW", "10 large fused", LARGE, [], mode="step", traffic=7 * LARGE_TOTAL, lr=1e-3, weight_decay=0.01, fused=True),
    optimizer("nn.utils.clip_grad_norm_", "100 small", MANY, [{"inputs": [0, 100]}, 1.0], traffic=3 * SMALL_TOTAL),
]
