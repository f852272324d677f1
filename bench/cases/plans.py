"""Programs that a static graph runs as one plan (`bench/plans.py`). PyTorch runs them in eager mode."""

from functools import partial

from ..case import case, tensor

graph = partial(case, "graph", mode="program")


def _layers(*sizes):
    return [t for i, o in zip(sizes, sizes[1:]) for t in (tensor(o, i, requires_grad=True), tensor(o, requires_grad=True))]


def _norm(channels):
    return [tensor(channels), tensor(channels), tensor(channels), tensor(channels, fill="between:0.5:2")]


BLOCK = [tensor(64, 64, 3, 3, layout="channels_last"), *_norm(64)]
LAYER = [tensor(*s, fill="between:-0.05:0.05") for s in ((2304, 768), (768, 768), (3072, 768), (768, 3072))] + [tensor(768), tensor(768)]
NUMBERS = 16 * 2**20  # 64 MB
ROWS = 2048 * 1024

CASES = [
    graph("mlp_step", "32-64-64-64-10, 32 samples, Adam", [*_layers(32, 64, 64, 64, 10), tensor(32, 32), tensor(32, 10)], traffic=0, count=2),
    graph("chain", "of 10 on 64 MB", [tensor(NUMBERS)], traffic=8 * NUMBERS, count=1),
    graph("rms_norm", "2048x1024", [tensor(1024), tensor(2048, 1024)], traffic=8 * ROWS, count=1),
    graph("softmax", "2048x1024", [tensor(2048, 1024)], traffic=8 * ROWS, count=1),
    graph("residual_block", "4x64x56x56", [*BLOCK, *BLOCK, tensor(4, 64, 56, 56, layout="channels_last")], traffic=0, count=1,
          flops=2 * 2 * 4 * 56**2 * 64**2 * 9),
    graph("encoder_layer", "4x128x768", [*LAYER, tensor(4, 128, 768)], traffic=0, count=1, flops=2 * 4 * 128 * (12 * 768**2 + 2 * 128 * 768)),
]
