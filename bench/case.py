"""A benchmark case is plain data, so that Python workers and a C++ program can run the same list."""

from math import prod

from weir_reports.hashing import digest

ITEMSIZE = {"float32": 4, "float64": 8, "bfloat16": 2, "float16": 2, "uint8": 1, "int32": 4, "int64": 8, "bool": 1, "complex64": 8}
LAYOUTS = ("contiguous", "transposed", "channels_last", "expanded", "spaced")
# What names a case for people; renaming or regrouping must not cut a case off from its history.
DISPLAY_FIELDS = ("group", "variant")


def tensor(*shape: int, dtype: str = "float32", layout: str = "contiguous", requires_grad: bool = False,
           grad: bool = False, fill: str = "normal", repeat: int = 1) -> dict:
    """Returns the description of an input tensor.

    `layout`: contiguous; transposed (last two dimensions swapped in memory); channels_last (N, C, H, W stored as
    N, H, W, C); expanded (one row repeated along dimension 0 with stride 0); spaced (every other number of the last
    dimension of memory). `grad` also gives it a `.grad`.
    `fill`: normal, positive (0.5 to 1.5), distinct (no two alike), bool, definite (symmetric matrices of eigenvalues from 1), below:N (integers) or
    between:LOW:HIGH. `repeat` makes that
    many alike.
    """
    return {"shape": list(shape), "dtype": dtype, "layout": layout, "strides": strides(shape, layout),
            "requires_grad": requires_grad, "grad": grad, "fill": fill, "repeat": repeat}


def case(group: str, op: str, variant: str, inputs: list, args: list | None = None, *, out: int | None = None,
         flops: int = 0, mode: str = "fwd", traffic: int | None = None, check: str = "values", **kwargs) -> dict:
    """Returns a case for one thread.

    `op` is a dotted name under the framework module, or `phrases.` and a name of `bench/phrases.py`. `args` refer to inputs as {"input": i}, {"inputs": [i, j]}
    (a list of them, half open), {"slice": [start, stop, step]}, {"float": "inf"} and {"dtype": name}; without `args`, all inputs are
    passed in order. `out` is the number of elements written, by default as many as the first input has.
    `bytes` counts each input once and the output once, unless `traffic` gives it; `reads` says that nearly all of it
    is read, where the bound is a faster one than a copy's. `mode`: fwd; bwd (the gradient
    of the recorded call only); fwd_bwd (call, sum, backward); step (one optimizer step); derive (`op` names a function of `bench/derivatives.py`); program
    (one of `bench/plans.py`); import (a fresh interpreter imports the framework). `check`: values or shape.
    """
    count = sum(t["repeat"] for t in inputs)
    first = inputs[0] if inputs else tensor(0)
    written = (prod(first["shape"]) if out is None else out) * ITEMSIZE[first["dtype"]]
    moved = sum(_bytes(t) for t in inputs) + written if traffic is None else traffic
    reads = traffic is None and 10 * written <= moved
    return {"group": group, "op": op, "variant": variant, "mode": mode, "inputs": inputs,
            "args": [{"input": i} for i in range(count)] if args is None else args, "kwargs": kwargs,
            "threads": 1, "bytes": moved, "reads": reads, "flops": flops, "check": check}


def case_id(case: dict) -> str:
    """Returns the SHA-256 that names a case: of everything in it but its display names."""
    return digest({key: value for key, value in case.items() if key not in DISPLAY_FIELDS})


def display_name(case: dict) -> str:
    """Returns e.g. `overhead/add 64`."""
    return f"{case['group']}/{case['op'].removeprefix(case['group'] + '.')} {case['variant']}".rstrip()


def strides(shape, layout: str) -> list[int]:
    """Returns the strides, in elements, of a tensor of `shape` stored in `layout`."""
    order = {"contiguous": range(len(shape)), "expanded": range(len(shape)), "spaced": range(len(shape)),
             "transposed": [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2],
             "channels_last": [0, 2, 3, 1]}[layout]
    result, step = [0] * len(shape), 2 if layout == "spaced" else 1
    for dim in reversed(list(order)):
        result[dim], step = step, step * shape[dim]
    if layout == "expanded":
        result[0] = 0
    return result


def _bytes(t: dict) -> int:
    distinct = t["shape"][1:] if t["layout"] == "expanded" else t["shape"]
    return prod(distinct) * ITEMSIZE[t["dtype"]] * t["repeat"]
