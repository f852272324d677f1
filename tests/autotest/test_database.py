"""The failure database: what is stored comes back bit for bit, and what once failed passes."""

import json
from pathlib import Path

import pytest

from weir_autotest.campaign.replay import replay
from weir_autotest.campaign.tasks import Settings
from weir_autotest.cases import database
from weir_autotest.cases.case import Case, Named, TensorSpec

STORED = Path(__file__).parents[1] / "golden" / "cases"


def test_a_case_survives_json():
    tensor = TensorSpec(0, "bfloat16", (2, 1), (1, 4), 1, 0, True)
    case = Case((tensor, 0.1, -0.0, 1j, None, "mean", [1, True]), {"dtype": Named("dtype", "int64"), "index": (slice(1, None), ...)},
                [("bfloat16", b"\x00\x01\x02\x03\xff\xff")], relation="inplace", differentiate=2)
    again = database.decode(json.loads(json.dumps(database.encode(case))))
    assert again == case and str(again.args[2]) == "-0.0"


@pytest.mark.parametrize("damage", [{"args": {"code": "boom"}}, {"storages": []}])
def test_a_strange_file_is_refused(tmp_path, damage):
    case = Case((TensorSpec(0, "float32", (), (), 0, 0, False),), {}, [("float32", bytes(4))])
    (tmp_path / "x.json").write_text(json.dumps({"schema": database.SCHEMA, "op": "neg", "property": "value", "reason": "",
                                                 "path": "neg", **database.encode(case), **damage}))
    with pytest.raises(ValueError):
        database.load(tmp_path / "x.json")


def test_what_once_failed_passes():
    entries = database.entries(STORED)
    assert entries
    patient = Settings("weir", timeout=120)  # some ask for gigabytes, which a busy machine is slow to give
    failing = [f"{done.entry.name}: {done.failures[0].reason}" for done in replay(patient, entries) if not done.passed]
    assert failing == []
