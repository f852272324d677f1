"""Input data: made once by the driver with NumPy, mapped by every worker to the same alignment."""

from math import prod
from pathlib import Path

import numpy as np

PAGE = 4096
# Buffers start on a page plus k * OFFSET: never on the same line of a 4 KiB page, where loads would alias stores,
# and always on the same lines in both frameworks.
OFFSET, SLOTS = 320, 8
STORED = {"bfloat16": "float32"}  # NumPy has no bfloat16; the worker converts


def write_inputs(case: dict, folder: Path, seed: int) -> None:
    """Writes the arrays of `case` as input-<i>.npy, in the order of memory (strides belong to the worker)."""
    for i, spec in enumerate(expand(case["inputs"])):
        rng = np.random.default_rng([seed, i])
        np.save(folder / f"input-{i}.npy", fill(rng, memory_shape(spec), spec))


def expand(inputs: list[dict]) -> list[dict]:
    """Returns one spec per tensor: `repeat` resolved."""
    return [spec for spec in inputs for _ in range(spec["repeat"])]


def memory_shape(spec: dict) -> list[int]:
    """Returns the shape in order of memory, e.g. N, H, W, C for channels_last."""
    shape = spec["shape"]
    if spec["layout"] == "transposed":
        return [*shape[:-2], shape[-1], shape[-2]]
    if spec["layout"] == "channels_last":
        return [shape[0], shape[2], shape[3], shape[1]]
    if spec["layout"] == "spaced":
        return [*shape[:-1], 2 * shape[-1]]
    return [1, *shape[1:]] if spec["layout"] == "expanded" else shape


def fill(rng: np.random.Generator, shape, spec: dict) -> np.ndarray:
    """Returns random data of the spec's kind and dtype."""
    dtype = STORED.get(spec["dtype"], spec["dtype"])
    kind, _, limit = spec["fill"].partition(":")
    if kind == "below":
        return rng.integers(int(limit), size=shape).astype(dtype)
    if kind == "between":
        low, high = map(float, limit.split(":"))
        if "int" in dtype:
            return rng.integers(int(low), int(high) + 1, size=shape).astype(dtype)
        values = rng.uniform(low, high, shape)
        return (values + 1j * rng.uniform(low, high, shape) if dtype.startswith("complex") else values).astype(dtype)
    if kind == "distinct":
        count = int(np.prod(shape))
        return (rng.permutation(count).reshape(shape) / count - 0.5).astype(dtype)
    if kind == "bool":
        return rng.random(shape) < 0.5
    if kind == "definite":
        a = rng.normal(size=shape)
        return (a @ a.swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1])).astype(dtype)
    values = rng.normal(size=shape) if kind == "normal" else rng.uniform(0.5, 1.5, shape)
    if dtype.startswith("complex"):
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


def aligned(array: np.ndarray, slot: int) -> np.ndarray:
    """Returns a copy of `array` that starts `slot % SLOTS * OFFSET` bytes after a page boundary."""
    shift = slot % SLOTS * OFFSET
    raw = np.empty(array.nbytes + PAGE + shift, np.uint8)
    start = -raw.ctypes.data % PAGE + shift
    view = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


def tensors(torch, case: dict, folder: Path) -> list:
    """Returns the input tensors of `case` in the framework `torch`, with the layout and flags of their specs."""
    return [_tensor(torch, spec, aligned(np.load(folder / f"input-{i}.npy"), i))
            for i, spec in enumerate(expand(case["inputs"]))]


def _tensor(torch, spec: dict, array: np.ndarray):
    x = torch.from_numpy(array)
    if spec["dtype"] in STORED:
        x = x.to(getattr(torch, spec["dtype"]))
    if spec["layout"] == "transposed":
        x = x.transpose(-1, -2)
    elif spec["layout"] == "channels_last":
        x = x.permute(0, 3, 1, 2)
    elif spec["layout"] == "expanded":
        x = x.expand(*spec["shape"])
    elif spec["layout"] == "spaced":
        x = x[..., ::2]
    assert prod(x.shape) == prod(spec["shape"])
    if spec["requires_grad"]:
        x.requires_grad_()
    if spec["grad"]:
        x.grad = torch.from_numpy(array[...] * np.float32(0.01))
    return x
