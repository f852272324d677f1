"""Inference: several engines answer the same batch in turn, in one process, so that they share its noise.

Every engine has its turn in every block, after a pause in which the threads of the others go to sleep. An engine whose
answers are not PyTorch's is not timed. `python -m weir_dlperf.inference spec.json result.json` is one launch.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from weir_reports.workers import worker_environment

from .models import MODELS
from .weights import load_initial

INPUTS = {"resnet50": ("image",), "bert": ("ids", "types", "positions", "places")}  # of the batch, those that the model takes
PAUSE_S = 0.2
ALLOWED = 1e-3  # of the largest number of PyTorch's answer


@dataclass(frozen=True)
class Engine:
    """Makes, from a launch, a function that answers the batch. `needs` are packages without which it is skipped."""

    label: str
    make: callable
    needs: tuple = ()

    @property
    def missing(self) -> str | None:
        """Returns why this one is skipped here, or None."""
        absent = [name for name in self.needs if not importlib.util.find_spec(name)]
        return f"{absent[0]} is not installed" if absent else None


class Launch:
    """The model, its weights and one batch, for every engine the same."""

    def __init__(self, spec: dict):
        self.spec, self.module = spec, MODELS[spec["model"]]
        self.config = self.module.PRESETS[spec["preset"]].without_dropout()
        self.names = INPUTS[spec["model"]]
        batch = self.module.synthetic_batch(np.random.default_rng(spec["seed"]), self.config, spec["batch_size"])
        self.arrays = [batch[name] for name in self.names]

    def model(self, torch):
        """Returns the model of a framework with PyTorch's API, ready to answer."""
        torch.set_num_threads(self.spec["threads"])
        model = self.module.build(torch, self.config).eval()
        load_initial(torch, self.module, model, Path(self.spec["folder"]) / "weights.npz", self.spec["seed"])
        return model

    def inputs(self, torch, model):
        """Returns the batch and the model in the layout that suits pictures."""
        tensors = [torch.from_numpy(a) for a in self.arrays]
        if not self.config.layout_matters:
            return model, tensors
        return model.to(memory_format=torch.channels_last), [t.to(memory_format=torch.channels_last) for t in tensors]


def _eager(name: str, launch: Launch):
    """The model as it is written, in a framework with PyTorch's API."""
    torch = importlib.import_module(name)
    model, tensors = launch.inputs(torch, launch.model(torch))

    def answer():
        with torch.inference_mode():
            return model(*tensors)
    return answer


def _weir_graph(launch: Launch):
    import weir
    model, tensors = launch.inputs(weir, launch.model(weir))

    class Program(weir.nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = model
            self.config.freeze_weights()

        def build(self, *args):
            with weir.no_grad():
                return self.model(*args)
    program = Program()
    return lambda: program(*tensors)


def _onnxruntime(launch: Launch):
    import onnxruntime
    import torch
    file = Path(launch.spec["folder"]) / f"{launch.spec['batch_size']}.onnx"
    if not file.exists():
        torch.onnx.export(launch.model(torch), tuple(map(torch.from_numpy, launch.arrays)), str(file), input_names=launch.names, dynamo=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = launch.spec["threads"]
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # its idle threads would take the others' cores
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    feed = dict(zip(launch.names, launch.arrays, strict=True))
    return lambda: session.run(None, feed)


ENGINES = {e.label: e for e in (Engine("weir-graph", _weir_graph), Engine("weir", partial(_eager, "weir")), Engine("torch", partial(_eager, "torch")),
                                Engine("onnxruntime", _onnxruntime, needs=("onnxruntime", "onnx")))}


def measure(spec: dict) -> dict:
    """Runs one launch; returns by engine the nanoseconds of an answer in each block, or why there are none."""
    launch = Launch(spec)
    reference = ENGINES["torch"].make(launch)
    expected = _numbers(reference())
    answers, result = {}, {}
    for label in spec["engines"]:
        reason = ENGINES[label].missing
        if reason is None:
            answer = reference if label == "torch" else ENGINES[label].make(launch)
            reason = _difference(_numbers(answer()), expected)
        if reason is None:
            answers[label], result[label] = answer, {"ns": [], "reason": None}
            answer()
        else:
            result[label] = {"ns": [], "reason": reason}
    repeats = {label: _repeats(answer, spec["block_ms"]) for label, answer in answers.items()}
    rng = np.random.default_rng(spec["order"])
    for _ in range(spec["blocks"]):
        for label in rng.permutation(list(answers)):
            time.sleep(PAUSE_S)
            start = time.perf_counter_ns()
            for _ in range(repeats[label]):
                answers[label]()
            result[label]["ns"].append((time.perf_counter_ns() - start) / repeats[label])
    return result


def _repeats(answer, block_ms: float) -> int:
    start = time.perf_counter_ns()
    answer()
    return max(1, round(block_ms * 1e6 / (time.perf_counter_ns() - start)))


def _numbers(answer) -> np.ndarray:
    first = answer[0] if isinstance(answer, (tuple, list)) else answer
    return np.asarray(first if isinstance(first, np.ndarray) else first.numpy(), np.float64)


def _difference(got: np.ndarray, expected: np.ndarray) -> str | None:
    if got.shape != expected.shape:
        return f"answers {got.shape}, PyTorch {expected.shape}"
    most, size = float(np.abs(got - expected).max()), float(np.abs(expected).max())
    return None if most <= ALLOWED * size else f"its answer differs from PyTorch's by {most:.3g}, where the largest number is {size:.3g}"


def launches(spec: dict, count: int, timeout: float):
    """Yields the result of each of `count` launches, every one a process of its own; RuntimeError where one ends without."""
    with tempfile.TemporaryDirectory(prefix="weir-infer-") as folder:
        spec_file, result_file = Path(folder) / "spec.json", Path(folder) / "result.json"
        for number in range(count):
            spec_file.write_text(json.dumps({**spec, "folder": folder, "order": spec["seed"] + number}))
            result_file.unlink(missing_ok=True)
            done = subprocess.run([sys.executable, "-m", "weir_dlperf.inference", str(spec_file), str(result_file)], timeout=timeout,
                                  env=worker_environment(spec["threads"]), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if not result_file.exists():
                raise RuntimeError(f"a launch of {spec['model']} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
            yield json.loads(result_file.read_text())


def main() -> None:
    """Pins the process before any library starts its threads, measures, and writes the result."""
    spec = json.loads(Path(sys.argv[1]).read_text())
    os.sched_setaffinity(0, spec["affinity"])
    Path(sys.argv[2]).write_text(json.dumps(measure(spec)))


if __name__ == "__main__":
    main()
