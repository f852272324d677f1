"""Numbers of fewer bits: pixels, truths, labels and halves, in ops that have no reason to be slower on them than on floats."""

from functools import partial

from ..case import case, tensor

dtypes = partial(case, "dtypes")
PIXELS, LABELS, TRUTHS = tensor(512, 500, dtype="uint8", fill="below:200"), tensor(512, 500, dtype="int32", fill="below:50"), tensor(512, 500, dtype="bool", fill="bool")
HALF, ROWS = tensor(512, 500, dtype="float16"), tensor(64, 2000, dtype="int64", fill="below:50")

CASES = [
    dtypes("clamp", "512x500 uint8", [PIXELS], [{"input": 0}, 3, 90]),
    dtypes("amax", "512x500 uint8 dim 0", [PIXELS], [{"input": 0}, 0], out=500),
    dtypes("amin", "512x500 int32 dim 1", [LABELS], [{"input": 0}, 1], out=512),
    dtypes("signbit", "512x500 int32", [LABELS], traffic=5 * 512 * 500),
    dtypes("matmul", "128x256x128 int32", [tensor(128, 256, dtype="int32", fill="below:50"), tensor(256, 128, dtype="int32", fill="below:50")], out=128 * 128,
           flops=2 * 128 * 256 * 128),
    dtypes("sort", "64x2000 int64 below 50, stable", [ROWS], out=2 * 64 * 2000, stable=True),
    dtypes("unique", "512x500 bool", [TRUTHS], out=2),
    dtypes("add", "512x500 float16", [HALF, HALF]),
    dtypes("Tensor.to", "512x500 float16 to bfloat16", [HALF], [{"input": 0}, {"dtype": "bfloat16"}]),
    dtypes("round", "512x500 float64", [tensor(512, 500, dtype="float64")]),
    dtypes("floor_divide", "512x500 uint8 by 7", [PIXELS], [{"input": 0}, 7]),
    dtypes("remainder", "512x500 int32", [LABELS], [{"input": 0}, 7]),
    *(dtypes(f"bitwise_{way}_shift", f"512x500 {of}", [tensor(512, 500, dtype=of, fill="below:8")] * 2)
      for way, of in (("left", "uint8"), ("right", "uint8"), ("left", "int32"), ("right", "int64"))),
    dtypes("sum", "512x500 bool dim 1", [TRUTHS], [{"input": 0}, 1], out=512),
    dtypes("sum", "512x500 float16 dim 0", [HALF], [{"input": 0}, 0], out=500),
    dtypes("softmax", "512x500 float16 dim 0", [HALF], [{"input": 0}, 0]),
    dtypes("Tensor.to", "64x2000 int64 to float32", [ROWS], [{"input": 0}, {"dtype": "float32"}], traffic=12 * 64 * 2000),
]
