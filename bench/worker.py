"""A worker: one framework in one process, answering JSON lines on its pipes. Started by `process.Worker`."""

import gc
import importlib
import itertools
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from . import derivatives, inputs, phrases, plans


DOUBLE = {"float32": "float64", "complex64": "complex128", "bfloat16": "float64", "float16": "float64"}
WARM = 10  # calls in a block, from which on one more before them costs little


class FrameworkWorker:
    """Loads one case at a time into the framework named `name`, runs it, and hands back outputs or times."""

    def __init__(self, name: str, threads: int):
        self.torch = importlib.import_module(name)
        self.torch.set_num_threads(threads)
        self.name = name
        self.slow_down = float(os.environ.get("WEIR_BENCH_SLOW_DOWN", 0))  # planted, to see whether it is noticed

    def hello(self) -> dict:
        """Returns the framework's name and version."""
        return {"name": self.name, "version": str(getattr(self.torch, "__version__", None))}

    def load(self, case: dict, folder: str, precise: bool = False) -> dict:
        """Makes the inputs of `case` from the arrays in `folder` and prepares the call; a `precise` one takes the same numbers in double
        precision."""
        self.case = case
        self.wider = DOUBLE if precise else {}
        self.tensors = [self._widened(x) for x in inputs.tensors(self.torch, case, Path(folder))]
        function = None if case["mode"] in ("import", "derive", "program") else self._resolve(case["op"])
        args = [self._argument(a) for a in case["args"]]
        kwargs = {name: self._argument(value) for name, value in case["kwargs"].items()}
        self.call = getattr(self, "_prepare_" + case["mode"])(function, args, kwargs)
        return {}

    def check(self, file: str) -> dict:
        """Runs the case once, writes its outputs to `file` (.npz) and returns their dtypes and shapes."""
        function, args, kwargs = self.call
        result = function(*args, **kwargs)
        if self.case["mode"] == "import":
            result = []
        if self.case["mode"] in ("step", "fwd_bwd"):
            result = [x if self.case["mode"] == "step" else x.grad for x in self.tensors if x.requires_grad]
        flat = [x for x in (result if isinstance(result, (list, tuple)) else [result]) if x is not None]
        np.savez(file, *map(self._array, flat))
        return {"outputs": [{"dtype": self._dtype(x), "shape": list(getattr(x, "shape", []))} for x in flat]}

    def run(self, iters: int) -> dict:
        """Runs the case `iters` times and returns wall and CPU nanoseconds and involuntary context switches."""
        function, args, kwargs = self.call
        if iters >= WARM:  # the other side has been in the caches since
            function(*args, **kwargs)
        counter = itertools.repeat(None, iters)
        switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
        cpu, wall = _cpu_ns(), time.monotonic_ns()
        if kwargs:
            for _ in counter:
                function(*args, **kwargs)
        else:
            for _ in counter:
                function(*args)
        if self.slow_down:
            end = wall + (time.monotonic_ns() - wall) * (1 + self.slow_down)
            while time.monotonic_ns() < end:
                pass
        wall, cpu = time.monotonic_ns() - wall, _cpu_ns() - cpu
        switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - switches
        return {"iters": iters, "wall_ns": max(wall, 1), "cpu_ns": cpu, "nivcsw": switches}

    def _prepare_fwd(self, function, args, kwargs):
        return function, args, kwargs

    def _prepare_bwd(self, function, args, kwargs):
        """The forward call is recorded once, so that only its gradient is timed."""
        out = function(*args, **kwargs)
        if isinstance(out, (list, tuple)):  # the first result that a gradient can come from
            out = next(x for x in out if getattr(x, "requires_grad", False))
        wanted = [x for x in self.tensors if x.requires_grad]
        return self.torch.autograd.grad, (out, wanted, self._cotangent(out)), {"retain_graph": True}

    def _cotangent(self, out):
        """Random numbers in the layout of `out`, the same in every framework.

        Ones would give softmax and batch norm the gradient of a constant: rounding errors, which cannot be compared.
        """
        values = np.random.default_rng(0).normal(size=tuple(out.shape)).astype(np.float32)
        return self.torch.empty_like(out).copy_(self.torch.from_numpy(values))

    def _prepare_fwd_bwd(self, function, args, kwargs):
        return (lambda: function(*args, **kwargs).sum().backward()), (), {}

    def _prepare_step(self, function, args, kwargs):
        return function(self.tensors, **kwargs).step, (), {}

    def _prepare_derive(self, function, args, kwargs):
        return derivatives.by_name(self.case["op"])(self.torch), args, kwargs

    def _prepare_program(self, function, args, kwargs):
        count = kwargs["count"]
        return plans.by_name(self.case["op"], self.torch, args, count), args[-count:], {}

    def _prepare_import(self, function, args, kwargs):
        """A fresh interpreter that imports the framework and ends."""
        return subprocess.run, ([sys.executable, "-c", f"import {self.name}"],), {"check": True}

    def _widened(self, x):
        if self._dtype(x) not in self.wider:
            return x
        wide = x.detach().to(getattr(self.torch, self.wider[self._dtype(x)])).requires_grad_(x.requires_grad)
        wide.grad = None if x.grad is None else x.grad.to(wide.dtype)
        return wide

    def _resolve(self, op: str):
        if op.startswith("phrases."):
            return phrases.by_name(op.removeprefix("phrases."), self.torch)
        found = self.torch
        for part in op.split("."):
            found = getattr(found, part)
        return found

    def _argument(self, value):
        """Returns the Python value of an encoded argument; see `case.case`."""
        if isinstance(value, list):
            return [self._argument(v) for v in value]
        if not isinstance(value, dict):
            return value
        match value:
            case {"input": index}:
                return self.tensors[index]
            case {"inputs": [start, stop]}:
                return self.tensors[start:stop]
            case {"float": text}:
                return float(text)
            case {"slice": bounds}:
                return slice(*bounds)
            case {"dtype": name}:
                return getattr(self.torch, self.wider.get(name, name))
        return {key: self._argument(v) for key, v in value.items()}

    def _array(self, x):
        if not hasattr(x, "detach"):
            return np.asarray(x)
        x = x.detach().resolve_conj().resolve_neg()
        return (x.float() if self._dtype(x) == "bfloat16" else x).numpy()

    @staticmethod
    def _dtype(x) -> str:
        return str(x.dtype).split(".")[-1] if hasattr(x, "dtype") else type(x).__name__


def _cpu_ns() -> int:
    """CPU time of this process and of the children it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time_ns() + round((children.ru_utime + children.ru_stime) * 1e9)


def serve(make_worker) -> None:
    """Answers requests {"do": method, ...arguments} until the pipe closes, one JSON line each.

    The worker is made by the first request, so that a framework that cannot be imported is an answer too.
    """
    # Libraries may print; only answers may reach the driver.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            worker = worker or make_worker()
            answer = getattr(worker, request.pop("do"))(**request)
        except (AttributeError, NotImplementedError) as error:
            answer = {"missing": f"{type(error).__name__}: {error}"[:300]}
        except Exception as error:  # whatever a framework raises is a result about it
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def isolate(path: str) -> None:
    """Lets frameworks be imported from `path`, or from the interpreter's own environment, and not from beside these tools."""
    tools = str(Path(__file__).absolute().parent.parent)
    installed = "site-packages" in tools
    sys.path[:] = [path] * bool(path) + [p for p in sys.path if installed or os.path.abspath(p or ".") != tools]
    os.environ["PYTHONPATH"] = path


if __name__ == "__main__":
    if "WEIR_BENCH_FROM" in os.environ:
        isolate(os.environ["WEIR_BENCH_FROM"])
    gc.disable()  # a collection inside a block would be charged to whichever side it hits
    serve(lambda: FrameworkWorker(sys.argv[1], int(sys.argv[2])))
