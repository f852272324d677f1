"""Functions of two tensors that nn.Graph fuses whole, the CUDA text of their groups, and how such graphs run on a GPU."""

import ctypes
import random
import re

import numpy as np
import weir
import weir.nn.functional as F


def optimised(function, *args):
    """Returns the graph of a function as it is to run."""
    with weir._trace.tracing() as t:
        out = function(*t.arguments(args))
        return weir._C._Plan(t.finish(list(out) if isinstance(out, tuple) else [out])).graph


def random_programs(count: int) -> dict:
    """Returns functions with their arguments, by name, of `count` draws those whose graphs are fused whole."""
    drawn = {f"program{seed}": (random_program(seed), laid_out(seed)) for seed in range(count)}
    return {name: (f, args) for name, (f, args) in drawn.items() if is_grouped(str(optimised(f, *args)))}


def texts_of(graph, name: str) -> list[str]:
    """Returns the kernels NAME_0, NAME_1, ... of a graph's nodes, all of them fused."""
    return [graph.cuda_source(i, f"{name}_{i}")[0] for i in range(len(graph))]


def text_of(function, *args) -> str:
    return optimised(function, *args).cuda_source(0, "group")[0]


def run_on(gpu, graph, name: str, args: list) -> list[np.ndarray]:
    """Returns the graph's results as they lie in memory, in one piece each."""
    values = dict(enumerate(map(memory_of, args)))
    for i in range(len(graph)):
        node = graph.node(i)
        text, count, threads, per_block = graph.cuda_source(i, "group")
        taken = re.findall(r"\* in(\d+)", text)
        outputs = {value: np.empty(int(np.prod(shape)), stored(dtype)) for value, shape, dtype in node["outputs"]}
        inputs = [values[node["inputs"][int(k)][0]] for k in dict.fromkeys(taken)]
        gpu.run(f"{name}_{i}".encode(), [*inputs, *outputs.values(), ctypes.c_int64(count)], -(-count // per_block), threads)
        values |= outputs
    return [values[int(v)] for v in re.findall(r"%(\d+)", str(graph).splitlines()[-1])]


def memory_of(x) -> np.ndarray:
    """Returns what lies in a tensor's storage; the bits of half types."""
    whole = x.as_strided((x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)
    return (whole.view(weir.int16) if stored(str(x.dtype).split(".")[1]) == "int16" else whole).numpy().copy()


def stored(dtype: str) -> str:
    return "int16" if dtype in ("bfloat16", "float16") else dtype


def chain(x, y):
    z = F.softplus(x * 2 + y, 1.5, 30.0)
    return (z.sigmoid() - x).clamp(-0.5, 0.75), z.bfloat16() * 3


def halves(x, y):
    z = x.bfloat16() * y.half() + 1
    return z.double().exp(), z > 0, weir.where(x > y, z, y.bfloat16()).half()


# Every op whose struct has members, with others than the defaults.
WITH_MEMBERS = {
    "hardtanh": lambda x, y: F.hardtanh(x, -0.5, 1.5) + y,
    "leaky_relu": lambda x, y: F.leaky_relu(x, 0.25) + y,
    "elu": lambda x, y: F.elu(x, 0.75) + y,
    "celu": lambda x, y: F.celu(x, 0.75) + y,
    "gelu": lambda x, y: F.gelu(x, approximate="tanh") + F.gelu(y),
    "softplus": lambda x, y: F.softplus(x, 2.0, 1.0) + y,
    "shrinks": lambda x, y: F.softshrink(x, 0.25) + F.hardshrink(y, 0.75),
    "threshold": lambda x, y: F.threshold(x, 0.5, -3.0) + y,
    "alpha": lambda x, y: weir.add(x, y, alpha=-2) * weir.sub(x, y, alpha=0.5),
    "rounding": lambda x, y: weir.div(x, y, rounding_mode="floor") + weir.div(x, y, rounding_mode="trunc"),
    "addcmul": lambda x, y: weir.addcmul(x, y, x, value=0.5) + weir.addcdiv(x, y, x, value=-1.5),
    "clamp": lambda x, y: x.clamp(min=-0.5) + y.clamp(max=0.25) * x.clamp(-1, 2),
    "polygamma": lambda x, y: weir.polygamma(1, x.abs() + 1) + y,
    "round": lambda x, y: x.round(decimals=1) + y.round(),
    "logit": lambda x, y: weir.logit(x.sigmoid()) + weir.logit(y, 0.125),
}


def gradient(f):
    def backward(x, y):
        leaf = x.detach().requires_grad_()
        return weir.autograd.grad(f(leaf), leaf, y)[0] * 0.5

    return backward


GRADIENTS = {
    "relu": F.relu, "silu": F.silu, "sigmoid": weir.sigmoid, "tanh": weir.tanh, "hardsigmoid": F.hardsigmoid, "hardswish": F.hardswish,
    "logsigmoid": F.logsigmoid, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "elu": lambda x: F.elu(x, 0.75),
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 1.5), "leaky_relu": lambda x: F.leaky_relu(x, 0.25), "softplus": lambda x: F.softplus(x, 2.0, 1.0),
    "softshrink": lambda x: F.softshrink(x, 0.25), "threshold": lambda x: F.threshold(x, 0.5, -3.0), "mish": F.mish,
}
GROUPS = {"chain": chain, "halves": halves} | WITH_MEMBERS | {f"{name}_backward": gradient(f) for name, f in GRADIENTS.items()}


def rms_norm(x, y):
    return x * weir.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * y


def softmax(x, y):
    e = weir.exp(x * y - (x * y).amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def layers(x, y):
    h = F.layer_norm(x + y, (x.shape[-1],), y if y.dim() == 1 else None)
    return F.gelu(h) + x, (h * 0.5).softmax(-1), F.log_softmax(h - x, -1), weir._safe_softmax(h - y, -1)


def deviations(x, y):
    z = x + y
    var, mean = weir.var_mean(z, -1, keepdim=True)
    return (z - mean) / (var + 1).sqrt(), z.std(-1), (z * 2).norm(dim=-1), (z - z.amin(-1, keepdim=True)).half()


def channels(x, y):
    z = (x + y).view(-1, 16, 240)
    return z / z.norm(dim=1, keepdim=True), z.softmax(1), z.sum((1, 2)), (z - z.amax((1, 2), keepdim=True))[:, ::2, 3:].exp()


def training(x, y):
    x, y = x.detach().requires_grad_(), y.detach().requires_grad_()
    loss = (rms_norm(x, y) * (x * 0.5).softmax(-1) + (x * 0.5).log_softmax(-1)).square().sum()
    return weir.autograd.grad(loss, x)[0] * 2


# Of rows: what reduces them, or works along them, with its neighbours.
ROWS = {f.__name__: f for f in (rms_norm, softmax, layers, deviations, training)}
ROW_ARGUMENTS = {
    "rows": lambda: (weir.randn(300, 700), weir.randn(700)), "halves": lambda: (weir.randn(300, 512).bfloat16(), weir.randn(300, 512).bfloat16()),
    "wide": lambda: (weir.randn(200, 1000).double(), weir.randn(1000).double()), "short": lambda: (weir.randn(20_000, 8), weir.randn(8)),
    "outer": lambda: (weir.randn(4, 8, 32, 64), weir.randn(4, 1, 32, 64)), "transposed": lambda: (weir.randn(400, 300).t(), weir.randn(300, 400)),
}


def row_programs() -> dict:
    """Returns functions with their arguments, by name, whose graphs are nothing but groups."""
    weir.manual_seed(0)
    all_of_them = {f"{name}_{kind}": (f, make()) for name, f in ROWS.items() for kind, make in ROW_ARGUMENTS.items()}
    all_of_them["channels"] = (channels, (weir.randn(20, 16, 240), weir.randn(20, 16, 240)))
    return {name: (f, args) for name, (f, args) in all_of_them.items() if "= row_blocks(" in (g := str(optimised(f, *args))) and is_grouped(g)}


def is_grouped(graph: str) -> bool:
    return set(re.findall(r" = (\w+)\(", graph)) <= {"fused", "row_blocks"}


# None computes with y alone, which may be smaller than x: that would be a group of its own.
_STEPS = [
    lambda x, y: x + y, lambda x, y: x - y * x, lambda x, y: x.sigmoid() * y, lambda x, y: weir.maximum(x, y), lambda x, y: y / (x * x + 1),
    lambda x, y: x.tanh(), lambda x, y: F.gelu(x), lambda x, y: F.silu(x) - 1, lambda x, y: x.erf(), lambda x, y: x.clamp(-3, 3).exp(),
    lambda x, y: x.bfloat16(), lambda x, y: x.half(), lambda x, y: x.double(), lambda x, y: x.float(), lambda x, y: weir.where(x > y, x, -x),
]


def random_program(seed: int):
    """Returns a function of two tensors that takes several steps, and gives its last two results."""
    steps = random.Random(seed).choices(_STEPS, k=6)

    def program(x, y):
        results = [x]
        for step in steps:
            results.append(step(results[-1], y))
        return results[-1].float(), results[-2] * 2

    return program


def laid_out(seed: int) -> tuple:
    """Returns two float32 arguments whose results are of 6 x 5 x 8: dense, broadcast along some axes, or transposed."""
    weir.manual_seed(seed)
    kinds = [lambda: weir.randn(6, 5, 8), lambda: weir.randn(()), lambda: weir.randn(6, 1, 1), lambda: weir.randn(8), lambda: weir.randn(6, 1, 8),
             lambda: weir.randn(5, 1), lambda: weir.randn(8, 5, 6).permute(2, 1, 0), lambda: weir.randn(6, 8, 5).mT]
    return weir.randn(6, 5, 8) * 2, random.Random(seed).choice(kinds)()
