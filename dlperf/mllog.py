"""A record as MLPerf's log lines, `:::MLLOG {...}`, in the open division's words. See docs/dlperf.md for what is not claimed."""

import json
from pathlib import Path

BENCHMARKS = {"resnet50": "resnet", "bert": "bert"}
NOBODY = "none: a measurement of throughput, not a submission"
START, STOP, POINT = "INTERVAL_START", "INTERVAL_END", "POINT_IN_TIME"


def write(record: dict, file: Path) -> None:
    """Writes the lines of a record; a run that was skipped has none, and no file."""
    if record["status"] != "skipped":
        file.write_text("".join(f"{line}\n" for line in lines(record)))


def lines(record: dict) -> list[str]:
    """Returns the lines of one training run, in order of time. Times are Unix milliseconds."""
    return [":::MLLOG " + json.dumps({"namespace": "", "time_ms": time, "event_type": kind, "key": key, "value": value,
                                      "metadata": {"file": f"{record['run_id']}.json", "lineno": 1, **metadata}})
            for time, kind, key, value, metadata in _events(record)]


def _events(record: dict):
    """Yields (time, kind, key, value, metadata)."""
    marks, ok = record["timing"]["unix_ms"], record["status"] == "ok"
    start = marks.get("init_start", 0)
    yield from ((start, POINT, key, value, {}) for key, value in _facts(record))
    yield start, START, "init_start", None, {}
    if not ok:
        return  # where a run ended that failed is not known
    begin = marks["run_start"]
    epoch = {"epoch_num": 1, "first_epoch_num": 1, "epoch_count": 1, "samples_count": 0}
    yield begin, STOP, "init_stop", None, {}
    yield begin, START, "run_start", None, {}
    for key in ("block_start", "epoch_start"):
        yield begin, START, key, None, epoch
    steps, size = record["timing"]["step_ns"], record["case"]["batch_size"]
    end = begin
    for k, step in enumerate(steps):
        end = begin + sum(steps[: k + 1]) // 1_000_000
        yield end, POINT, "tracked_stats", {"throughput": size * 1e9 / step}, {"step": k + 1}
    end, done = max(end, marks["run_stop"]), {**epoch, "samples_count": size * len(steps)}
    yield end, POINT, "tracked_stats", {"throughput": size * len(steps) * 1e9 / sum(steps)}, {"step": len(steps)}
    yield end, POINT, "trained_samples", size * len(steps), {}
    for key in ("epoch_stop", "block_stop"):
        yield end, STOP, key, None, done
    # Not "success", which means that a target accuracy was reached.
    yield end, STOP, "run_stop", None, {"status": "aborted", **done}


def _facts(record: dict):
    """Yields (key, value) of what is known before the run."""
    case, optimizer = record["case"], record["case"]["optimizer"]
    yield from {"submission_benchmark": BENCHMARKS[case["model"]], "submission_org": NOBODY,
                "submission_division": "open", "submission_status": "research",
                "submission_platform": record["provenance"]["machine"]["cpu"] or "unknown",
                "submission_poc_name": NOBODY, "cache_clear": False, "seed": case["seed"],
                "global_batch_size": case["batch_size"], "gradient_accumulation_steps": 1,
                "train_samples": case["data"]["samples"], "eval_samples": 0, "opt_name": optimizer["name"],
                "opt_base_learning_rate": optimizer["lr"], "opt_weight_decay": optimizer["weight_decay"]}.items()
    if "betas" in optimizer:
        yield from (("opt_adamw_beta_1", optimizer["betas"][0]), ("opt_adamw_beta_2", optimizer["betas"][1]),
                    ("opt_adamw_epsilon", optimizer["eps"]), ("opt_adamw_weight_decay", optimizer["weight_decay"]))
        yield "max_sequence_length", case["config"]["sequence"]
    else:
        yield from (("sgd_opt_base_learning_rate", optimizer["lr"]), ("sgd_opt_momentum", optimizer["momentum"]),
                    ("sgd_opt_weight_decay", optimizer["weight_decay"]))
