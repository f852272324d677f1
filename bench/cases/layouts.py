"""What programs have beside dense float32 tensors: transposed, spaced and channels-last operands, halves, complex numbers, exponents that are numbers."""

from functools import partial

from ..case import case, tensor

layouts = partial(case, "layouts")
DENSE, TURNED, SPACED = tensor(512, 500), tensor(512, 500, layout="transposed"), tensor(512, 500, layout="spaced")
HALF, COMPLEX = tensor(512, 500, dtype="bfloat16"), tensor(512, 500, dtype="complex64")
PICTURES = tensor(8, 16, 32, 32, layout="channels_last")
SCORES, TOKENS = tensor(64, 1000, fill="distinct"), tensor(4, 32000, fill="distinct")

CASES = [
    layouts("add", "512x500 and transposed", [DENSE, TURNED]),
    layouts("lt", "512x500 and transposed", [DENSE, TURNED], traffic=512 * 500 * 9),
    layouts("mul", "512x500 spaced and transposed", [SPACED, TURNED]),
    layouts("clamp", "512x500 between spaced and transposed", [DENSE, SPACED, TURNED]),
    layouts("add", "512x500 spaced, a number", [SPACED], [{"input": 0}, 1]),
    layouts("sum", "512x500 spaced", [SPACED], out=1),
    layouts("sum", "512x500 spaced dim 1", [SPACED], out=512, dim=1),
    layouts("pow", "512x500 to 2", [DENSE], [{"input": 0}, 2]),
    layouts("pow", "512x500 to 3", [DENSE], [{"input": 0}, 3]),
    layouts("nn.functional.selu", "512x500", [DENSE]),
    layouts("nn.functional.elu", "512x500", [DENSE]),
    layouts("cummax", "512x500 dim 1", [DENSE], out=3 * 512 * 500, dim=1),
    layouts("add", "512x500 bfloat16", [HALF, HALF]),
    layouts("mul", "512x500 complex64", [COMPLEX, COMPLEX]),
    layouts("sum", "512x500 complex64 dim 1", [COMPLEX], out=512, dim=1),
    layouts("nn.functional.interpolate", "8x16x32x32 channels_last, bilinear", [PICTURES], out=4 * 8 * 16 * 1024, scale_factor=2, mode="bilinear"),
    layouts("nn.functional.max_pool2d", "8x16x32x32 channels_last", [PICTURES], out=2 * 8 * 16 * 256, kernel_size=2),
    layouts("nn.functional.conv1d", "4x64x500, channels by themselves", [tensor(4, 64, 500), tensor(64, 1, 5)], out=4 * 64 * 496,
            flops=2 * 5 * 4 * 64 * 496, groups=64),
    layouts("topk", "64x1000, 5", [SCORES], [{"input": 0}, 5], out=3 * 64 * 5),
    layouts("topk", "4x32000, 50", [TOKENS], [{"input": 0}, 50], out=3 * 4 * 50),
    layouts("cat", "512x500 twice, dim 1", [DENSE, DENSE], [{"inputs": [0, 2]}, 1], out=2 * 512 * 500),
]
