"""Pointwise ops, reductions and indexing: memory decides, in the first and second cache and beyond them."""

from functools import partial

from ..case import case, tensor

K4, K64, M8 = tensor(4096), tensor(65536), tensor(8 << 20)  # 16 KiB, 256 KiB, 32 MiB
SQUARE = tensor(1024, 1024)

pointwise, reduce, index = (partial(case, group) for group in ("pointwise", "reduce", "index"))

POINTWISE = [
    pointwise("add", "4k", [K4, K4]),
    pointwise("add", "64k", [K64, K64]),
    pointwise("add", "8M", [M8, M8]),
    pointwise("add", "64k bf16", [tensor(65536, dtype="bfloat16")] * 2),
    pointwise("add", "64k i32", [tensor(65536, dtype="int32", fill="below:1000")] * 2),
    pointwise("add", "1024x1024 transposed", [SQUARE, tensor(1024, 1024, layout="transposed")]),
    pointwise("mul", "1024x1024 by a row", [SQUARE, tensor(1024)]),
    pointwise("exp", "64k", [K64]),
    pointwise("tanh", "64k", [K64]),
    pointwise("nn.functional.gelu", "64k", [K64]),
    pointwise("nn.functional.gelu", "8M", [M8]),
    pointwise("nn.functional.gelu", "64k backward", [tensor(65536, requires_grad=True)], mode="bwd",
              traffic=3 * 65536 * 4),
    pointwise("where", "64k", [tensor(65536, dtype="bool", fill="bool"), K64, K64], traffic=65536 * 13),
    pointwise("pow", "64k", [tensor(65536, fill="positive")], [{"input": 0}, 1.5]),
    pointwise("Tensor.contiguous", "1024x1024 transposed", [tensor(1024, 1024, layout="transposed")]),
    pointwise("Tensor.to", "64k to bf16", [K64], [{"input": 0}, {"dtype": "bfloat16"}], traffic=65536 * 6),
]

REDUCE = [
    reduce("sum", "8M", [M8], out=1),
    reduce("sum", "1024x1024 dim 1", [SQUARE], out=1024, dim=1),
    reduce("sum", "1024x1024 dim 0", [SQUARE], out=1024, dim=0),
    reduce("mean", "8x64x28x28 dims 2, 3", [tensor(8, 64, 28, 28)], out=512, dim=[2, 3]),
    reduce("amax", "1024x1024 dim 1", [SQUARE], out=1024, dim=1),
    reduce("argmax", "1024x1024 dim 1", [SQUARE], out=2 * 1024, dim=1),
    reduce("var", "1024x1024 dim 1", [SQUARE], out=1024, dim=1),
    reduce("cumsum", "1024x1024 dim 1", [SQUARE], dim=1),
    reduce("logsumexp", "1024x1024 dim 1", [SQUARE], out=1024, dim=1),
    reduce("linalg.vector_norm", "64k", [K64], out=1),
]

ROWS, TABLE = tensor(512, dtype="int64", fill="below:30000"), tensor(30000, 256)
PICKED = 2 * 512 * 256 * 4 + 512 * 8  # bytes: rows read and written, and their numbers

INDEX = [
    index("nn.functional.embedding", "512 of 30000x256", [ROWS, TABLE], traffic=PICKED),
    index("nn.functional.embedding", "backward", [ROWS, tensor(30000, 256, requires_grad=True)], mode="bwd",
          traffic=30000 * 256 * 4),
    index("index_select", "512 of 30000x256", [TABLE, ROWS], [{"input": 0}, 0, {"input": 1}], traffic=PICKED),
    index("gather", "1024x1024 dim 1", [SQUARE, tensor(1024, 64, dtype="int64", fill="below:1024")],
          [{"input": 0}, 1, {"input": 1}], traffic=1024 * 64 * 16),
    index("index_add", "512 into 4096x256", [tensor(4096, 256), tensor(512, dtype="int64", fill="below:4096"),
          tensor(512, 256)], [{"input": 0}, 0, {"input": 1}, {"input": 2}]),
    index("nonzero", "64k", [tensor(65536, dtype="bool", fill="bool")], traffic=65536 * 5),
    index("topk", "64x4096 k 8", [tensor(64, 4096)], [{"input": 0}, 8], out=1024),
    # Without ties, whose order PyTorch leaves open.
    index("sort", "64x4096", [tensor(64, 4096, fill="distinct")], traffic=64 * 4096 * 16),
]

CASES = POINTWISE + REDUCE + INDEX
