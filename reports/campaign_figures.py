"""What follows from `weir.campaign/v1` records: states by property, by family and by op, failing calls, the trend."""

import re
from collections import Counter
from dataclasses import dataclass

STATES = ("PASS", "EXCUSED", "LENIENT", "FAIL", "UNSUPPORTED", "UNTESTED", "ORACLE-LIMIT")
# Cells that a framework can be held to: the oracle answered and the question was asked.
COUNTED = ("PASS", "EXCUSED", "LENIENT", "FAIL", "UNSUPPORTED")
_WORST_FIRST = ("FAIL", "LENIENT", "UNSUPPORTED", "EXCUSED", "PASS", "ORACLE-LIMIT", "UNTESTED")


@dataclass(frozen=True)
class OpRow:
    """One public operation: its worst state per property over overloads and dtypes, and its failures."""

    path: str
    states: dict
    failures: list


@dataclass(frozen=True)
class Point:
    """One record of a series: when, of which revision, how many cells in which state."""

    record: dict
    counts: Counter

    @property
    def label(self) -> str:
        """Returns the day and the first digits of the source revision, where the record knows it."""
        sha = self.record.get("provenance", {}).get("revision", {}).get("sha")
        return self.record["started"][:10] + (f" {sha[:7]}" if sha else "")


@dataclass(frozen=True)
class Campaign:
    """One record's figures; `counts` holds a Counter of states per property, `families` one per family of operations,
    `trend` a point per record of the same subject, oracle and dtypes, oldest first."""

    record: dict
    properties: list
    counts: dict
    families: dict
    rows: list
    trend: list

    @property
    def title(self) -> str:
        """Returns e.g. `weir 0.1.0 against torch 2.13.0, float32, int64`."""
        subject, oracle = self.record["subject"], self.record["oracle"]
        dtypes = ", ".join(sorted({score["dtype"] for score in self.record["scores"]}))
        return f"{subject['name']} {subject['version'] or ''} against {oracle['name']} {oracle['version'] or ''}, {dtypes}"


#: Adapters of other frameworks, whose records are shown for comparison and answer for nobody.
REFERENCES = "weir_autotest.subjects."


@dataclass(frozen=True)
class Reference:
    """Another framework under the same questions: of the operations that it has, how many are nowhere wrong."""

    name: str
    version: str
    record: dict
    present: int
    right: int
    missing: int


def parted(campaigns: list[Campaign]) -> tuple[list[Campaign], list[Reference]]:
    """Returns the campaigns of frameworks that are looked after here, and what those of others come to."""
    own = [c for c in campaigns if not c.record["subject"]["name"].startswith(REFERENCES)]
    return own, [_reference(c) for c in campaigns if c not in own]


def _reference(c: Campaign) -> Reference:
    subject = c.record["subject"]
    present = [row for row in c.rows if row.states.get("value") not in ("UNSUPPORTED", "UNTESTED", "ORACLE-LIMIT")]
    right = sum("FAIL" not in row.states.values() for row in present)
    missing = sum(row.states.get("value") == "UNSUPPORTED" for row in c.rows)
    name = subject["name"].removeprefix(REFERENCES).removesuffix("_arrays")
    return Reference({"numpy": "NumPy", "jax": "JAX"}.get(name, name), subject["version"] or "", c.record, len(present), right, missing)


def latest(records: list[dict]) -> list[Campaign]:
    """Returns the figures of the newest record (records come oldest first) per subject and oracle."""
    newest = {(r["subject"]["name"], r["oracle"]["name"]): r for r in records}
    return [campaign(newest[key], records) for key in sorted(newest)]


def campaign(record: dict, records: list[dict] = ()) -> Campaign:
    """Returns the figures of one record; properties in the record's order, failing operations first.

    `records` are those among which the record's series is looked for.
    """
    properties = list(record["scores"][0]["states"]) if record["scores"] else []
    counts = {name: Counter(score["states"][name] for score in record["scores"]) for name in properties}
    by_path: dict[str, list] = {}
    for score in record["scores"]:
        by_path.setdefault(score["path"], []).append(score)
    rows = [OpRow(path, {name: worst(scores, name) for name in properties},
                  [{**f, "page": failure_page(f)} for s in scores for f in s["failures"]])
            for path, scores in sorted(by_path.items())]
    rows.sort(key=lambda row: min((_WORST_FIRST.index(state) for state in row.states.values()), default=0))
    families: dict[str, Counter] = {}
    for path, scores in sorted(by_path.items()):
        families.setdefault(family(path), Counter()).update(state for s in scores for state in s["states"].values())
    trend = [Point(r, Counter(state for s in r["scores"] for state in s["states"].values()))
             for r in records if _series(r) == _series(record)]
    return Campaign(record, properties, counts, families, rows, trend)


def failures(figures: Campaign) -> list[dict]:
    """Returns the failures that have a page of their own: the first of each overload, dtype and property."""
    found: dict[str, dict] = {}
    for row in figures.rows:
        for failure in row.failures:
            found.setdefault(failure["page"], failure)
    return list(found.values())


def failure_page(failure: dict) -> str:
    """Returns the file of a failure's page; equal for failures of one overload, dtype and property."""
    name = f"{failure['overload']}.{failure.get('dtype', '')}.{failure['property']}{'.lenient' if failure['lenient'] else ''}"
    return f"failures/{re.sub('[^a-z0-9_.]', '-', name.lower())}.html"


def family(path: str) -> str:
    """Returns the module that holds the operation, e.g. `nn.functional`; `torch` for the top level."""
    return path.rpartition(".")[0] or "torch"


def _series(record: dict) -> tuple:
    dtypes = tuple(sorted({score["dtype"] for score in record["scores"]}))
    return record["subject"]["name"], record["oracle"]["name"], dtypes, record["settings"].get("cases")


def worst(scores: list[dict], name: str) -> str:
    """Returns the state that says most against the operation."""
    states = {score["states"][name] for score in scores}
    return next(state for state in _WORST_FIRST if state in states)


def share(counts: Counter) -> float | None:
    """Returns passing cells over counted cells, or None when nothing counts."""
    counted = sum(counts[state] for state in COUNTED)
    return counts["PASS"] / counted if counted else None


def agreement(counts: Counter) -> float | None:
    """Returns passing cells over those that the subject answered: what it does not support is missing, not wrong."""
    answered = sum(counts[state] for state in COUNTED if state != "UNSUPPORTED")
    return counts["PASS"] / answered if answered else None


def presence(counts: Counter) -> float | None:
    """Returns the cells that the subject answered over counted ones."""
    counted = sum(counts[state] for state in COUNTED)
    return 1 - counts["UNSUPPORTED"] / counted if counted else None
