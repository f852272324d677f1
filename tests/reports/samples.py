"""Small records, made up, that the tests of the store and the site share."""

import random

from weir_reports.hashing import digest
from weir_reports.records import seal

PROVENANCE = {
    "revision": {"sha": "0" * 40, "dirty": False},
    "machine": {"class_key": "abcdefabcdef", "cpu": "Sample CPU", "cores": 2, "isa": ["avx2"], "settings": {"OPENBLAS_CORETYPE": "Haswell"},
                "caches": {"L1": 32768, "L2": 1048576}, "ram": 8 << 30, "kernel": "6.1"},
    "libraries": {"numpy": "2.4.6", "torch": "2.13.0"},
    "python": {"version": "3.11.7", "implementation": "CPython"},
}


def conformance() -> dict:
    """A conformance record with every state in it."""
    cells = [{"op": "softmax", "variant": "dim0", "fwd": "PASS", "bwd": "PASS", "err": 1e-7, "reason": None},
             {"op": "softmax", "variant": "dim1", "fwd": "PASS", "bwd": "FAIL", "err": 0.5, "reason": "gradient off"},
             {"op": "conv2d", "variant": "3x3", "fwd": "PASS", "bwd": "PASS", "err": 0.0, "reason": None},
             {"op": "conv3d", "variant": "", "fwd": "MISSING", "bwd": "MISSING", "err": None, "reason": "no op"},
             {"op": "geqrf", "variant": "", "fwd": "ORACLE-ERROR", "bwd": "N/A", "err": None, "reason": None},
             {"op": "resize_", "variant": "", "fwd": "UNMAPPABLE", "bwd": "N/A", "err": None, "reason": None}]
    return seal({"schema": "weir.conformance/v1", "started": "2026-01-01T10:00:00.000+00:00",
                 "subject": {"name": "weir", "version": "0.1.0"}, "oracle": {"name": "torch", "version": "2.13.0"},
                 "dtype": "float32", "totals": {}, "provenance": PROVENANCE, "cells": cells})


def campaign(started: str = "2026-01-01T10:30:00.000+00:00", stride: str = "FAIL") -> dict:
    """A campaign record: one operation that fails in one property, one that is unsupported."""
    good = {"value": "PASS", "stride": "PASS", "error": "LENIENT"}
    failure = {"overload": "flip", "dtype": "float32", "property": "stride", "reason": "expected (1, 2), got (2, 1)",
               "call": "torch.flip(x)", "lenient": False, "script": "import torch\nprint(torch.flip(x).stride())"}
    score = {"made": 40, "valid": 30, "unsupported": "", "oracle_limit": "", "failures": []}
    scores = [{"overload": "flip", "path": "flip", "dtype": "float32", "states": good | {"stride": stride}, **score, "failures": [failure]},
              {"overload": "add.Tensor", "path": "add", "dtype": "float32", "states": good, **score},
              {"overload": "fft_fft", "path": "fft.fft", "dtype": "float32", "states": dict.fromkeys(good, "UNSUPPORTED"), **score}]
    return seal({"schema": "weir.campaign/v1", "started": started, "provenance": PROVENANCE,
                 "subject": {"name": "weir", "version": "0.1.0"}, "oracle": {"name": "torch", "version": "2.13.0"},
                 "settings": {}, "seconds": 1.5, "scores": scores,
                 "totals": {"properties": {}, "made": 120, "valid": 90, "cases": 100, "reached": 2}})


def mutation() -> dict:
    """A record of planted faults: one kind that is always noticed, one that is not."""
    kinds = [{"kind": "zeroed", "what": "One element lost", "planted": 40, "noticed": 40, "cases": 900, "noticed_cases": 880, "survivors": []},
             {"kind": "unstable", "what": "A stable sort that is none", "planted": 3, "noticed": 2, "cases": 9, "noticed_cases": 5,
              "survivors": ["argsort.stable int64"]}]
    return seal({"schema": "weir.mutation/v1", "started": "2026-01-01T10:40:00+00:00", "subject": {"name": "torch", "version": "2.13.0"},
                 "oracle": {"name": "torch", "version": "2.13.0"}, "provenance": PROVENANCE, "kinds": kinds,
                 "settings": {"dtypes": ["float32"]}, "seconds": 60.0})


def trust() -> dict:
    """A record of how far comparisons of speed can be trusted."""
    rates = [{"slow_down": s, "cases": 18, "slower": n, "runs": 3, "alarmed": min(n, 3)} for s, n in ((0.0, 0), (0.05, 12), (0.2, 18))]
    return seal({"schema": "weir.trust/v1", "started": "2026-01-01T10:50:00+00:00", "subject": {"name": "torch", "version": None},
                 "group": "overhead", "threads": 1, "provenance": PROVENANCE, "rates": rates})


def instructions() -> dict:
    """A record of instructions per call: one case that grew, one that shrank, one that a side lacks."""
    cases = [{"case_id": digest(name), "name": f"overhead/{name}", "before": before, "after": after, "reason": reason}
             for name, before, after, reason in (("view", 900.0, 891.0, None), ("add", 1000.0, 1050.0, None), ("item", 700.0, None, "no item"))]
    sides = {name: {"label": label, "module": "weir", "slow_down": 0.0} for name, label in (("before", "v0.3"), ("after", "v0.4"))}
    return seal({"schema": "weir.instructions/v1", "started": "2026-01-01T10:55:00+00:00", "subject": {"name": "weir", "version": None},
                 "provenance": PROVENANCE, **sides, "cases": cases})


def programs() -> dict:
    """A record of programs: one twice as fast, one slower, one too short to say, one that prints something else."""
    def rounds(subject, peer):
        return [{side: {"seconds": start + work * d, "work": work * d, "cpu": work, "rss": rss << 20}
                 for side, start, work, rss in (("subject", 0.5, subject, 100), ("peer", 2.5, peer, 250))} for d in (0.99, 1.0, 1.01)]

    entries = [("half", None, rounds(2.0, 4.0)), ("slow", None, rounds(3.0, 2.0)), ("short", None, rounds(0.001, 0.002)), ("other", "line 1: 1.0, PyTorch prints 2.0", [])]
    return seal({"schema": "weir.programs/v1", "started": "2026-01-01T10:57:00+00:00", "subject": {"name": "weir", "version": None},
                 "peer": {"name": "torch", "version": "2.13.0"}, "provenance": PROVENANCE, "threads": 1,
                 "programs": [{"name": name, "sha": digest(name), "rtol": 1e-3, "atol": 1e-4, "same": reason is None, "reason": reason, "rounds": runs}
                              for name, reason, runs in entries]})


def bench(subject: str = "weir", ratio: float = 2.0, launches: int = 6, started: str = "2026-01-01T11:00:00.000+00:00") -> dict:
    """A bench record: two timed cases at about `ratio`, one wrong, one missing."""
    rng = random.Random(7)
    cases = [bench_case("overhead", "add", "OK", ratio, launches, rng),
             bench_case("overhead", "view", "OK", ratio * 1.5, launches, rng),
             bench_case("overhead", "item", "WRONG", None, 0, rng),
             bench_case("norm", "softmax", "MISSING", None, 0, rng)]
    return seal({"schema": "weir.bench/v1", "started": started,
                 "subject": {"name": subject, "version": "0.1.0"}, "peer": {"name": "torch", "version": "2.13.0"},
                 "provenance": PROVENANCE, "cases": cases,
                 "plan": {"launches": launches, "rounds": 4, "block_ms": 5, "threads": 1, "seed": 0,
                          "cases": [c["case_id"] for c in cases]}})


def bench_case(group, op, state, ratio, launches, rng) -> dict:
    """One entry: subject calls take 1 µs with 2% noise, the peer's `ratio` times as much."""
    case = {"group": group, "op": op, "variant": "64", "mode": "fwd", "inputs": [], "args": [], "kwargs": {},
            "threads": 1, "bytes": 768, "flops": 64}
    samples = [{"launch": launch, "round": r, "first": "subject" if r % 2 else "peer", "void": None,
                "subject": bench_side(1.0, rng), "peer": bench_side(ratio, rng),
                "calib": {"copy_L1": {"iters": 1000, "wall_ns": 1_000_000, "work": 50_000}}}
               for launch in range(launches) for r in range(4)]
    return {"case_id": digest(case), "case": case, "state": state, "reason": None if state == "OK" else "because",
            "samples": samples}


def bench_side(micros: float, rng: random.Random) -> dict:
    """One side of a round."""
    wall = int(5_000_000 * micros * rng.gauss(1, 0.02))
    return {"iters": 5000, "wall_ns": wall, "cpu_ns": wall, "nivcsw": 0}


def dlperf(label: str, step_ms: float, block: int, gate: str = "pass", status: str = "ok", plan: str = "a") -> dict:
    """One training run whose steps all take `step_ms`, plus 1% per block."""
    steps = [int(step_ms * 1e6 * (1 + 0.01 * block))] * 4 if status == "ok" else []
    return seal({
        "schema": "weir.dlperf/v1", "started": f"2026-01-01T12:0{block}:00.000+00:00", "plan_id": plan * 64,
        "block": block, "order": 0, "provenance": PROVENANCE,
        "case": {"model": "resnet50", "preset": "full", "precision": "fp32", "batch_size": 16, "layout": "nchw",
                 "params": 25557032, "train_flop_per_sample": 2.45e10, "optimizer": {"name": "sgd"}, "seed": 1,
                 "data": {"mode": "synthetic", "sha": "b" * 64}},
        "framework": {"name": label.split("-")[0], "label": label, "version": "1", "tuning": []},
        "launch": {"threads": 2, "affinity": [0, 1], "env": {}},
        "gate": {"rule": "sample rule", "verdict": gate, "reference": "torch-eager", "loss_trace": [6.9],
                 "grad_norm_trace": [1.0], "deviation": 1e-6, "allowed": 1e-4},
        "timing": {"clock": "monotonic", "warmup": 1, "step_ns": steps, "phases_ns": {}},
        "resources": {"rss_peak": (2 << 30) if label == "weir" else (3 << 30), "cpu_ns": None, "nivcsw": None},
        "status": status, "reason": None if status == "ok" else "killed"})


def dlperf_runs(weir_ms: float = 500, plan: str = "a") -> list[dict]:
    """Three blocks of weir and torch-eager (1 s), and a torch-compile that ran out of memory."""
    runs = [dlperf(label, ms, block, plan=plan) for block in range(3) for label, ms in (("weir", weir_ms), ("torch-eager", 1000))]
    return runs + [dlperf("torch-compile", 0, 0, "not-run", "oom", plan)]


def everything() -> list[dict]:
    """One of each, oldest first as a store returns them."""
    return sorted([conformance(), campaign(), mutation(), trust(), instructions(), programs(), bench(), bench("torch", 1.0), *dlperf_runs()],
                  key=lambda r: (r["started"], r["run_id"]))
