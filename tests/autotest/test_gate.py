"""The ratchet, its files and the command line's exit codes."""

import json
from xml.etree import ElementTree

import pytest

from weir_autotest import annotations, gate, junit
from weir_autotest.check.properties import PROPERTIES
from weir_autotest.record import record


def run_of(**ops):
    cells = [{"op": op, "variant": "", **dict(zip(("fwd", "bwd", "err"), states)), "reason": f"{op} \x00 why"}
             for op, states in ops.items()]
    return {"schema": "weir.conformance/v1", "dtype": "float32", "cells": cells}


def table_of(**ops):
    return gate.table(run_of(**ops))


def campaign_of(state):
    states = {name: "PASS" for name in PROPERTIES} | {"stride": state}
    score = {"overload": "add.Tensor", "dtype": "int64", "states": states, "failures": []}
    return gate.table({"schema": "weir.campaign/v1", "settings": {"cases": 50}, "scores": [score]})


EMPTY = {}
GOOD, BAD = ("PASS", "PASS", "N/A"), ("PASS", "FAIL", "N/A")


def test_a_cell_that_falls_breaks_the_gate():
    verdict = gate.compare(table_of(add=BAD), gate.raised(table_of(add=GOOD), EMPTY))
    assert [str(change) for change in verdict.fell] == ["add bwd: PASS -> FAIL"]
    assert not verdict.holds


def test_a_cell_that_rises_is_told():
    verdict = gate.compare(table_of(add=GOOD), gate.raised(table_of(add=BAD), EMPTY))
    assert [str(change) for change in verdict.rose] == ["add bwd: FAIL -> PASS"]
    assert verdict.holds


def test_one_bad_state_for_another_is_no_change():
    verdict = gate.compare(table_of(add=("FAIL",) * 3), gate.raised(table_of(add=("MISSING",) * 3), EMPTY))
    assert verdict.holds and not verdict.rose


def test_leaving_an_op_out_is_a_fall_unless_only_some_were_asked_for():
    baseline = gate.raised(table_of(add=GOOD, mul=GOOD), EMPTY)
    assert {change.op for change in gate.compare(table_of(add=GOOD), baseline).fell} == {"mul"}
    assert gate.compare(table_of(add=GOOD), baseline, lambda row: row == "add").holds


def test_update_only_raises():
    once = gate.raised(table_of(add=GOOD, mul=BAD), EMPTY)
    twice = gate.raised(table_of(add=BAD, mul=GOOD), once)
    assert twice["float32"] == {"add": list(GOOD), "mul": list(GOOD)}


def test_a_saved_baseline_loads_with_one_op_a_line(tmp_path):
    baseline = gate.raised(table_of(add=GOOD, mul=BAD), EMPTY)
    gate.save(baseline, tmp_path / "b.json")
    assert gate.load(tmp_path / "b.json") == baseline
    assert sum("PASS" in line for line in (tmp_path / "b.json").read_text().splitlines()) == 2


def test_junit_marks_fallen_cells_as_failures(tmp_path):
    after = table_of(add=BAD, mul=GOOD)
    junit.write(tmp_path / "j.xml", after, gate.compare(after, gate.raised(table_of(add=GOOD), EMPTY)))
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert suite.get("failures") == "1" and suite.get("tests") == "6"
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["bwd"]


def test_github_is_told_of_fallen_cells_at_their_lines(tmp_path):
    path, rows = tmp_path / "b.json", {f"op{i}": GOOD for i in range(12)}
    gate.save(gate.raised(table_of(**rows), EMPTY), path)
    lines = annotations.lines(gate.compare(table_of(**{**rows, "op1": BAD}), gate.load(path)), path)
    assert len(lines) == 1 and "::op1 bwd: PASS -> FAIL%0Aop1" in lines[0]
    number = int(lines[0].split("line=")[1].split(",")[0])
    assert '"op1"' in path.read_text().splitlines()[number - 1]
    many = annotations.lines(gate.compare(table_of(**dict.fromkeys(rows, BAD)), gate.load(path)), path)
    assert len(many) == 11 and "and 2 more cells fell" in many[-1]


@pytest.mark.parametrize("before, after, holds", [("PASS", "LENIENT", False), ("LENIENT", "FAIL", False),
                                                  ("UNSUPPORTED", "FAIL", False), ("FAIL", "UNSUPPORTED", True),
                                                  ("PASS", "UNTESTED", False), ("FAIL", "PASS", True)])
def test_generated_calls_may_only_rise(tmp_path, before, after, holds):
    gate.save(gate.raised(campaign_of(before), EMPTY), tmp_path / "b.json")
    verdict = gate.compare(campaign_of(after), gate.load(tmp_path / "b.json"))
    assert verdict.holds == holds


def test_a_record_has_its_totals(fake_run):
    made = record(fake_run)
    assert made["totals"]["ops"] == len(made["cells"]) == 13
    assert made["totals"]["all_pass"] == 2
    assert sum(made["totals"]["fwd"].values()) == 13
    assert made["subject"] == {"name": "fakeweir", "version": "0.0-fake"}
    json.dumps(made)


def test_exit_codes(command, tmp_path):
    (tmp_path / "good.json").write_text(json.dumps(run_of(add=GOOD)))
    (tmp_path / "bad.json").write_text(json.dumps(run_of(add=BAD)))
    assert command("gate", "--baseline", "b.json", "--from", "good.json", "--update").returncode == 0
    mistyped = command("gate", "--baseline", "typo.json", "--from", "good.json")
    assert mistyped.returncode == 1 and "no such baseline" in mistyped.stderr
    fallen = command("gate", "--baseline", "b.json", "--from", "bad.json")
    assert fallen.returncode == 2 and "FELL  add bwd: PASS -> FAIL" in fallen.stdout
    (tmp_path / "part.json").write_text(json.dumps(run_of(add=GOOD) | {"unfinished": 3}))
    assert command("gate", "--baseline", "b.json", "--from", "part.json").returncode == 130
    assert command("gate", "--from", "absent.json").returncode == 1
    assert command("gate", "--no-such-option").returncode == 1


def test_accept_and_explain(command, tmp_path):
    done = command("accept", "--jobs", "1", "--ops", "neg,to_sparse", "--json", "r.json")
    assert done.returncode == 0 and "1 of 2 ops pass forward, backward and error inputs" in done.stdout
    assert json.loads((tmp_path / "r.json").read_text())["dtype"] == "float32"
    explained = command("explain", "to_sparse").stdout
    assert "UNMAPPABLE" in explained and "generated calls: " in explained
    assert "generated calls: value PASS" in command("explain", "nn.ReLU").stdout
    unknown = command("explain", "no_such_op")
    assert unknown.returncode == 1 and "not in PyTorch's databases" in unknown.stderr and "not a public operation" in unknown.stderr


def test_machines_share_a_gate(command, tmp_path):
    """A part answers for its rows, and for no others."""
    asked = ("run", "--jobs", "1", "--ops", "neg,add,mul", "--dtypes", "float32,int64", "--cases", "2")
    assert command(*asked, "--json", "whole.json").returncode == command(*asked, "--shard", "0/2", "--json", "part.json").returncode == 0
    assert command("gate", "--baseline", "b.json", "--from", "whole.json", "--update").returncode == 0
    held = command("gate", "--baseline", "b.json", "--from", "part.json")
    assert held.returncode == 0 and "0 fell" in held.stdout
    part = json.loads((tmp_path / "part.json").read_text())
    assert 0 < len(part["scores"]) < len(json.loads((tmp_path / "whole.json").read_text())["scores"])
    (tmp_path / "lost.json").write_text(json.dumps(part | {"scores": part["scores"][1:]}))
    assert command("gate", "--baseline", "b.json", "--from", "lost.json").returncode == 2
    for whole in (("--from", "part.json"), ("--tier", "pr", "--shard", "1/2")):
        refused = command("gate", "--baseline", "b.json", "--update", *whole)
        assert refused.returncode == 1 and "merge" in refused.stderr
