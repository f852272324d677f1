"""The comparison of two builds: what it decides from given times. No test here measures anything."""

import io
import subprocess
import zipfile

import numpy as np
import pytest
from rich.console import Console
from weir_bench import compare as comparing
from weir_bench import sides
from weir_bench.case import case_id
from weir_bench.cases import select
from weir_bench.compare import Comparison, compare
from weir_bench.lockstep import Plan, Session
from weir_bench.notes import notes
from weir_bench.sides import CannotCompare, Side, side_of
from weir_bench.table import show_comparison
from weir_bench.trust import trust
from weir_reports.console import GATE_FAILED, INCONCLUSIVE, NOTHING_MEASURED, OK

CASES = select("pointwise") + select("reduce")
A, B = Side("a"), Side("b")
SMALL = Plan(launches=6, rounds=4, block_ms=1.0)


def entry(case, ratio, rng, void=None, noise=0.01):
    """A case whose new build takes `ratio` times as long, by launches and rounds that differ a little."""
    samples = []
    for launch in range(SMALL.launches):
        shift = rng.normal() * noise
        for r in range(SMALL.rounds):
            times = {"peer": 1e6, "subject": 1e6 * ratio * np.exp(shift + rng.normal() * noise)}
            samples.append({"launch": launch, "round": r, "first": "peer", "calib": {}, "void": void,
                            **{role: {"iters": 10, "wall_ns": int(t), "cpu_ns": int(t), "nivcsw": 0} for role, t in times.items()}})
    return {"case_id": case_id(case), "case": case, "state": "OK", "reason": None, "samples": samples}


@pytest.fixture
def given(monkeypatch):
    """Makes sessions return times by the name of the op instead of measuring; the names of those looked at are kept."""
    asked = []

    def times(ratios=None, void=None, first=None, noise=0.01):
        class Given:
            def __init__(self, subject, peer, cases, plan, progress, calibrate):
                self.cases, self.plan, self.slow_down = cases, plan, subject.slow_down

            def run(self):
                asked.append([case["op"] for case in self.cases])

                def rng(case):  # of its own, whatever other cases are looked at
                    return np.random.default_rng([len(asked), self.plan.seed, int(case_id(case)[:8], 16)])
                now = first if first is not None and len(asked) == 1 else ratios or {}
                return {"run_id": str(len(asked)), "plan": {"threads": 1}, "cases": [
                    entry(c, now.get(c["op"], 1.0) * (1 + self.slow_down), rng(c), void, noise) for c in self.cases]}
        monkeypatch.setattr(comparing, "Session", Given)
        return asked
    return times


def test_equal_builds_raise_no_alarm(given):
    given()
    found = compare(A, B, CASES)
    assert not found.slower and not found.faster


def test_what_is_slower_twice_is_slower_and_what_is_faster_is_told(given):
    asked = given({"exp": 1.2, "tanh": 0.7})
    found = compare(A, B, CASES)
    assert [c.figures.case["op"] for c in found.slower] == ["exp"] and [c.figures.case["op"] for c in found.faster] == ["tanh"]
    assert {"exp", "tanh"} <= set(asked[1]) and len(asked[1]) < len(asked[0]) / 2
    assert show_comparison(found, Console(file=io.StringIO())) == GATE_FAILED
    assert show_comparison(found, Console(file=io.StringIO()), fail_below=0.5) == OK


def test_what_was_slow_by_chance_is_not_confirmed(given):
    given(first={"exp": 1.3})
    found = compare(A, B, CASES)
    assert len(found.confirm["cases"]) >= 1 and not found.slower


def test_a_certain_change_too_small_to_matter_is_left_alone(given):
    given({"exp": 1.02})
    assert not compare(A, B, CASES).slower


def test_disturbed_rounds_decide_nothing(given):
    given({"exp": 1.5}, void="subject: cpu/wall 0.50 on 1 thread")
    found = compare(A, B, CASES)
    assert not found.slower and show_comparison(found, Console(file=io.StringIO())) == INCONCLUSIVE
    empty = Comparison(A, B, {"run_id": "", "cases": [], "plan": {"threads": 1}})
    assert show_comparison(empty, Console(file=io.StringIO())) == NOTHING_MEASURED


def test_planted_slow_downs_are_counted(given):
    given()
    found = trust(A, CASES, (0.0, 0.2), runs=2)
    assert found.rate(0.0) == 0 and found.rate(0.2) > 0.95 and found.runs == {0.0: 2, 0.2: 2} and found.alarmed[0.2] == 2


def test_the_release_note_names_what_was_optimised_and_what_regressed(given):
    given({"exp": 0.25, "amax": 1.5}, noise=0.001)
    text = notes(compare(A, B, CASES))
    assert "**Optimised**" in text and "`exp`: 4.0" in text
    assert "**Regressed**" in text and "amax" in text.split("**Regressed**")[1]


def test_sides_are_told_apart_by_what_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert side_of("torch") == Side("torch", "torch")
    (tmp_path / "build" / "python").mkdir(parents=True)
    assert side_of("build").path == str(tmp_path / "build" / "python")
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as wheel:
        wheel.writestr("weir/__init__.py", "")
    assert (tmp_path / side_of("x.whl").path / "weir" / "__init__.py").exists()
    with pytest.raises(CannotCompare, match="no module, revision, wheel"):
        side_of("no/such thing")


def test_a_revision_is_kept_under_its_own_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setattr(sides, "_built", lambda sha, say: tmp_path / sha)
    side = side_of("HEAD")
    assert side.label == f"weir {side.path[-40:][:9]}" and len(side.path.rsplit("/", 1)[1]) == 40


def test_a_planted_slow_down_and_another_place_reach_the_worker(tmp_path):
    (tmp_path / "other_torch.py").write_text("from torch import *\nfrom torch import set_num_threads, nn\n__version__ = 'elsewhere'\n")
    slow = Side("slow", "other_torch", path=str(tmp_path), slow_down=3.0)
    record = Session(slow, "torch", select("pointwise", "exp 64k"), Plan(launches=1, rounds=2, block_ms=2.0), calibrate=False).run()
    assert record["subject"] == {"name": "slow", "version": "elsewhere"}
    assert record["plan"]["sides"]["subject"] == {"label": "slow", "module": "other_torch", "slow_down": 3.0}
    (found,) = record["cases"]
    assert found["state"] == "OK" and all(s["subject"]["iters"] == s["peer"]["iters"] and s["calib"] == {} for s in found["samples"])
