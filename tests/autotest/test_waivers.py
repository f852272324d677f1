"""Waivers let a fallen cell pass until their day, and say so when they are over or not needed."""

import json
from datetime import date

import pytest

from weir_autotest import waivers
from weir_autotest.gate import Change, Verdict

TODAY = date(2026, 5, 1)
FALLEN = Change("svd float32", "value", "PASS", "FAIL", "signs")
ENTRY = {"row": "svd float32", "column": "value", "reason": "signs", "issue": "#12", "until": "2026-05-01"}


def waiver(**changed):
    return waivers._waiver({**ENTRY, **changed})


def test_a_waiver_in_force_lets_its_cell_pass():
    applied = waivers.apply([waiver()], Verdict([FALLEN]), TODAY)
    assert applied.verdict.holds and [change for change, _ in applied.waived] == [FALLEN]
    assert not applied.expired and not applied.idle


def test_an_expired_waiver_lets_nothing_pass():
    applied = waivers.apply([waiver(until="2026-04-30")], Verdict([FALLEN]), TODAY)
    assert applied.verdict.fell == [FALLEN] and len(applied.expired) == 1


def test_another_cell_still_falls_and_the_waiver_is_idle():
    applied = waivers.apply([waiver(column="stride")], Verdict([FALLEN]), TODAY)
    assert applied.verdict.fell == [FALLEN] and [w.column for w in applied.idle] == ["stride"]


@pytest.mark.parametrize("content", [[], {"schema": "other"}, {"schema": waivers.SCHEMA}, {"schema": waivers.SCHEMA, "waivers": [{}]},
                                     {"schema": waivers.SCHEMA, "waivers": [{**ENTRY, "until": "soon"}]},
                                     {"schema": waivers.SCHEMA, "waivers": [{**ENTRY, "reason": ""}]}])
def test_what_is_not_a_waiver_file_is_refused(tmp_path, content):
    (tmp_path / "w.json").write_text(json.dumps(content))
    with pytest.raises(ValueError):
        waivers.load(tmp_path / "w.json")


def test_the_gate_reads_waivers(command, tmp_path):
    def gate(states, *more):
        cell = dict(zip(("fwd", "bwd", "err"), states)) | {"op": "add", "variant": "", "reason": "why"}
        (tmp_path / "run.json").write_text(json.dumps({"schema": "weir.conformance/v1", "dtype": "float32", "cells": [cell]}))
        return command("gate", "--baseline", "b.json", "--waivers", "w.json", "--from", "run.json", *more)

    assert gate(("PASS", "PASS", "N/A"), "--update").returncode == 0
    entry = {**ENTRY, "row": "add", "column": "bwd", "until": "9999-12-31"}
    (tmp_path / "w.json").write_text(json.dumps({"schema": waivers.SCHEMA, "waivers": [entry]}))
    waived = gate(("PASS", "FAIL", "N/A"))
    assert waived.returncode == 0 and "waived  add bwd: PASS -> FAIL, until 9999-12-31" in waived.stdout
    assert gate(("FAIL", "FAIL", "N/A")).returncode == 2
    (tmp_path / "w.json").write_text("{}")
    assert gate(("PASS", "PASS", "N/A")).returncode == 1
