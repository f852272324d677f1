"""Instructions per call: counted where valgrind is, compared without tolerance for noise."""

import io
import os
import shutil

import pytest
from rich.console import Console
from weir_bench import instructions
from weir_bench.case import case_id
from weir_bench.cases import select
from weir_bench.instructions import Counts, NoValgrind, count, record
from weir_bench.sides import Side
from weir_bench.table import show_instructions
from weir_reports.bench_figures import NOTABLE
from weir_reports.console import GATE_FAILED, OK
from weir_reports.records import seal

CASES = select("overhead", "add 64")[:1]

#: A framework whose `add` does a number of useless things.
TINY = '''
__version__ = "tiny"
float32 = "float32"

def set_num_threads(n): pass

def from_numpy(array): return array

def add(a, b):
    for _ in range({steps}):
        pass
    return a
'''


def test_without_valgrind_nothing_is_counted(monkeypatch):
    monkeypatch.setattr(instructions.shutil, "which", lambda name: None)
    with pytest.raises(NoValgrind, match="valgrind is not installed"):
        count(Side("weir"), CASES)


@pytest.mark.parametrize("after, code", [(1005, OK), (900, OK), (1020, GATE_FAILED)])
def test_more_than_a_hundredth_fails(after, code):
    key, console = case_id(CASES[0]), Console(file=io.StringIO(), width=120)
    before, now = Counts(Side("a"), {key: 1000}), Counts(Side("b"), {key: after})
    assert show_instructions(before, now, CASES, console) == code
    assert "overhead/add 64" in console.file.getvalue()


def test_counts_become_a_record():
    key = case_id(CASES[0])
    made = seal(record(Counts(Side("a"), {key: 1000.5}), Counts(Side("b"), {}, {key: "no add"}), CASES, "weir"))
    assert made["cases"] == [{"case_id": key, "name": "overhead/add 64", "before": 1000.5, "after": None, "reason": "no add"}]
    assert (made["before"]["label"], made["after"]["label"]) == ("a", "b") and "python" not in made["before"]


def test_a_case_that_one_side_lacks_is_named():
    key, console = case_id(CASES[0]), Console(file=io.StringIO(), width=120)
    assert show_instructions(Counts(Side("a"), {key: 1000}), Counts(Side("b"), {}, {key: "no add"}), CASES, console) == OK
    assert "no add" in console.file.getvalue()


@pytest.mark.skipif(not shutil.which("vgdb"), reason="valgrind is not installed")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="valgrind runs no AddressSanitizer")
def test_the_same_code_has_the_same_count_and_more_work_a_larger_one(tmp_path):
    found = []
    for name, steps in (("one", 100), ("again", 100), ("more", 200)):
        (tmp_path / name / "tiny").mkdir(parents=True)
        (tmp_path / name / "tiny" / "__init__.py").write_text(TINY.format(steps=steps))
        found.append(count(Side(name, "tiny", path=str(tmp_path / name)), CASES).calls[case_id(CASES[0])])
    assert abs(found[1] / found[0] - 1) < NOTABLE
    assert found[2] > found[0] * 1.2
