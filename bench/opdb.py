"""Cases nobody picked: every op of PyTorch's own op database, small, in the cache and beyond it, forward and backward.

A sample of the database is scaled by giving every extent of one length the same factor, in all its tensors, and kept if PyTorch
takes it. Values are drawn from the range of the sample's own, so that domains hold.
"""

import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from . import listing
from .answers import difference
from .case import case, tensor
from .inputs import expand, write_inputs

SIZES = {"small": 0, "cache": 1 << 16, "memory": 1 << 21}  # elements of the largest tensor; 0: as the sample has it
SAMPLES = 4  # of an op that are looked through for one that can be scaled
SLOWEST_S = 0.25  # a call that takes PyTorch longer is no benchmark
MOST_AGAIN = 15  # further times that PyTorch is asked for the same answer
DTYPES = ("float32", "int64", "bool", "float64", "int32")


class NotData(ValueError):
    """An argument that a case cannot hold."""


def cases() -> list[dict]:
    """All cases, from the list made before for this PyTorch, or made now (some minutes, once)."""
    return listing.kept("opdb", __file__)


def _cases_of(torch, op):
    """Yields the cases of an op, by the first of its public names that takes the samples as they come: the database itself calls
    `polygamma(n, x)` by way of a function that turns the two around, and so does `Tensor.polygamma`."""
    dtype = next((t for t in (torch.float32, torch.int64) if t in op.supported_dtypes("cpu")), None)
    if dtype is None:
        raise NotData("takes neither float32 nor int64")
    names = paths(torch, op)
    if not names:
        raise NotData("has no public name")
    for path in names:
        found = False
        for found in _cases_by(torch, op, path, dtype):
            yield found
        if found:
            return
    raise NotData("no sample is data that PyTorch takes")


def _cases_by(torch, op, path: str, dtype):
    made = set()
    samples = op.sample_inputs("cpu", dtype)
    for _, sample in zip(range(SAMPLES), samples):
        template = template_of(torch, sample)
        if template is None:
            continue
        for size, elements in SIZES.items():
            scaled = template.scaled(elements)
            for mode in ("fwd", "bwd") if op.supports_autograd else ("fwd",):
                if mode == "bwd" and (size, "fwd") not in made:
                    break
                if (size, mode) in made or not scaled:
                    continue
                call = scaled.case(path, f"{op.variant_test_name} {size}{' backward' * (mode == 'bwd')}".strip(), mode)
                if check := checked(torch, call):
                    made.add((size, mode))
                    yield {**call, "check": check}


def template_of(torch, sample) -> "Template | None":
    """A sample of the database as data, None where a case cannot hold it."""
    try:
        return Template(torch, (sample.input, *sample.args), sample.kwargs)
    except NotData:
        return None


def paths(torch, op) -> list[str]:
    """Where users may find the op: a function, a method, one that writes into its tensor, an attribute."""
    short = op.name.rsplit(".", 1)[-1]
    names = []
    for path in (op.name, f"Tensor.{short}", f"Tensor.{short}_", f"Tensor.{short}.__get__"):
        found = torch
        for part in path.split("."):
            found = getattr(found, part, None)
        if callable(found) and not (path.endswith("__get__") and callable(getattr(torch.Tensor, short))):
            names.append(path)
    return names


class Template:
    """A call as data: inputs by shape and range, arguments that refer to them."""

    def __init__(self, torch, args, kwargs):
        self._torch, self.inputs = torch, []
        self.args = [self._data(a) for a in args]
        self.kwargs = {name: self._data(value) for name, value in kwargs.items()}

    def _data(self, value):
        if isinstance(value, self._torch.Tensor):
            self.inputs.append(_spec(self._torch, value))
            return {"input": len(self.inputs) - 1}
        if isinstance(value, (list, tuple)):
            return [self._data(v) for v in value]
        if isinstance(value, self._torch.dtype):
            return {"dtype": str(value).split(".")[-1]}
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}  # JSON has none
        if value is None or isinstance(value, (bool, int, str, float)):
            return value
        raise NotData(type(value).__name__)

    def case(self, path: str, variant: str, mode: str) -> dict:
        """The call as a case. Its keywords may be named as those of `case`."""
        inputs = [dict(spec, requires_grad=mode == "bwd" and spec["dtype"] == "float32") for spec in self.inputs]
        return dict(case("opdb", path, variant, inputs, self.args, mode=mode, traffic=0), kwargs=self.kwargs)

    def scaled(self, elements: int):
        """The call with tensors of about so many elements, None where no extent can grow."""
        if not elements:
            return self
        if not self.inputs or not self.inputs[0]["shape"]:
            return None
        shape = self.inputs[0]["shape"]
        grows = max(shape)
        count = sum(n == grows for n in shape)
        if math.prod(shape) == 0 or grows < 2:
            return None
        factor = max(1, round((elements / math.prod(shape)) ** (1 / count)))
        other = self.with_inputs([tensor(*(n * factor if n == grows else n for n in spec["shape"]), dtype=spec["dtype"], fill=spec["fill"])
                                  for spec in self.inputs])
        return other if all(math.prod(spec["shape"]) <= 2 * max(elements, 1) for spec in other.inputs) else None

    def with_inputs(self, inputs: list[dict]) -> "Template":
        """The call with other tensors."""
        other = Template.__new__(Template)
        other.args, other.kwargs, other.inputs = self.args, self.kwargs, inputs
        return other


def _spec(torch, x) -> dict:
    dtype = str(x.dtype).split(".")[-1]
    if dtype not in DTYPES or x.layout is not torch.strided or x.dim() > 6:
        raise NotData(f"a tensor of {dtype}")
    if dtype == "bool":
        return tensor(*x.shape, dtype=dtype, fill="bool")
    low, high = (float(x.min()), float(x.max())) if x.numel() else (0.0, 1.0)
    if not (math.isfinite(low) and math.isfinite(high)):
        low, high = -1.0, 1.0
    return tensor(*x.shape, dtype=dtype, fill=f"between:{low:g}:{high:g}")


def checked(torch, call, most_again: int = MOST_AGAIN) -> str | None:
    """How answers to a case are compared: "values", or "shape" where PyTorch's own do not stay the same when it is asked again or its inputs
    move by some roundings: random numbers, the order of ties, ill-conditioned matrices. None unless PyTorch takes the call, gives a tensor
    in reasonable time, and differentiates it if asked."""
    from .worker import FrameworkWorker

    worker = FrameworkWorker.__new__(FrameworkWorker)
    worker.torch, worker.name, worker.slow_down = torch, "torch", 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(call, folder, seed=0)

        def answer(to: str) -> dict:
            worker.load(call, name)
            return worker.check(str(folder / to))
        try:
            worker.load(call, name)
            began = time.monotonic()
            first = worker.check(str(folder / "first.npz"))
            took = time.monotonic() - began
            if took >= SLOWEST_S or not first["outputs"]:
                return None
            # A few random numbers may come out the same twice, and small calls cost nothing to ask more often.
            times = 1 + min(most_again, int(SLOWEST_S / took) // 8)
            moves = any(difference(first, answer("again.npz"), folder / "first.npz", folder / "again.npz") for _ in range(times))
            if not moves:
                _nudge(folder, len(expand(call["inputs"])))
                moves = difference(first, answer("nudged.npz"), folder / "first.npz", folder / "nudged.npz")
            return "shape" if moves else "values"
        except Exception:
            return None


def _nudge(folder: Path, inputs: int) -> None:
    """Moves the floating-point inputs by up to four roundings each."""
    rng = np.random.default_rng(0)
    for i in range(inputs):
        values = np.load(file := folder / f"input-{i}.npy")
        if values.dtype.kind == "f":
            np.save(file, (values * (1 + np.finfo(values.dtype).eps * rng.integers(-4, 5, values.shape))).astype(values.dtype))


if __name__ == "__main__":
    listing.write(sys.argv[1], _cases_of)
