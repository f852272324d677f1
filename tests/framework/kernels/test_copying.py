"""Copies, casts, pads and broadcast sums of operands that lie in memory in every way, against PyTorch bit by bit."""

import random
import warnings

import numpy as np
import pytest
import torch
import weir

DTYPES = ["float32", "float64", "int64", "int32", "int16", "uint8", "bool", "bfloat16", "float16", "complex64", "complex128"]
KINDS = ["contiguous", "clone", "to", "flip", "cat", "pad", "add", "mul", "where", "copy_", "add_"]


class Case:
    """One call, drawn from `seed`: a tensor of some shape and dtype, views of it, and what is done with them."""

    def __init__(self, kind: str, seed: int):
        self.rng = rng = random.Random(f"{kind} {seed}")
        self.kind, self.seed = kind, rng.randrange(1 << 30)
        self.dtype, self.other = rng.choice(DTYPES), rng.choice(DTYPES)
        self.shape = [rng.choice([1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 40, 64, 100]) for _ in range(rng.randint(1, 5))]
        while np.prod(self.shape) > 20000:
            self.shape[rng.randrange(len(self.shape))] = rng.choice([1, 2, 3])
        self.sizes = list(self.shape)
        self.views = [self._view() for _ in range(rng.randint(0, 3))]
        axes = range(len(self.sizes))
        self.dim, self.dims = rng.choice(axes), [d for d in axes if rng.random() < .5]
        self.pads = [rng.randint(-1, 3) for _ in range(2 * rng.randint(1, len(self.sizes)))]
        self.repeated = [n if rng.random() < .6 else 1 for n in self.sizes][rng.choice([0, 0, self.dim]):]

    def _view(self):
        """Returns what makes a view of `self.sizes`, which become the view's."""
        rng, sizes = self.rng, self.sizes
        kind = rng.choice(["permute", "slice", "expand"])
        if kind == "permute":
            order = rng.sample(range(len(sizes)), len(sizes))
            self.sizes = [sizes[i] for i in order]
            return lambda t: t.permute(order)
        if kind == "slice":
            cut = tuple(slice(rng.randint(0, min(2, n - 1)), n, rng.choice([1, 1, 1, 2, 3])) for n in sizes)
            self.sizes = [len(range(s.start, s.stop, s.step)) for s in cut]
            return lambda t: t[cut]
        at, to = rng.randint(0, len(sizes)), list(sizes)
        to.insert(at, rng.choice([1, 2, 5, 8, 9]) if len(sizes) < 6 and np.prod(sizes) < 20000 else 1)
        self.sizes = to
        return lambda t: t.unsqueeze(at).expand(to)

    def _filled(self, m, shape, dtype, seed):
        numbers = np.random.default_rng(seed).standard_normal(shape) * 4
        return m.tensor(np.abs(numbers) if dtype == "uint8" else numbers).to(getattr(m, dtype))

    def run(self, m):
        """Returns the result with module `m`: torch or weir."""
        t = self._filled(m, self.shape, self.dtype, self.seed)
        for view in self.views:
            t = view(t)
        beside = self._filled(m, self.repeated, self.dtype, self.seed + 1)
        match self.kind:
            case "to": return t.to(getattr(m, self.other))
            case "flip": return t.flip(self.dims)
            case "cat": return m.cat([t, t], self.dim)
            case "pad": return m.nn.functional.pad(t, self.pads, value=2)
            case "where": return m.where(t == t.flip(self.dims), t, beside)
            case "add" | "mul": return getattr(t, self.kind)(beside)
            case "add_": return t.clone().add_(beside)
            case "copy_":
                into = m.zeros([n + 1 for n in self.sizes], dtype=getattr(m, self.other))
                into[tuple(slice(1, None) for _ in self.sizes)].copy_(t)
                return into
            case kind: return getattr(t, kind)()


def outcome(case, m):
    """Returns (dtype, shape, strides, bits), or the name of what was raised."""
    try:
        t = case.run(m)
    except (RuntimeError, ValueError, IndexError, NotImplementedError) as error:
        return type(error).__name__
    wide = m.view_as_real(t.to(m.complex128)) if t.is_complex() else t.to(m.float64)
    return str(t.dtype).split(".")[-1], tuple(t.shape), t.stride(), wide.contiguous().numpy().tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_bits_of_any_layout(kind):
    for seed in range(120):
        case = Case(kind, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # complex numbers cast to real ones
            want, got = outcome(case, torch), outcome(case, weir)
        assert got[:3] == want[:3] and got == want, f"{kind} {seed}: {case.dtype} {case.shape} as {case.sizes}, {got[:3]} for {want[:3]}"


@pytest.mark.parametrize("sizes", [(100, 10, 0, 6), (2, 0, 3, 4), (2, 3, 4, 0), (0, 3, 4, 5)])
def test_channels_last_without_elements(sizes):
    want, got = (m.empty(sizes, memory_format=m.channels_last).stride() for m in (torch, weir))
    assert got == want


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64])
@pytest.mark.parametrize("n", [0, 1, 7, 31, 1000, 70000])
def test_dot(n, dtype):
    x, y = (torch.randint(-4, 5, (n,)).to(dtype) for _ in range(2))  # small integers: the order of the sum leaves no trace
    x, y = (x[: n // 8], y[: n // 8]) if dtype is torch.bfloat16 else (x, y)
    assert weir.dot(*(weir.from_numpy(t.double().numpy()).to(getattr(weir, str(dtype)[6:])) for t in (x, y))).item() == torch.dot(x, y).item()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_large_copies_go_past_the_caches(dtype):
    x = weir.arange((1 << 25) + 21).remainder(1 << 15).int()
    copy = x.to(getattr(weir, dtype))
    assert weir.equal(copy[:500], x[:500].to(copy.dtype)) and weir.equal(copy[-500:], x[-500:].to(copy.dtype))
    assert weir.equal(copy.clone(), copy) and int((copy != x).sum()) == 0
