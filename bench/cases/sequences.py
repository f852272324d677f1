"""Recurrent nets and attention: layers over sequences, forward and backward."""

from functools import partial

from ..case import case, tensor

recurrent, attention = (partial(case, group) for group in ("recurrent", "attention"))
F = "nn.functional."


def unrolled(op: str, name: str, batch: int, steps: int, width: int, *, mode: str = "fwd", layers: int = 1, bidirectional: bool = False) -> dict:
    """Returns the case of a recurrent net of `width` inputs and as many hidden units: `lstm`, `gru` or `rnn_tanh` of batch x steps x width."""
    gates = {"lstm": 4, "gru": 3, "rnn_tanh": 1}[op]
    ways = 2 if bidirectional else 1
    leaf = mode != "fwd"
    states = [tensor(layers * ways, batch, width)] * (2 if op == "lstm" else 1)
    weights = [tensor(*shape, requires_grad=leaf, fill="between:-0.1:0.1") for layer in range(layers) for _ in range(ways)
               for shape in ((gates * width, width * (ways if layer else 1)), (gates * width, width), (gates * width,), (gates * width,))]
    inputs = [tensor(batch, steps, width, requires_grad=leaf), *states, *weights]
    first = {"inputs": [1, 3]} if op == "lstm" else {"input": 1}
    flops = 2 * batch * steps * sum(w["shape"][0] * w["shape"][1] for w in weights if len(w["shape"]) == 2) * (2 if leaf else 1)
    return recurrent(op, name, inputs, [{"input": 0}, first, {"inputs": [1 + len(states), len(inputs)]}, True, layers, 0.0, leaf, bidirectional, True],
                     out=batch * steps * width * ways, flops=flops, mode=mode)


RECURRENT = [
    unrolled("lstm", "1x16x64", 1, 16, 64),
    unrolled("lstm", "16x32x128", 16, 32, 128),
    unrolled("lstm", "16x32x128 backward", 16, 32, 128, mode="bwd"),
    unrolled("lstm", "32x64x256, 2 layers", 32, 64, 256, layers=2),
    unrolled("lstm", "16x32x128, both ways", 16, 32, 128, bidirectional=True),
    unrolled("gru", "16x32x128", 16, 32, 128),
    unrolled("gru", "16x32x128 backward", 16, 32, 128, mode="bwd"),
    unrolled("rnn_tanh", "16x32x128", 16, 32, 128),
    recurrent("lstm_cell", "32x256", [tensor(32, 256)] * 3 + [tensor(1024, 256)] * 2 + [tensor(1024)] * 2,
              [{"input": 0}, {"inputs": [1, 3]}, *({"input": i} for i in range(3, 7))], out=2 * 32 * 256, flops=2 * 2 * 32 * 1024 * 256),
]


def scores(name: str, batch: int, heads: int, steps: int, width: int, *, mask: bool = False, kv: int = 0, mode: str = "fwd", dtype: str = "float32",
           **kwargs) -> dict:
    """Returns the case of attention over `steps` positions; `mask` adds a float mask, `kv` heads of keys and values each serve several of queries."""
    leaf = mode != "fwd"
    q = tensor(batch, heads, steps, width, dtype=dtype, requires_grad=leaf)
    inputs = [q, *[tensor(batch, kv or heads, steps, width, dtype=dtype, requires_grad=leaf)] * 2, *[tensor(steps, steps, dtype=dtype)] * mask]
    flops = 4 * batch * heads * steps * steps * width * (5 if leaf else 2) // 2
    return attention(F + "scaled_dot_product_attention", name, inputs, out=batch * heads * steps * width,
                     flops=flops // (2 if kwargs.get("is_causal") else 1), mode=mode, **kwargs)


ATTENTION = [
    scores("1x4x16x32", 1, 4, 16, 32),
    scores("2x12x512x64", 2, 12, 512, 64),
    scores("2x12x512x64 causal", 2, 12, 512, 64, is_causal=True),
    scores("2x12x512x64 mask", 2, 12, 512, 64, mask=True),
    scores("2x12x512x64 backward", 2, 12, 512, 64, mode="bwd"),
    scores("2x12x512x64 causal backward", 2, 12, 512, 64, mode="bwd", is_causal=True),
    scores("2x12x512x64, 4 heads of keys", 2, 12, 512, 64, kv=4, enable_gqa=True),
    scores("2x12x512x64 bf16", 2, 12, 512, 64, dtype="bfloat16"),
    scores("1x8x2048x64 causal", 1, 8, 2048, 64, is_causal=True),
]

CASES = RECURRENT + ATTENTION
