"""Runs a plan: the gate of every competitor first, then the interleaved timed runs, each in a fresh process."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from weir_reports.hashing import digest
from weir_reports.limits import TimeLimit
from weir_reports.records import new_run, seal
from weir_reports.workers import THREAD_VARIABLES, worker_environment

from . import data, gate
from .frameworks import FRAMEWORKS, REFERENCE, Framework
from .models import MODELS
from .plan import Plan

TIMEOUT_S = 3600
EMPTY = {"version": None, "params": None, "weights_sha": None, "data_sha": None, "loss": [], "grad_norm": [],
         "step_ns": [], "phases_ns": {}, "rss_peak": None, "cpu_ns": None, "nivcsw": None, "unix_ms": {}}
LIBRARIES = ("jax", "jaxlib", "tensorflow", "tensorflow-cpu")  # of competitors


def cores(threads: int) -> list[int]:
    """Returns the cores of a run. Raises ValueError if there are fewer than threads."""
    available = sorted(os.sched_getaffinity(0))
    if threads > len(available):
        raise ValueError(f"{threads} threads asked for, {len(available)} cores available")
    return available[:threads]


class Runner:
    """Carries out a plan; `progress` is told what runs. Weights and specs live in a folder that is removed. With a limit there are as many
    blocks as end in it, and one at least."""

    def __init__(self, plan: Plan, progress=lambda text: None, timeout: float = TIMEOUT_S, limit: TimeLimit = TimeLimit()):
        self.plan, self.progress, self.timeout, self.limit = plan, progress, timeout, limit
        self.affinity = cores(plan.threads)

    def run(self):
        """Yields one sealed `weir.dlperf/v1` record per planned run, as each ends. None is repeated, or left out of a block that has begun."""
        with tempfile.TemporaryDirectory(prefix="weir-dlperf-") as folder:
            self.folder = Path(folder)
            gates = self._gates()
            longest = 0.0
            for block, runs in groupby(enumerate(self.plan.order()), lambda run: run[1][0]):
                if block and not self.limit.allows(longest):
                    break
                began = time.monotonic()
                for order, (_, workload, label) in runs:
                    self.progress(f"block {block + 1}/{self.plan.blocks}  {_name(workload)}  {label}")
                    record = new_run("weir.dlperf/v1", LIBRARIES)
                    result = self._process(self._spec(FRAMEWORKS[label], workload))
                    yield seal(self._record(record, result, gates[workload, label], block, order, workload, label))
                longest = max(longest, time.monotonic() - began)

    def _gates(self) -> dict:
        """Returns the gate object of every (workload, label)."""
        gates = {}
        for workload in self.plan.workloads():
            reference = self._gate_run(FRAMEWORKS[REFERENCE], workload)
            spreads = self._spreads(workload)
            for label in self.plan.competitors(workload[0]):
                trace = reference if label == REFERENCE else self._gate_run(FRAMEWORKS[label], workload)
                gates[workload, label] = self._judged(trace, reference, spreads, workload[1])
        return gates

    def _spreads(self, workload) -> list[dict]:
        """Returns reruns of the reference that differ by rounding alone: another order of sums, weights moved a little."""
        module, share = FRAMEWORKS[REFERENCE].module, gate.ROUNDING[workload[1]]
        other_order = Framework("in another order", module, channels_last=True)
        moved = [Framework("from moved weights", module, channels_last=seed % 2 == 1) for seed in range(gate.NUDGES)]
        return [self._gate_run(other_order, workload, threads=1),
                *(self._gate_run(framework, workload, nudge=(share, seed)) for seed, framework in enumerate(moved))]

    def _gate_run(self, framework: Framework, workload, **changes) -> dict:
        self.progress(f"gate  {_name(workload)}  {framework.label}")
        return self._process(self._spec(framework, workload, is_gate=True, **changes))

    def _judged(self, trace: dict, reference: dict, spreads: list[dict], precision: str) -> dict:
        found = {"rule": gate.rule(REFERENCE, precision), "reference": REFERENCE, "loss_trace": trace["loss"],
                 "grad_norm_trace": trace["grad_norm"], "deviation": None, "allowed": None}
        if trace.get("failed") == "skipped":
            return {**found, "verdict": "not-run", "reason": trace["reason"]}
        if any("failed" in run for run in (reference, *spreads)):
            return {**found, "verdict": "not-run", "reason": "the reference did not run"}
        if "failed" in trace:
            return {**found, "verdict": "fail", "reason": trace["reason"]}
        for field in ("weights_sha", "data_sha", "params"):
            if trace[field] != reference[field]:
                return {**found, "verdict": "fail", "reason": f"{field} differs from the reference's"}
        return {**found, **gate.judge(trace, reference, spreads, precision)}

    def _spec(self, framework: Framework, workload, is_gate: bool = False, threads: int | None = None,
              nudge: tuple | None = None) -> dict:
        model, precision, batch_size = workload
        plan = self.plan
        return {"module": framework.module, "label": framework.label, "channels_last": framework.channels_last,
                "compile": framework.compile, "graph": framework.graph, "skipped": framework.missing,
                "model": model, "preset": plan.preset, "precision": precision, "batch_size": batch_size,
                "data": plan.data, "seed": plan.seed, "gate": is_gate, "nudge": nudge,
                "warmup": 0 if is_gate else plan.warmup, "steps": plan.gate_steps if is_gate else plan.steps,
                "threads": threads or plan.threads, "affinity": self.affinity[: threads or plan.threads],
                "weights": str(self.folder / f"{model}.npz")}

    def _process(self, spec: dict) -> dict:
        """Returns the worker's result; a run that failed has "failed" and "reason" and empty lists."""
        if spec["skipped"]:
            return {**EMPTY, "failed": "skipped", "reason": spec["skipped"]}
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
        model, precision, batch_size = workload
        plan, framework, module = self.plan, FRAMEWORKS[label], MODELS[model]
        config = module.PRESETS[plan.preset]
        layout = "channels_last" if framework.channels_last and config.layout_matters else "default"
        optimizer = {"name": module.OPTIMIZER.lower(), **module.settings(config, batch_size)}
        return {
            **record, "plan_id": plan.plan_id, "block": block, "order": order,
            "case": {"model": model, "preset": plan.preset, "precision": precision, "config": asdict(config),
                     "batch_size": batch_size, "layout": layout, "params": result["params"],
                     "train_flop_per_sample": module.train_flop(config), "optimizer": optimizer,
                     "weights_sha": result["weights_sha"], "seed": plan.seed,
                     "data": {"mode": plan.data, "sha": result["data_sha"],
                              "samples": data.count(plan.data, model, batch_size)}},
            "framework": {"name": framework.module, "label": label, "version": result["version"],
                          "tuning": framework.tuning},
            "launch": {"planned": len(plan.order()), "nodes": 1, "devices": 1, "threads": plan.threads, "affinity": self.affinity,
                       "env": dict.fromkeys(THREAD_VARIABLES, str(plan.threads))},
            "gate": gate_found,
            "timing": {"clock": "monotonic", "warmup": plan.warmup, "step_ns": result["step_ns"],
                       "phases_ns": result["phases_ns"], "unix_ms": result["unix_ms"]},
            "resources": {name: result[name] for name in ("rss_peak", "cpu_ns", "nivcsw")},
            "status": result.get("failed", "ok"), "reason": result.get("reason")}


def _name(workload: tuple) -> str:
    return "{} {} batch {}".format(*workload)


def freeze(plan: Plan, file: Path) -> None:
    """Writes the plan with its id, before any result. Raises FileExistsError if another plan is there."""
    text = json.dumps({"plan_id": plan.plan_id, **asdict(plan)}, indent=1) + "\n"
    if file.exists() and digest(json.loads(file.read_text())) != digest(json.loads(text)):
        raise FileExistsError(f"{file} holds another plan; choose another folder, its results belong to it")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
