"""What group `phrases` times: lines as programs of vision, language, statistics and science write them, of one call or a few, at the sizes that they
have there.

An entry is a function of the framework `t`, its `nn.functional` as `f`, and tensors; and what these are: shapes, or descriptions (`case.tensor`).
"""

from functools import partial

from .case import tensor

PICTURES, TOKENS, HEADS, ROWS, POINTS = (8, 32, 28, 28), (16, 64, 128), (16, 4, 64, 32), (512, 64), (5000, 3)
LOGITS = (16, 64, 1000)


def whole(*shape: int, below: int) -> dict:
    return tensor(*shape, dtype="int64", fill=f"below:{below}")


def positive(*shape: int) -> dict:
    return tensor(*shape, fill="positive")


def distinct(*shape: int) -> dict:
    return tensor(*shape, fill="distinct")


#: Timed forward, and the gradient of all inputs that have one.
DIFFERENTIABLE = {
    # Pictures.
    "mean of channels": (lambda t, f, x: x.mean(1), PICTURES),
    "mean of pictures": (lambda t, f, x: x.mean((2, 3)), PICTURES),
    "var of channels": (lambda t, f, x: x.var(1), PICTURES),
    "max of channels": (lambda t, f, x: x.max(1)[0], distinct(*PICTURES)),
    "amax of pictures": (lambda t, f, x: x.amax((2, 3)), distinct(*PICTURES)),
    "norm of channels": (lambda t, f, x: x.norm(dim=1), PICTURES),
    "normalize channels": (lambda t, f, x: f.normalize(x, dim=1), PICTURES),
    "cosine of channels": (lambda t, f, x, y: f.cosine_similarity(x, y, dim=1), PICTURES, PICTURES),
    "cumsum over channels": (lambda t, f, x: x.cumsum(1), PICTURES),
    "sort channels": (lambda t, f, x: x.sort(1)[0], distinct(*PICTURES)),
    "softmax of channels": (lambda t, f, x: f.softmax(x, 1), PICTURES),
    "cross entropy of pixels": (lambda t, f, x, y: f.cross_entropy(x, y), (8, 21, 60, 60), whole(8, 60, 60, below=21)),
    "group_norm": (lambda t, f, x: f.group_norm(x, 8), PICTURES),
    "instance_norm": (lambda t, f, x: f.instance_norm(x), PICTURES),
    "batch_norm of many features": (lambda t, f, x, w, b: f.batch_norm(x, t.zeros(8192), t.ones(8192), w, b), (2, 8192), (8192,), (8192,)),
    "layer_norm of channels": (lambda t, f, x: f.layer_norm(x.permute(0, 2, 3, 1), (32,)), PICTURES),
    "bias by channel": (lambda t, f, x, b: x + b.view(1, -1, 1, 1), PICTURES, (32,)),
    "prelu": (lambda t, f, x, w: f.prelu(x, w), PICTURES, (32,)),
    "channels behind": (lambda t, f, x: x.permute(0, 2, 3, 1).contiguous(), PICTURES),
    "pixel_shuffle": (lambda t, f, x: f.pixel_shuffle(x, 4), PICTURES),
    "pixel_unshuffle, channels last": (lambda t, f, x: f.pixel_unshuffle(x, 2), tensor(*PICTURES, layout="channels_last")),
    "channel_shuffle, channels last": (lambda t, f, x: f.channel_shuffle(x, 4), tensor(*PICTURES, layout="channels_last")),
    "unfold 3x3": (lambda t, f, x: f.unfold(x, 3, padding=1), PICTURES),
    "twice as large, bilinear": (lambda t, f, x: f.interpolate(x, scale_factor=2, mode="bilinear"), PICTURES),
    "twice as large, nearest": (lambda t, f, x: f.interpolate(x, scale_factor=2), PICTURES),
    "four fifths as large, nearest": (lambda t, f, x: f.interpolate(x, size=(256, 256)), (1, 3, 320, 320)),
    "half as large, antialiased": (lambda t, f, x: f.interpolate(x, size=(14, 14), mode="bilinear", antialias=True), PICTURES),
    "avg_pool 2x2": (lambda t, f, x: f.avg_pool2d(x, 2), PICTURES),
    "max_pool 2x2": (lambda t, f, x: f.max_pool2d(x, 2), distinct(*PICTURES)),
    "adaptive_avg_pool to 7": (lambda t, f, x: f.adaptive_avg_pool2d(x, 7), PICTURES),
    "pad, reflect": (lambda t, f, x: f.pad(x, (1, 1, 1, 1), mode="reflect"), PICTURES),
    "pad, zeros": (lambda t, f, x: f.pad(x, (1, 1, 1, 1)), PICTURES),
    "pad, circular": (lambda t, f, x: f.pad(x, (1, 1, 1, 1), mode="circular"), PICTURES),
    "cat of channels": (lambda t, f, x, y: t.cat([x, y], 1), PICTURES, PICTURES),
    "flip": (lambda t, f, x: x.flip(3), PICTURES),
    "roll": (lambda t, f, x: x.roll((3, 3), (2, 3)), PICTURES),
    "conv 3x3": (lambda t, f, x, w: f.conv2d(x, w, padding=1), PICTURES, (32, 32, 3, 3)),
    "conv, depthwise": (lambda t, f, x, w: f.conv2d(x, w, padding=1, groups=32), PICTURES, (32, 1, 3, 3)),
    "conv 1x1": (lambda t, f, x, w: f.conv2d(x, w), PICTURES, (64, 32, 1, 1)),
    "conv 1x1 of small planes": (lambda t, f, x, w: f.conv2d(x, w), (4, 192, 6, 6), (64, 192, 1, 1)),
    "conv, depthwise 5x5": (lambda t, f, x, w: f.conv2d(x, w, stride=2, padding=2, groups=240), (4, 240, 12, 12), (240, 1, 5, 5)),
    "conv, grouped": (lambda t, f, x, w: f.conv2d(x, w, padding=1, groups=4), PICTURES, (32, 8, 3, 3)),
    "conv of patches": (lambda t, f, x, w: f.conv2d(x, w, stride=8), (4, 3, 64, 64), (96, 3, 8, 8)),
    "inverted residual": (lambda t, f, x, a, b, c: x + f.conv2d(f.relu6(f.conv2d(f.relu6(f.conv2d(x, a)), b, padding=1, groups=192)), c),
                          (4, 32, 14, 14), (192, 32, 1, 1), (192, 1, 3, 3), (32, 192, 1, 1)),
    "squeeze and excite": (lambda t, f, x, a, b: x * f.conv2d(f.silu(f.conv2d(x.mean((2, 3), keepdim=True), a)), b).sigmoid(), PICTURES, (8, 32, 1, 1), (32, 8, 1, 1)),
    "conv, transposed": (lambda t, f, x, w: f.conv_transpose2d(x, w, stride=2), (4, 32, 28, 28), (32, 16, 2, 2)),
    # Language.
    "embedding": (lambda t, f, i, e: f.embedding(i, e), whole(16, 64, below=5000), (5000, 128)),
    "cross entropy of tokens": (lambda t, f, x, y: f.cross_entropy(x.view(-1, 1000), y.view(-1)), LOGITS, whole(16, 64, below=1000)),
    "cross entropy, smoothed": (lambda t, f, x, y: f.cross_entropy(x.view(-1, 1000), y.view(-1), label_smoothing=0.1), LOGITS, whole(16, 64, below=1000)),
    "split heads": (lambda t, f, x: x.view(16, 64, 4, 32).transpose(1, 2).contiguous(), TOKENS),
    "merge heads": (lambda t, f, x: x.transpose(1, 2).reshape(16, 64, 128), HEADS),
    "chunks of three": (lambda t, f, x: t.cat([c * 2 for c in x.chunk(3, -1)], -1), (16, 64, 384)),
    "rotary": (lambda t, f, x: t.cat([-x[..., 64:], x[..., :64]], -1) * x + x, TOKENS),
    "attention by hand": (lambda t, f, q, k: (q @ k.transpose(-1, -2) / 8).softmax(-1), HEADS, HEADS),
    "one matrix for a batch": (lambda t, f, a, b: a @ b, (64, 192), (16, 192, 36)),
    "one matrix, expanded": (lambda t, f, a, b: t.bmm(a, b.expand(16, -1, -1)), (16, 36, 192), (1, 192, 64)),
    "one matrix, einsum": (lambda t, f, a, b: t.einsum("oi,bis->bos", a, b), (64, 192), (16, 192, 36)),
    "causal mask": (lambda t, f, s: s.masked_fill(t.ones(64, 64, dtype=t.bool).triu(1), float("-inf")).softmax(-1), (16, 4, 64, 64)),
    "swiglu": (lambda t, f, a, b: f.silu(a) * b, (16, 64, 512), (16, 64, 512)),
    "geglu": (lambda t, f, a, b: f.gelu(a, approximate="tanh") * b, (16, 64, 512), (16, 64, 512)),
    "rms norm by hand": (lambda t, f, x: x * t.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6), TOKENS),
    "layer_norm": (lambda t, f, x: f.layer_norm(x, (128,)), TOKENS),
    "layer_norm, affine": (lambda t, f, x, w, b: f.layer_norm(x, (128,), w, b), TOKENS, (128,), (128,)),
    "linear": (lambda t, f, x, w, b: f.linear(x, w, b), TOKENS, (512, 128), (512,)),
    "linear of one row": (lambda t, f, x, w, b: f.linear(x, w, b), (1, 512), (1536, 512), (1536,)),
    "linear to one": (lambda t, f, x, w, b: f.linear(x, w, b), (4096, 16), (1, 16), (1,)),
    "linear from three": (lambda t, f, x, w, b: f.linear(x, w, b), (20000, 3), (8, 3), (8,)),
    "topk 50": (lambda t, f, x: x.topk(50)[0], distinct(16, 5000)),
    "gather targets": (lambda t, f, x, i: x.gather(-1, i.unsqueeze(-1)), LOGITS, whole(16, 64, below=1000)),
    "select tokens": (lambda t, f, x, i: x.index_select(1, i), TOKENS, whole(32, below=64)),
    "select pairs": (lambda t, f, x, i: x.index_select(1, i), (64, 512, 2), whole(512, below=512)),
    "select rows": (lambda t, f, x, i: x.index_select(0, i), (100, 64), whole(5000, below=100)),
    "masked mean": (lambda t, f, x, m: (x * m.unsqueeze(-1)).sum(1) / m.sum(1, keepdim=True), TOKENS, positive(16, 64)),
    "conv over tokens": (lambda t, f, x, w: f.conv1d(x.transpose(1, 2), w, padding=1), TOKENS, (64, 128, 3)),
    "max_pool over tokens": (lambda t, f, x: f.max_pool1d(x.transpose(1, 2), 2), distinct(*TOKENS)),
    "diff": (lambda t, f, x: x.diff(dim=1), TOKENS),
    "small matrices, transposed": (lambda t, f, x: x.transpose(1, 2).contiguous(), (5000, 3, 3)),
    "windows": (lambda t, f, x: x.unfold(1, 8, 4).contiguous(), TOKENS),
    # Statistics.
    "mse_loss": (lambda t, f, x, y: f.mse_loss(x, y), (512, 1024), (512, 1024)),
    "l1_loss": (lambda t, f, x, y: f.l1_loss(x, y), (512, 1024), (512, 1024)),
    "huber_loss": (lambda t, f, x, y: f.huber_loss(x, y), ROWS, ROWS),
    "kl_div": (lambda t, f, x, y: f.kl_div(x, y, log_target=True), ROWS, ROWS),
    "log of gamma": (lambda t, f, x: t.lgamma(x), positive(*ROWS)),
    "gaussian_nll": (lambda t, f, x, y, v: f.gaussian_nll_loss(x, y, v), ROWS, ROWS, positive(*ROWS)),
    "triplet loss": (lambda t, f, a, p, n: f.triplet_margin_loss(a, p, n), ROWS, ROWS, ROWS),
    "standardise columns": (lambda t, f, x: (x - x.mean(0)) / x.std(0), (2000, 64)),
    "cov": (lambda t, f, x: t.cov(x), (32, 1000)),
    "quantile of columns": (lambda t, f, x: t.quantile(x, 0.9, dim=0), distinct(1000, 32)),
    "batch_norm of rows": (lambda t, f, x: f.batch_norm(x, None, None, None, None, True), ROWS),
    "add rows": (lambda t, f, x, i: t.zeros(100, 64).index_add(0, i, x), (5000, 64), whole(5000, below=100)),
    "mean of groups": (lambda t, f, x, i: t.zeros(100, 64).scatter_reduce(0, i[:, None].expand(-1, 64), x, "mean"), (5000, 64), whole(5000, below=100)),
    "logsumexp": (lambda t, f, x: x.logsumexp(-1), ROWS),
    "lerp": (lambda t, f, x, y: x.lerp(y, 0.3), (512, 512), (512, 512)),
    "square": (lambda t, f, x: x**2, (512, 512)),
    "repeat": (lambda t, f, x: x.repeat(1, 4), ROWS),
    "repeat_interleave": (lambda t, f, x: x.repeat_interleave(4, 1), ROWS),
    # Science.
    "cdist": (lambda t, f, a, b: t.cdist(a, b), (300, 16), (400, 16)),
    "pdist": (lambda t, f, a: f.pdist(a), (200, 16)),
    "squared distances": (lambda t, f, a: ((a[:, None] - a[None]) ** 2).sum(-1), (200, 8)),
    "outer": (lambda t, f, a, b: a[:, None] * b[None], (1000,), (1000,)),
    "length of points": (lambda t, f, p: p.norm(dim=-1), POINTS),
    "cross": (lambda t, f, p, q: t.linalg.cross(p, q), POINTS, POINTS),
    "det 3x3": (lambda t, f, a: t.linalg.det(a), (2000, 3, 3)),
    "inv 3x3": (lambda t, f, a: t.linalg.inv(a), tensor(2000, 3, 3, fill="definite")),
    "turn points": (lambda t, f, r, p: (r @ p.unsqueeze(-1)).squeeze(-1), (5000, 3, 3), POINTS),
    "solve 8x8": (lambda t, f, a, b: t.linalg.solve(a, b), tensor(50, 8, 8, fill="definite"), (50, 8, 2)),
    "cholesky 16x16": (lambda t, f, a: t.linalg.cholesky(a), tensor(50, 16, 16, fill="definite")),
    "bilinear form": (lambda t, f, a, w, b: t.einsum("bi,oij,bj->bo", a, w, b), (64, 32), (8, 32, 32), (64, 32)),
    "kron": (lambda t, f, a, b: t.kron(a, b), (16, 16), (32, 32)),
    "spectrum": (lambda t, f, x: t.fft.rfft(x).abs(), (64, 1000)),
    "atan2": (lambda t, f, y, x: t.atan2(y, x), ROWS, ROWS),
    "diagonals": (lambda t, f, a: a.diagonal(dim1=-2, dim2=-1).sum(-1), (64, 64, 64)),
    "tril": (lambda t, f, a: a.tril(), (512, 512)),
}

#: Timed forward only.
DISCRETE = {
    "argmax of channels": (lambda t, f, x: x.argmax(1), distinct(*PICTURES)),
    "argmax of tokens": (lambda t, f, x: x.argmax(-1), distinct(*LOGITS)),
    "sort vocabulary": (lambda t, f, x: x.sort(-1, descending=True)[1], distinct(16, 5000)),
    "one_hot": (lambda t, f, i: f.one_hot(i, 1000), whole(16, 64, below=1000)),
    "mask of lengths": (lambda t, f, n: t.arange(64)[None] < n[:, None], whole(16, below=64)),
    "positive ones": (lambda t, f, x: x[x > 0], TOKENS),
    "places of large ones": (lambda t, f, x: (x > 1).nonzero(), TOKENS),
    "rows by numbers": (lambda t, f, x, i: x[i], (100, 64), whole(5000, below=100)),
    "axes exchanged": (lambda t, f, p: p[:, [2, 1, 0]], POINTS),
    "nearest five": (lambda t, f, d: d.topk(5, largest=False)[1], distinct(200, 200)),
    "histc": (lambda t, f, x: t.histc(x, 50), (100000,)),
    "bincount": (lambda t, f, i: t.bincount(i, minlength=100), whole(100000, below=100)),
    "searchsorted": (lambda t, f, x: t.searchsorted(t.linspace(-3, 3, 64), x), (100000,)),
    "svdvals 16x16": (lambda t, f, a: t.linalg.svdvals(a), (20, 16, 16)),
    "max_pool over tokens, no gradient": (lambda t, f, x: f.max_pool1d(x, 2), (16, 128, 64)),
    "remainder": (lambda t, f, x: x % 1.5, ROWS),
    "extremes of columns": (lambda t, f, x: t.aminmax(x, dim=0)[0], (2000, 64)),
}


def by_name(name: str, t):
    """The entry of that name as a function of tensors alone. Raises KeyError for none."""
    return partial(({**DIFFERENTIABLE, **DISCRETE})[name][0], t, t.nn.functional)
