"""Programs under weir and under PyTorch: what counts as the same, what a failure says, and the record."""

import json

import pytest
from rich.console import Console
from weir_dlperf.side_by_side import Program, compare, difference, find, record, run
from weir_dlperf.table import show_programs
from weir_reports.console import GATE_FAILED, OK
from weir_reports.program_figures import programs
from weir_reports.records import seal


def close(ours, theirs, rtol=1e-3, atol=1e-6):
    return difference(ours, theirs, Program(None, rtol, atol))


@pytest.mark.parametrize("ours, theirs", [
    ("loss 1.0001", "loss 1.0"), ("[1e-05, -2.5]", "[1.0001e-5, -2.5]"), ("nan", "nan"), ("a\nb 3", "a\nb 3"), ("-inf", "-inf"), ("x=.5", "x=.50001")])
def test_the_same(ours, theirs):
    assert close(ours, theirs) is None


@pytest.mark.parametrize("ours, theirs, says", [
    ("loss 1.01", "loss 1.0", "line 1: 1.01, PyTorch prints 1.0"), ("epoch 2", "epoch 3", "line 1: 2, PyTorch prints 3"), ("a", "a\nb", "1 lines, PyTorch prints 2"),
    ("cat 1.0", "dog 1.0", "'cat 1.0', PyTorch prints 'dog 1.0'"), ("1.0", "nan", "line 1"), ("x\n1.0 2.0", "x\n1.0", "line 2"), ("inf", "-inf", "line 1"), ("1.0", "inf", "line 1")])
def test_a_difference_is_named(ours, theirs, says):
    assert says in close(ours, theirs)


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "right": "import torch\nprint(torch.ones(3).sum().item())\n",
        "wrong": "import sys, torch\nprint(1.0 if 'weir' in sys.modules else 2.0)\n",
        "lost": "import sys, torch\nif 'weir' in sys.modules: raise SystemExit('no such op')\n",
        "near": "import sys, torch\nprint(1.0 if 'weir' in sys.modules else 1.1)\n",
        "test_not_one": "raise SystemExit(9)\n",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "tolerances.json").write_text(json.dumps({"near": [0.2, 0.0]}))
    return tmp_path


def test_programs_of_a_folder(folder):
    assert {p.path.stem: p.rtol for p in find([folder])} == {"right": 5e-3, "wrong": 5e-3, "lost": 5e-3, "near": 0.2}
    assert [p.path.stem for p in find([folder / "near.py"])] == ["near"]
    with pytest.raises(ValueError, match="absent"):
        find([folder / "absent"])


def test_a_comparison_becomes_a_record_and_figures(folder):
    made = seal(record(compare(find([folder]), rounds=1, threads=1), threads=1))
    assert {p["name"]: p["same"] for p in made["programs"]} == {"right": True, "near": True, "wrong": False, "lost": False}
    reasons = {p["name"]: p["reason"] for p in made["programs"]}
    assert reasons["lost"] == "weir: exit code 1, no such op" and "1.0, PyTorch prints 2.0" in reasons["wrong"]
    round, = next(p["rounds"] for p in made["programs"] if p["name"] == "right")
    assert round["peer"]["rss"] > round["subject"]["rss"] > 1 << 20 and all(0 < side["work"] < side["seconds"] for side in round.values())
    found = programs(made)
    assert found.same == 2 and [row.name for row in found.rows[:2]] == ["lost", "wrong"]
    with Console(file=open(folder / "shown", "w"), width=200) as console:
        assert show_programs(made, console) == GATE_FAILED
    assert "2 of 4 programs print the same" in (folder / "shown").read_text()


def test_ratios_are_those_of_the_work():
    def rounds(*works):
        return [{"subject": {"cpu": 1.0, "rss": 100, "seconds": 0.5 + (ours or 0), "work": ours}, "peer": {"cpu": 1.0, "rss": 400, "seconds": 2.0 + (theirs or 0), "work": theirs}}
                for ours, theirs in works]

    made = {"programs": [{"name": "a", "reason": None, "rounds": rounds((1.0, 2.0), (1.1, 2.2), (0.9, 1.8))},
                         {"name": "too short to tell", "reason": None, "rounds": rounds((0.001, 0.1))}, {"name": "once only", "reason": None, "rounds": rounds((None, None))}]}
    found = programs(made)
    row, = found.timed
    assert row.work.value == pytest.approx(2.0) and row.memory == 0.25 and (row.subject_s, row.peer_s) == (1.0, 2.0)
    assert row.work.low <= 2.0 <= row.work.high and row.whole.value == pytest.approx(4 / 1.5, rel=0.01) 


@pytest.mark.parametrize("end", ["", "raise SystemExit(0)"])
def test_the_work_is_a_second_run_that_prints_nothing(tmp_path, end):
    (tmp_path / "p.py").write_text(f"import sys, time\nprint(sys.argv[0].endswith('p.py'), __name__)\ntime.sleep(0.1 if hasattr(sys, 'ran') else 1)\nsys.ran = 1\n{end}\n")
    found = run(tmp_path / "p.py", "subject", 1, times=2)
    assert found.failed is None and found.printed == "True __main__\n"
    assert 0.1 <= found.costs["work"] and found.costs["seconds"] > 1


@pytest.mark.parametrize("line", ["", "os._exit(0)"])
def test_a_program_that_runs_only_once_has_no_second_time(tmp_path, line):
    (tmp_path / "p.py").write_text(f"import os, sys\nif not hasattr(sys, 'first'):\n    sys.first = 1\nelse:\n    raise ValueError\nprint(1, flush=True)\n{line}\n")
    found = run(tmp_path / "p.py", "subject", 1, times=2)
    assert found.failed is None and found.printed == "1\n" and found.costs["work"] is None


def test_an_interrupt_keeps_what_was_run(folder):
    def interrupted(text):
        if "2 of 2" in text:
            raise KeyboardInterrupt

    found, = compare(find([folder / "right.py"]), rounds=2, threads=1, progress=interrupted)
    assert len(found.rounds) == 1
    with pytest.raises(KeyboardInterrupt):
        compare(find([folder / "right.py"]), rounds=1, threads=1, progress=lambda text: interrupted("2 of 2: right"))


def test_a_program_that_does_not_end_is_ended(tmp_path):
    (tmp_path / "loop.py").write_text("import time\ntime.sleep(600)\n")
    assert run(tmp_path / "loop.py", "peer", 1, timeout=1).failed == "no end in 1 s"


def test_all_the_same_is_ok(folder):
    made = seal(record(compare(find([folder / "right.py"]), rounds=1, threads=1), threads=1))
    with Console(file=open(folder / "shown", "w"), width=200) as console:
        assert show_programs(made, console) == OK
