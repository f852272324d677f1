"""The record of a run: a plain dict, the one truth that reports and the gate read."""

import json
from collections import Counter
from dataclasses import asdict

from weir_reports.hashing import digest
from weir_reports.provenance import provenance

from .campaign.mutate import Kills
from .campaign.run import Campaign
from .campaign.score import STATES, UNANSWERED
from .check.properties import PROPERTIES
from .opdb.cell import PHASES, totals
from .opdb.run import Result
from .workers import graphs, transforms
from .workers.mutants import KINDS

SCHEMA = "weir.conformance/v1"
CAMPAIGN_SCHEMA = "weir.campaign/v1"
MUTATION_SCHEMA = "weir.mutation/v1"


def record(result: Result) -> dict:
    """The record of a finished run, named by the hash of its content as every record is."""
    settings = result.settings
    content = {
        "schema": SCHEMA,
        "started": result.started,
        "subject": {"name": settings.subject, "version": result.subject_version},
        "oracle": {"name": "torch", "version": result.oracle_version},
        "provenance": provenance(),
        "dtype": settings.dtype,
        "unfinished": result.unfinished,
        "totals": totals(result.cells),
        "cells": [{"op": cell.op, "variant": cell.variant,
                   **{phase: cell.states[phase] for phase in PHASES}, "reason": cell.reason}
                  for cell in result.cells],
    }
    return {**content, "run_id": digest(content)}


def campaign_record(campaign: Campaign, scripts: dict | None = None) -> dict:
    """The record of a campaign: settings, totals, the states of every overload, and the failures kept.

    `scripts` holds stand-alone scripts by overload, dtype and property; the first failure of each carries it.
    """
    scripts = dict(scripts or {})
    return _sealed({
        "schema": CAMPAIGN_SCHEMA,
        "started": campaign.started,
        "subject": {"name": campaign.settings.subject, "version": campaign.subject_version},
        "oracle": {"name": "torch", "version": campaign.oracle_version},
        "provenance": provenance(),
        "settings": asdict(campaign.settings),
        "seconds": campaign.seconds,
        "unfinished": campaign.unfinished,
        "scores": [{"overload": score.overload, "path": score.path, "dtype": score.dtype, "states": score.states(),
                    "made": score.made, "valid": score.valid, "cases": score.cases, "unsupported": score.unsupported,
                    "asked": dict(score.asked), "absent": dict(score.absent), "failed": dict(score.failed), "lacking": score.lacking,
                    "oracle_limit": score.oracle_limit,
                    "excused": [{"property": name, "kind": kind, "count": count} for (name, kind), count in score.excused.items()],
                    "excuses": [asdict(excuse) | {"call": call} for excuse, call in score.excuses],
                    "failures": [_failure(failure, scripts) for failure in score.failures]}
                   for score in campaign.scores],
    })


def mutation_record(kills: Kills, every: int) -> dict:
    """The record of planted faults: how many of each kind were noticed, by overloads and by cases."""
    content = {
        "schema": MUTATION_SCHEMA,
        "started": kills.started,
        "subject": {"name": kills.settings.subject, "version": kills.oracle_version},
        "oracle": {"name": "torch", "version": kills.oracle_version},
        "provenance": provenance(),
        "settings": asdict(kills.settings) | {"every": every},
        "seconds": kills.seconds,
        "kinds": [{"kind": kind, "what": (KINDS[kind].__doc__ or "").split(".\n")[0].rstrip("."), "planted": kills.planted[kind],
                   "noticed": kills.noticed[kind], "cases": kills.cases[kind], "noticed_cases": kills.noticed_cases[kind],
                   "survivors": kills.survivors.get(kind, [])} for kind in KINDS],
    }
    return {**content, "run_id": digest(content)}


def _failure(failure, scripts: dict) -> dict:
    script = None if failure.lenient else scripts.pop((failure.overload, failure.dtype, failure.property), None)
    return asdict(failure) | ({"script": script} if script else {})


def merged(records: list[dict]) -> dict:
    """One record of the parts of a campaign that machines shared. Raises ValueError unless they are such parts."""
    if not records:
        raise ValueError("no records to merge")
    common = {json.dumps({**r["settings"], "shard": None, "jobs": None, "subject": r["subject"], "oracle": r["oracle"]},
                         sort_keys=True) for r in records}
    if len(common) > 1:
        raise ValueError("the records differ in subject, oracle or settings")
    parts, count = sorted(r["settings"]["shard"][0] for r in records), records[0]["settings"]["shard"][1]
    if any(r["settings"]["shard"][1] != count for r in records) or parts != list(range(count)):
        raise ValueError(f"expected shards 0 to {count - 1} once each, got {parts}")
    scores = sorted((score for r in records for score in r["scores"]), key=lambda s: (s["overload"], s["dtype"]))
    return _sealed({**records[0], "started": min(r["started"] for r in records),
                    "settings": {**records[0]["settings"], "shard": [0, 1]},
                    "seconds": max(r["seconds"] for r in records),
                    "unfinished": sum(r.get("unfinished", 0) for r in records), "scores": scores})


def _sealed(content: dict) -> dict:
    content = {**content, "totals": campaign_totals(content["scores"])}
    content.pop("run_id", None)
    return {**content, "run_id": digest(content)}


#: What counts calls that a way of running them cannot have, since their results depend on values in shape, or are Python values.
_DYNAMIC = {"graph": graphs.DYNAMIC, "vmap": transforms.DYNAMIC, "forward": ""}


def _totals_of(way: str, scores: list[dict]) -> dict:
    """How the calls fared as graphs, in a batch or in forward mode: `dynamic` are those whose results depend on values."""
    asked, absent, failed, dynamic, missing = (
        sum(score.get(key, {}).get(name, 0) for score in scores) for key, name in
        (("asked", way), ("absent", way), ("failed", way), ("absent", _DYNAMIC[way]), ("absent", UNANSWERED[way])))
    return {"asked": asked - missing, "dynamic": dynamic, "refused": absent - missing - dynamic, "wrong": failed}


def campaign_totals(scores: list[dict]) -> dict:
    """How many rows are in which state per property, and how the generator did."""
    def overloads(holds) -> int:
        return len({score["overload"] for score in scores if holds(score)})

    states = {name: Counter({state: 0 for state in STATES}) for name in PROPERTIES}
    for score in scores:
        for name, state in score["states"].items():
            states[name][state] += 1
    return {"properties": {name: dict(count) for name, count in states.items()},
            **{name: sum(score[name] for score in scores) for name in ("made", "valid", "cases")},
            "excused": dict(sum((Counter({e["kind"]: e["count"]}) for score in scores for e in score.get("excused", ())), Counter())),
            **{way: _totals_of(way, scores) for way in UNANSWERED},
            "overloads": overloads(lambda score: True),
            "reached": overloads(lambda score: score["valid"]),
            "failing": overloads(lambda score: "FAIL" in score["states"].values()),
            "lenient": overloads(lambda score: "LENIENT" in score["states"].values()),
            "unsupported": overloads(lambda score: score["unsupported"]),
            "missing": overloads(lambda score: score["states"]["value"] == "UNSUPPORTED")}
