"""Runs a plan: the gate of every competitor first, then the interleaved timed runs, each in a fresh process."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from weir_reports.hashing import digest
from weir_reports.records import new_run, seal
from weir_reports.workers import THREAD_VARIABLES, worker_environment

from . import gate
from .frameworks import FRAMEWORKS, REFERENCE, Framework
from .models import MODELS
from .plan import Plan

TIMEOUT_S = 3600
EMPTY = {"version": None, "params": None, "weights_sha": None, "data_sha": None, "loss": [], "grad_norm": [],
         "step_ns": [], "phases_ns": {}, "rss_peak": None, "cpu_ns": None, "nivcsw": None}


class Runner:
    """Carries out a plan; `progress` is told what runs. Weights and specs live in a folder that is removed."""

    def __init__(self, plan: Plan, progress=lambda text: None, timeout: float = TIMEOUT_S):
        self.plan, self.progress, self.timeout = plan, progress, timeout
        available = sorted(os.sched_getaffinity(0))
        if plan.threads > len(available):
            raise ValueError(f"{plan.threads} threads asked for, {len(available)} cores available")
        self.affinity = available[: plan.threads]

    def run(self):
        """Yields one sealed `weir.dlperf/v1` record per planned run, as each ends. No run is left out or repeated."""
        with tempfile.TemporaryDirectory(prefix="weir-dlperf-") as folder:
            self.folder = Path(folder)
            gates = self._gates()
            for order, (block, workload, label) in enumerate(self.plan.order()):
                self.progress(f"block {block + 1}/{self.plan.blocks}  {' '.join(workload)}  {label}")
                record = new_run("weir.dlperf/v1")
                result = self._process(self._spec(FRAMEWORKS[label], workload))
                yield seal(self._record(record, result, gates[workload, label], block, order, workload, label))

    def _gates(self) -> dict:
        """Returns the gate object of every (workload, label)."""
        gates = {}
        for workload in self.plan.workloads():
            reference = self._gate_run(FRAMEWORKS[REFERENCE], workload)
            other_order = Framework("spread", FRAMEWORKS[REFERENCE].module, channels_last=True)
            spread = self._gate_run(other_order, workload, threads=1)
            for label in self.plan.competitors(workload[0]):
                trace = reference if label == REFERENCE else self._gate_run(FRAMEWORKS[label], workload)
                gates[workload, label] = self._judged(trace, reference, spread, workload[1])
        return gates

    def _gate_run(self, framework: Framework, workload, threads: int | None = None) -> dict:
        self.progress(f"gate  {' '.join(workload)}  {framework.label}")
        return self._process(self._spec(framework, workload, is_gate=True, threads=threads))

    def _judged(self, trace: dict, reference: dict, spread: dict, precision: str) -> dict:
        found = {"rule": gate.rule(REFERENCE, precision), "reference": REFERENCE, "loss_trace": trace["loss"],
                 "grad_norm_trace": trace["grad_norm"], "deviation": None, "allowed": None}
        if "failed" in reference or "failed" in spread:
            return {**found, "verdict": "not-run", "reason": "the reference did not run"}
        if "failed" in trace:
            return {**found, "verdict": "fail", "reason": trace["reason"]}
        for field in ("weights_sha", "data_sha", "params"):
            if trace[field] != reference[field]:
                return {**found, "verdict": "fail", "reason": f"{field} differs from the reference's"}
        return {**found, **gate.judge(trace, reference, spread, precision)}

    def _spec(self, framework: Framework, workload, is_gate: bool = False, threads: int | None = None) -> dict:
        model, precision = workload
        plan = self.plan
        return {"module": framework.module, "label": framework.label, "channels_last": framework.channels_last,
                "compile": framework.compile, "graph": framework.graph, "model": model, "preset": plan.preset, "precision": precision,
                "batch_size": plan.batch_size(model), "data": plan.data, "seed": plan.seed, "gate": is_gate,
                "warmup": 0 if is_gate else plan.warmup, "steps": plan.gate_steps if is_gate else plan.steps,
                "threads": threads or plan.threads, "affinity": self.affinity[: threads or plan.threads],
                "weights": str(self.folder / f"{model}.npz")}

    def _process(self, spec: dict) -> dict:
        """Returns the worker's result; a run that failed has "failed" and "reason" and empty lists."""
        spec_file, result_file = self.folder / "spec.json", self.folder / "result.json"
        spec_file.write_text(json.dumps(spec))
        result_file.unlink(missing_ok=True)
        command = [sys.executable, "-m", "weir_dlperf.worker", str(spec_file), str(result_file)]
        try:
            code = subprocess.run(command, env=worker_environment(spec["threads"]), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=self.timeout).returncode
        except subprocess.TimeoutExpired:
            return {**EMPTY, "failed": "timeout", "reason": f"no result in {self.timeout:g} s"}
        if not result_file.exists():
            # The kernel's out-of-memory killer sends SIGKILL; nothing else here does.
            return {**EMPTY, "failed": "oom" if code == -9 else "fail", "reason": f"the process ended with {code}"}
        return {**EMPTY, **json.loads(result_file.read_text())}

    def _record(self, record, result, gate_found, block, order, workload, label) -> dict:
        model, precision = workload
        plan, framework, module = self.plan, FRAMEWORKS[label], MODELS[model]
        config = module.PRESETS[plan.preset]
        layout = "channels_last" if framework.channels_last and config.layout_matters else "default"
        spec = asdict(config)
        return {
            **record, "plan_id": plan.plan_id, "block": block, "order": order,
            "case": {"model": model, "preset": plan.preset, "precision": precision, "config": spec,
                     "batch_size": plan.batch_size(model), "layout": layout, "params": result["params"],
                     "train_flop_per_sample": module.train_flop(config), "optimizer": _optimizer(spec),
                     "weights_sha": result["weights_sha"], "seed": plan.seed,
                     "data": {"mode": plan.data, "sha": result["data_sha"]}},
            "framework": {"name": framework.module, "label": label, "version": result["version"],
                          "tuning": framework.tuning},
            "launch": {"threads": plan.threads, "affinity": self.affinity,
                       "env": dict.fromkeys(THREAD_VARIABLES, str(plan.threads))},
            "gate": gate_found,
            "timing": {"clock": "monotonic", "warmup": plan.warmup, "step_ns": result["step_ns"],
                       "phases_ns": result["phases_ns"]},
            "resources": {name: result[name] for name in ("rss_peak", "cpu_ns", "nivcsw")},
            "status": result.get("failed", "ok"), "reason": result.get("reason")}


def _optimizer(config: dict) -> dict:
    """Returns the settings of a config that belong to the optimizer."""
    names = ("lr", "lr_per_256", "momentum", "weight_decay")
    return {"name": "sgd" if "momentum" in config else "adamw", **{n: config[n] for n in names if n in config}}


def freeze(plan: Plan, file: Path) -> None:
    """Writes the plan with its id, before any result. Raises FileExistsError if another plan is there."""
    text = json.dumps({"plan_id": plan.plan_id, **asdict(plan)}, indent=1) + "\n"
    if file.exists() and digest(json.loads(file.read_text())) != digest(json.loads(text)):
        raise FileExistsError(f"{file} holds another plan; choose another folder, its results belong to it")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
