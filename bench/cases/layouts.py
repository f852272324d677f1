"""What programs have beside dense float32 tensors: transposed, spaced and channels-last operands, complex numbers, exponents that are numbers."""

from functools import partial

from ..case import case, tensor

layouts = partial(case, "layouts")
DENSE, TURNED, SPACED = tensor(512, 500), tensor(512, 500, layout="transposed"), tensor(512, 500, layout="spaced")
COMPLEX = tensor(512, 500, dtype="complex64")
PICTURES = tensor(8, 16, 32, 32, layout="channels_last")
HALVES = tensor(8, 64, 28, 28, layout="channels_last", dtype="bfloat16")
TOKENS = tensor(4, 32000, fill="distinct")

CASES = [
    layouts("add", "512x500 and transposed", [DENSE, TURNED]),
    layouts("clamp", "512x500 between spaced and transposed", [DENSE, SPACED, TURNED]),
    layouts("sum", "512x500 spaced dim 1", [SPACED], out=512, dim=1),
    layouts("sum", "512x500 spaced dim 0", [SPACED], out=500, dim=0),
    layouts("sum", "8x16x32x32 channels_last", [PICTURES], out=1),
    layouts("amax", "8x16x32x32 channels_last, dims 2 and 3", [PICTURES], out=8 * 16, dim=[2, 3]),
    *(layouts(f"nn.functional.{kind}_pool2d", f"{of} channels_last, 2x2", [x], [{"input": 0}, 2], traffic=traffic)
      for kind in ("avg", "max") for of, x, traffic in (("8x16x32x32", PICTURES, 5 * 8 * 16 * 1024), ("8x64x28x28 bfloat16", HALVES, 5 * 8 * 32 * 784))),
    layouts("nn.functional.group_norm", "8x64x28x28 bfloat16 channels_last, 8 groups", [HALVES], [{"input": 0}, 8]),
    layouts("matmul", "64x192 by each of 16x192x36", [tensor(64, 192), tensor(16, 192, 36)], out=16 * 64 * 36, flops=2 * 16 * 64 * 192 * 36),
    layouts("matmul", "256x256x256 int64", [tensor(256, 256, dtype="int64", fill="below:100")] * 2, out=256 * 256),
    layouts("mm", "column of 1536 by row of 512", [tensor(1536, 1), tensor(1, 512)], out=1536 * 512),
    layouts("neg", "512x500 bfloat16 transposed", [tensor(512, 500, dtype="bfloat16", layout="transposed")], out=512 * 500),
    layouts("pow", "512x500 to 2", [DENSE], [{"input": 0}, 2]),
    layouts("nn.functional.selu", "512x500", [DENSE]),
    layouts("cummax", "512x500 dim 1", [DENSE], out=3 * 512 * 500, dim=1),
    layouts("mul", "512x500 complex64", [COMPLEX, COMPLEX]),
    layouts("sum", "512x500 complex64 dim 1", [COMPLEX], out=512, dim=1),
    layouts("nn.functional.interpolate", "8x16x32x32 channels_last, bilinear", [PICTURES], [{"input": 0}, None, 2, "bilinear"], out=4 * 8 * 16 * 1024),
    layouts("nn.functional.conv1d", "4x64x500, channels by themselves", [tensor(4, 64, 500), tensor(64, 1, 5)], out=4 * 64 * 496,
            flops=2 * 5 * 4 * 64 * 496, groups=64),
    layouts("topk", "4x32000, 50", [TOKENS], [{"input": 0}, 50], out=3 * 4 * 50),
    layouts("cat", "512x500 twice, dim 1", [DENSE, DENSE], [{"inputs": [0, 2]}, 1], out=2 * 512 * 500),
]
