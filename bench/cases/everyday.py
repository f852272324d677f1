"""Functions made of several ops that programs call every day, on small tensors, where the calls count, and on larger ones."""

from functools import partial

from ..case import case, tensor

everyday = partial(case, "everyday")
F = "nn.functional."
PICTURE, BATCH = tensor(1, 3, 8, 8), tensor(4, 16, 56, 56)
CLASSES, PROBABILITY, WORDS = "below:16", "between:0.05:0.95", tensor(30000, 64)
BILINEAR = [{"input": 0}, None, 2, "bilinear"]

CASES = [
    everyday(F + "interpolate", "1x3x8x8", [PICTURE], BILINEAR),
    everyday(F + "interpolate", "4x16x56x56", [BATCH], BILINEAR, out=4 * 4 * 16 * 56 * 56),
    everyday(F + "interpolate", "1x3x8x8 nearest", [PICTURE], scale_factor=2),
    *(everyday(F + "one_hot", name, [tensor(n, dtype="int64", fill=CLASSES)], [{"input": 0}, 16], out=16 * n) for name, n in (("64", 64), ("16k", 1 << 14))),
    *(everyday(F + "binary_cross_entropy", name, [tensor(n, fill=PROBABILITY)] * 2, out=1) for name, n in (("64", 64), ("64k", 1 << 16))),
    *(everyday("var_mean", name, [tensor(*shape)], dim=1) for name, shape in (("8x8", (8, 8)), ("256x256", (256, 256)))),
    *(everyday("median", name, [tensor(n, fill="distinct")], out=1) for name, n in (("65", 65), ("64k", 1 << 16))),
    *(everyday("median", name, [tensor(*shape, fill="distinct")], [{"input": 0}, 1], out=shape[0]) for name, shape in (("8x9 dim 1", (8, 9)), ("256x257 dim 1", (256, 257)))),
    *(everyday(F + "embedding_bag", name, [tensor(*shape, dtype="int64", fill="below:30000"), WORDS], traffic=shape[0] * shape[1] * 264)
      for name, shape in (("4x8", (4, 8)), ("128x16", (128, 16)))),
    *(everyday("cdist", name, [tensor(n, 16), tensor(n, 16)], out=n * n) for name, n in (("8x16", 8), ("256x16", 256))),
    *(everyday("quantile", name, [tensor(n)], [{"input": 0}, 0.3], out=1) for name, n in (("64", 64), ("64k", 1 << 16))),
    *(everyday("unique", name, [tensor(n, dtype="int64", fill="below:100")], out=100) for name, n in (("64", 64), ("64k", 1 << 16))),
]
