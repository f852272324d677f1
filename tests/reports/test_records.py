"""Records: schemas accept the good and name what is wrong with the bad."""

import copy

import pytest
import samples
from weir_reports.hashing import canonical_json
from weir_reports.provenance import SETTINGS
from weir_reports.records import KINDS, RecordError, new_run, run_id, seal, validate


@pytest.mark.parametrize("record", [samples.conformance(), samples.campaign(), samples.bench(), samples.dlperf("weir", 1, 0)],
                         ids=lambda r: r["schema"])
def test_good_records_validate(record):
    validate(record)
    assert record["run_id"] == run_id(record)


@pytest.mark.parametrize("change, place", [
    (lambda r: r.pop("subject"), "subject"),
    (lambda r: r["cells"][0].update(fwd="GOOD"), "cells/0/fwd"),
    (lambda r: r.update(ratio=2.0), "ratio"),
])
def test_bad_records_name_the_place(change, place):
    record = samples.conformance()
    change(record)
    with pytest.raises(RecordError, match=place):
        seal({k: v for k, v in record.items() if k != "run_id"})


def test_bench_records_cannot_store_a_ratio():
    record = samples.bench()
    record["cases"][0]["ratio"] = 2.0
    with pytest.raises(RecordError, match="ratio"):
        validate(record)


def test_changed_record_is_refused():
    record = copy.deepcopy(samples.bench())
    record["cases"][0]["samples"][0]["subject"]["wall_ns"] = 1
    with pytest.raises(RecordError, match="changed after it was sealed"):
        validate(record)


def test_unknown_kind_is_refused():
    with pytest.raises(RecordError, match="weir.other/v1"):
        new_run("weir.other/v1")


def test_new_run_carries_full_provenance():
    provenance = new_run(KINDS[1])["provenance"]
    assert set(provenance) == {"revision", "machine", "libraries", "python"}
    assert provenance["machine"]["cores"] >= 1 and len(provenance["machine"]["class_key"]) == 12


def test_variables_that_choose_kernels_are_told_and_make_another_series(monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    plain = new_run(KINDS[1])["provenance"]["machine"]
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    told = new_run(KINDS[1])["provenance"]["machine"]
    assert plain["settings"] == {} and told["settings"] == {"OPENBLAS_CORETYPE": "Haswell"}
    assert plain["class_key"] != told["class_key"]


def test_canonical_json_refuses_nan():
    with pytest.raises(ValueError):
        canonical_json({"err": float("nan")})
