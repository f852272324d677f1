"""The static site, rendered from the records of a store and from nothing else.

Equal records give byte-identical files: no clock, no random seed and no path of this machine enters a page.
"""

import json
import shutil
from collections import Counter
from pathlib import Path

import jinja2

from . import bench_figures, campaign_figures, conformance_figures, dlperf_figures, history, overview, program_figures
from .claims import claims, metrics
from .intervals import Interval
from .svg import forest, line, sweep, track

HERE = Path(__file__).parent
SHOWN_ITEMS = 60  # longer lists are cut on a record's page; the JSON file beside it holds everything


def build(records: list[dict], out: Path, failed: list[str] = ()) -> dict:
    """Renders `records` (oldest first) into the folder `out` and returns the summary also written as figures.json.

    `failed` says what did not run to its end; the first page begins with it, and with what the records tell of that.
    """
    out = Path(out)
    page_data = figures(records)
    page_data["failed"] = [*failed, *overview.unfinished(records)]
    (out / "records").mkdir(parents=True, exist_ok=True)
    for name in ("report.css", "report.js"):
        shutil.copyfile(HERE / "static" / name, out / name)
    env = _environment()
    for page in ("index", "conformance", "generated", "bench", "history", "dlperf", "environment", "records"):
        _write(out / f"{page}.html", env.get_template(f"{page}.html").render(page=page, root="", **page_data))
    for campaign in page_data["campaigns"]:
        (out / "failures").mkdir(exist_ok=True)
        for failure in campaign_figures.failures(campaign):
            body = env.get_template("failure.html").render(page="generated", root="../", campaign=campaign, failure=failure)
            _write(out / failure["page"], body)
    for record in records:
        name = short(record["run_id"])
        body = env.get_template("record.html").render(page="records", root="../", record=record, limit=SHOWN_ITEMS,
                                                      shown=shown)
        _write(out / "records" / f"{name}.html", body)
        _write(out / "records" / f"{name}.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    summary = _summary(page_data)
    _write(out / "figures.json", json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    return summary


def figures(records: list[dict]) -> dict:
    """Returns everything the templates show, computed from `records`."""
    kinds: dict[str, list] = {}
    for record in records:
        kinds.setdefault(record["schema"], []).append(record)
    conformances = conformance_figures.latest(kinds.get("weir.conformance/v1", []))
    campaigns, references = campaign_figures.parted(campaign_figures.latest(kinds.get("weir.campaign/v1", [])))
    groups = bench_groups(kinds.get("weir.bench/v1", []))
    workloads = dlperf_figures.workloads(kinds.get("weir.dlperf/v1", []))
    programs = [program_figures.programs(r) for r in _newest(kinds.get("weir.programs/v1", []))]
    judged = claims(metrics(conformances, campaigns, groups, workloads, programs))
    return {"records": records, "conformances": conformances, "campaigns": campaigns, "references": references, "bench": groups, "workloads": workloads,
            "programs": programs,
            "claims": judged, "tally": Counter(c.state for c in judged), "machines": _machines(records), "history": history.series(records),
            "mutations": _newest(kinds.get("weir.mutation/v1", [])), "trusts": _newest(kinds.get("weir.trust/v1", [])),
            "instructions": [bench_figures.instruction_figures(r) for r in _newest(kinds.get("weir.instructions/v1", []))],
            "answers": overview.answers(conformances, campaigns, groups, workloads), "changed": overview.changes(records)}


def _newest(records: list[dict]) -> list[dict]:
    """Returns the newest record of each subject."""
    return list({record["subject"]["name"]: record for record in records}.values())


def bench_groups(records: list[dict]) -> dict:
    """Returns {(subject name, peer name): groups}; each case comes from the newest record that holds it."""
    newest: dict[tuple, dict[str, tuple]] = {}
    for record in records:
        pair = (record["subject"]["name"], record["peer"]["name"])
        for entry in record["cases"]:
            newest.setdefault(pair, {})[entry["case_id"]] = (entry, record["run_id"])
    return {pair: bench_figures.group_figures([bench_figures.case_figures(*found) for found in cases.values()])
            for pair, cases in sorted(newest.items(), key=lambda item: (item[0][0] == item[0][1], item[0]))}


def shown(items: list[dict]) -> list[dict]:
    """Returns what a record's page lists: all cases, because figures link to them, else the first items."""
    return items if "case_id" in items[0] else items[:SHOWN_ITEMS]


def short(run_id: str) -> str:
    """Returns the 12 digits of a run id that name its files."""
    return run_id[:12]


def by_text(judged: list, state: str) -> list[tuple[str, list]]:
    """Returns (text, claims) for the claims in `state`, those of one text together, in their first order."""
    found: dict[str, list] = {}
    for claim in judged:
        if claim.state == state:
            found.setdefault(claim.text, []).append(claim)
    return list(found.items())


def _machines(records: list[dict]) -> list[dict]:
    """Returns the distinct environments, each with the records made in it."""
    found: dict[str, dict] = {}
    for record in records:
        if record.get("provenance"):
            key = json.dumps({k: v for k, v in record["provenance"].items()}, sort_keys=True)
            found.setdefault(key, {**record["provenance"], "runs": []})["runs"].append(record)
    return list(found.values())


def _summary(data: dict) -> dict:
    """Returns the claims and their tally as plain JSON values, for programs."""
    rows = [{"text": c.text, "target": c.target, "state": c.state,
             "metric": c.metric and {"id": c.metric.id, "label": c.metric.label, "run_ids": c.metric.run_ids,
                                     **vars(c.metric.figure)}} for c in data["claims"]]
    return {"answers": {a.question: {"state": a.state, "text": a.text} for a in data["answers"]}, "changed": data["changed"], "failed": data["failed"],
            "tally": {s: data["tally"][s] for s in ("holds", "fails", "open", "unmeasured")}, "claims": rows}


def _sweep(group: list) -> str:
    """Returns the picture of throughput over batch size; a framework that ran at one size only is a mark without a line."""
    lines: dict[str, tuple[list, str]] = {}
    for w in group:
        for row in w.rows:
            if row.throughput:
                points, _ = lines.setdefault(row.label, ([], f"records/{short(row.runs[0]['run_id'])}.html"))
                points.append((w.case["batch_size"], row.throughput))
    return sweep([(label, *lines[label]) for label in sorted(lines)], f"{group[0].name}: samples per second over batch size")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _environment() -> jinja2.Environment:
    env = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True,
                             lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    env.filters |= {"short": short, "duration": duration, "size": size, "interval": interval, "percent": percent}
    env.globals |= {"forest": lambda *args: jinja2.utils.markupsafe.Markup(forest(*args)), "states":
                    conformance_figures.STATES, "line": lambda *args: jinja2.utils.markupsafe.Markup(line(*args)), "share": conformance_figures.share, "by_text": by_text,
                    "track": lambda series: jinja2.utils.markupsafe.Markup(track(series)), "sweeps": dlperf_figures.sweeps,
                    "sweep": lambda group: jinja2.utils.markupsafe.Markup(_sweep(group)), "slower_than": overview.slower_than,
                    "campaign_states": campaign_figures.STATES, "campaign_share": campaign_figures.share}
    return env


def duration(ns: float | None) -> str:
    """Returns nanoseconds with three significant figures and a fitting unit, e.g. `1.82 µs`."""
    if ns is None:
        return "–"
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= scale:
            return f"{_three(ns / scale)} {unit}"
    return f"{_three(ns)} ns"


def size(count: float | None) -> str:
    """Returns bytes as MiB or GiB with three significant figures."""
    if count is None:
        return "–"
    return f"{_three(count / 2**30)} GiB" if count >= 2**30 else f"{_three(count / 2**20)} MiB"


def interval(value: Interval | None, unit: str = "x") -> str:
    """Returns e.g. `1.32× [1.28, 1.37]`; a share as `98.2%`; an en dash for None."""
    if value is None:
        return "–"
    if unit == "%":
        return percent(value.value)
    sign = "×" if unit == "x" else ""
    digits = _three if unit == "rate" else _two
    bounds = "" if value.low is None else f" [{digits(value.low)}, {digits(value.high)}]"
    return f"{digits(value.value)}{sign}{bounds}"


def percent(value: float | None) -> str:
    """Returns a share with one decimal, rounded down so that 100.0% means all."""
    return "–" if value is None else f"{int(value * 1000) / 10:.1f}%"


def _two(x: float) -> str:
    """Returns two decimals, or an exponent for a bound that a few disturbed blocks made meaningless."""
    return f"{x:.2f}" if x < 1000 else f"{x:.0e}"


def _three(x: float) -> str:
    """Returns three significant figures, above a million as a power of ten."""
    if x >= 1e6:
        return f"{x:.0e}"
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"
