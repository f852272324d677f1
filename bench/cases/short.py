"""Short axes: points of three numbers, few classes, batches of small matrices. What an op costs per row decides, not what it costs per number."""

from functools import partial

from ..case import case, tensor

short = partial(case, "short")
ROWS = 20000
POINTS, TRUTHS, SCORES = tensor(ROWS, 3), tensor(ROWS, 3, dtype="bool", fill="bool"), tensor(ROWS, 10)
SETS, MATRICES = tensor(500, 40, 3), tensor(2000, 4, 4)
CLASS = tensor(ROWS, dtype="int64", fill="below:10")

CASES = [
    *(short(op, "20000x3 dim 1", [POINTS], out=ROWS, dim=1) for op in ("sum", "mean", "amax", "prod", "logsumexp")),
    short("argmax", "20000x3 dim 1", [POINTS], out=2 * ROWS, dim=1),
    short("max", "20000x3 dim 1", [POINTS], [{"input": 0}, 1], out=3 * ROWS),
    short("sum", "20000x3 dim 0", [POINTS], out=3, dim=0),
    short("sum", "20000x3 bool dim 1", [TRUTHS], out=8 * ROWS, dim=1),
    short("any", "20000x3 dim 1", [TRUTHS], out=ROWS, dim=1),
    short("sum", "500x40x3 dim 1", [SETS], out=1500, dim=1),
    short("softmax", "20000x3", [POINTS], dim=1),
    short("nn.functional.layer_norm", "20000x3", [POINTS], [{"input": 0}, [3]]),
    short("softmax", "20000x10", [SCORES], dim=1),
    short("nn.functional.cross_entropy", "20000x10", [SCORES, CLASS], out=1),
    short("nn.functional.cross_entropy", "20000x10 backward", [tensor(ROWS, 10, requires_grad=True), CLASS], mode="bwd", traffic=3 * ROWS * 40),
    short("cumsum", "20000x3 dim 1", [POINTS], dim=1),
    short("sub", "300x1x3 by 1x300x3", [tensor(300, 1, 3), tensor(1, 300, 3)], out=300 * 300 * 3),
    short("mul", "4096x1x3 by 1x16x3", [tensor(4096, 1, 3), tensor(1, 16, 3)], out=4096 * 16 * 3),
    short("div", "20000x3 by 20000x1", [POINTS, tensor(ROWS, 1, fill="positive")]),
    short("kron", "10x10", [tensor(10, 10)] * 2, out=10000),
    short("matmul", "2000x4x4", [MATRICES] * 2, flops=2 * 2000 * 64),
    short("matmul", "2000x4x4 by 4x1", [MATRICES, tensor(2000, 4, 1)], out=8000, flops=2 * 2000 * 16),
    short("matmul", "20000x3 by 3", [POINTS, tensor(3)], out=ROWS, flops=6 * ROWS),
    short("linalg.det", "2000x4x4", [MATRICES], out=2000),
    short("linalg.inv", "500x4x4", [tensor(500, 4, 4, fill="definite")]),
    short("Tensor.contiguous", "500x40x3 transposed", [tensor(500, 40, 3, layout="transposed")]),
]
