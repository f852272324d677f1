"""Normalisation and losses, matrix products, convolution and pooling: the kernels that layers are made of."""

from functools import partial

from ..case import case, tensor

norm, matmul, conv = (partial(case, group) for group in ("norm", "matmul", "conv"))
F = "nn.functional."
ROWS, LEAF = tensor(512, 1024), tensor(512, 1024, requires_grad=True)
TOKENS, HIDDEN = tensor(512, 768), tensor(768)
PLANES, CHANNELS = tensor(8, 64, 28, 28), tensor(64)
STATS = [tensor(64), tensor(64, fill="positive")]
FEED = [{"input": i} for i in range(5)]
LABELS = tensor(8, 64, 64, dtype="int64", fill="below:21")  # a class for each pixel

NORM = [
    norm(F + "softmax", "512x1024", [ROWS], dim=1),
    norm(F + "softmax", "512x1024 backward", [LEAF], mode="bwd", traffic=3 * 512 * 1024 * 4, dim=1),
    norm(F + "log_softmax", "512x1024", [ROWS], dim=1),
    norm(F + "layer_norm", "512x768", [TOKENS, HIDDEN, HIDDEN],
         [{"input": 0}, [768], {"input": 1}, {"input": 2}]),
    norm(F + "layer_norm", "512x768 backward", [tensor(512, 768, requires_grad=True), HIDDEN, HIDDEN],
         [{"input": 0}, [768], {"input": 1}, {"input": 2}], mode="bwd", traffic=3 * 512 * 768 * 4),
    norm(F + "layer_norm", "8x56x56x32", [tensor(8, 56, 56, 32), tensor(32), tensor(32)], [{"input": 0}, [32], {"input": 1}, {"input": 2}],
         traffic=(2 * 32 + 2) * 8 * 56 * 56 * 4),  # of short rows the statistics that are kept show
    norm(F + "layer_norm", "8x56x56x32 backward", [tensor(8, 56, 56, 32, requires_grad=True), tensor(32), tensor(32)],
         [{"input": 0}, [32], {"input": 1}, {"input": 2}], mode="bwd", traffic=3 * 8 * 56 * 56 * 32 * 4),
    norm(F + "layer_norm", "8 x 100352 backward", [tensor(8, 32, 56, 56, requires_grad=True)], [{"input": 0}, [32, 56, 56]], mode="bwd", traffic=3 * 8 * 32 * 3136 * 4),
    norm(F + "batch_norm", "8x64x28x28 training", [PLANES, *STATS, CHANNELS, CHANNELS], FEED, training=True),
    norm(F + "batch_norm", "8x64x28x28 backward", [tensor(8, 64, 28, 28, requires_grad=True), *STATS, CHANNELS,
         CHANNELS], FEED, mode="bwd", traffic=3 * 8 * 64 * 784 * 4, training=True),
    norm(F + "group_norm", "8x64x28x28, 8 groups", [PLANES], [{"input": 0}, 8]),
    norm(F + "cross_entropy", "512x1024", [ROWS, tensor(512, dtype="int64", fill="below:1024")], out=1),
    norm(F + "softmax", "8x21x64x64 dim 1", [tensor(8, 21, 64, 64)], dim=1),
    norm(F + "softmax", "8x21x64x64 dim 1 backward", [tensor(8, 21, 64, 64, requires_grad=True)], mode="bwd", traffic=3 * 8 * 21 * 4096 * 4, dim=1),
    norm(F + "cross_entropy", "8x21x64x64", [tensor(8, 21, 64, 64), LABELS], out=1),
    norm(F + "cross_entropy", "8x21x64x64 backward", [tensor(8, 21, 64, 64, requires_grad=True), LABELS], mode="bwd", traffic=3 * 8 * 21 * 4096 * 4),
]


def product(name: str, m: int, k: int, n: int, a: str = "contiguous", b: str = "contiguous", **more) -> dict:
    """Returns the case of an (m, k) by (k, n) product whose factors have layouts `a` and `b`."""
    return matmul("matmul", name, [tensor(m, k, layout=a, **more), tensor(k, n, layout=b, **more)], out=m * n,
                  flops=2 * m * k * n)


LINEAR = [tensor(128, 768), tensor(3072, 768), tensor(3072)]
WIDE = [tensor(1024, 768, dtype="bfloat16"), tensor(3072, 768, dtype="bfloat16")]
HEADS = [tensor(2, 12, 128, 64)] * 3

MATMUL = [
    product("64", 64, 64, 64),
    product("256", 256, 256, 256),
    product("512", 512, 512, 512),
    product("1024", 1024, 1024, 1024),
    product("vector 1x2048x2048", 1, 2048, 2048),
    product("skinny 16x1024x1024", 16, 1024, 1024),
    product("256 NT", 256, 256, 256, b="transposed"),
    product("256 TN", 256, 256, 256, a="transposed"),
    product("512 bf16", 512, 512, 512, dtype="bfloat16"),
    product("1024 bf16", 1024, 1024, 1024, dtype="bfloat16"),
    matmul(F + "linear", "1024x768 to 3072 bf16", WIDE, out=1024 * 3072, flops=2 * 1024 * 768 * 3072),
    matmul(F + "linear", "1024x768 to 3072 bf16 backward", [dict(x, requires_grad=True) for x in WIDE], out=1024 * 768 + 3072 * 768,
           flops=4 * 1024 * 768 * 3072, mode="bwd"),
    matmul("bmm", "24 x 128x64x128", [tensor(24, 128, 64), tensor(24, 64, 128)], out=24 * 128 * 128,
           flops=2 * 24 * 128 * 64 * 128),
    matmul(F + "linear", "128x768 to 3072", LINEAR, out=128 * 3072, flops=2 * 128 * 768 * 3072),
    matmul(F + "scaled_dot_product_attention", "2x12x128x64", HEADS, flops=4 * 24 * 128 * 128 * 64),
]


def conv2d(name: str, cin: int, cout: int, size: int, k: int, *, stride: int = 1, groups: int = 1,
           mode: str = "fwd", **more) -> dict:
    """Returns the case of a batch of 4 square pictures convolved with padding k // 2."""
    leaf = mode != "fwd"
    out = size // stride
    inputs = [tensor(4, cin, size, size, requires_grad=leaf, **more),
              tensor(cout, cin // groups, k, k, requires_grad=leaf, **more)]
    # Backward computes two such products: one for the input, one for the weight.
    flops = 2 * 4 * out * out * cout * (cin // groups) * k * k * (2 if leaf else 1)
    return conv(F + "conv2d", name, inputs, out=4 * cout * out * out, flops=flops, mode=mode, stride=stride,
                padding=k // 2, groups=groups)


CONV = [
    conv2d("1x1 64 to 256, 28", 64, 256, 28, 1),
    conv2d("3x3 64, 28", 64, 64, 28, 3),
    conv2d("3x3 64, 28, channels_last", 64, 64, 28, 3, layout="channels_last"),
    conv2d("3x3 64, 28, bf16 channels_last", 64, 64, 28, 3, layout="channels_last", dtype="bfloat16"),
    conv2d("7x7 stride 2, 112", 3, 64, 112, 7, stride=2),
    conv2d("depthwise 3x3 128, 28", 128, 128, 28, 3, groups=128),
    conv2d("3x3 64, 28, 4 groups", 64, 64, 28, 3, groups=4),
    conv2d("3x3 64, 28, backward", 64, 64, 28, 3, mode="bwd"),
    conv(F + "max_pool2d", "4x64x56x56 3x3 stride 2", [tensor(4, 64, 56, 56)], [{"input": 0}, 3],
         out=4 * 64 * 28 * 28, stride=2, padding=1),
    conv(F + "adaptive_avg_pool2d", "4x512x7x7 to 1", [tensor(4, 512, 7, 7)], [{"input": 0}, 1], out=2048),
]

CASES = NORM + MATMUL + CONV
