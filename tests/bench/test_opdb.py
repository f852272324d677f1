"""Cases derived from PyTorch's op database: scaled consistently, and only what PyTorch takes."""

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from weir_bench import listing, opdb
from weir_bench.cases import select
from weir_bench.lockstep import Plan, Session

OPS = {op.name: op for op in op_db if not op.variant_test_name}


@pytest.fixture(scope="module", params=["add", "nn.functional.linear", "cumsum", "gather", "bitwise_and"])
def made(request):
    return request.param, list(opdb._cases_of(torch, OPS[request.param]))


def test_an_op_is_timed_in_three_sizes_both_ways(made):
    name, cases = made
    assert {c["op"] for c in cases} == {name} and {c["group"] for c in cases} == {"opdb"}
    assert {(c["variant"].split()[0], c["mode"]) for c in cases} >= {("small", "fwd"), ("cache", "fwd")}
    assert name == "bitwise_and" or ("small", "bwd") in {(c["variant"].split()[0], c["mode"]) for c in cases}


def test_extents_that_belong_together_grow_together(made):
    for case in made[1]:
        if made[0] == "nn.functional.linear":
            assert case["inputs"][0]["shape"][-1] == case["inputs"][1]["shape"][-1]


def test_answers_that_pytorch_does_not_repeat_are_compared_by_shape():
    checks = {name: {c["check"] for c in opdb._cases_of(torch, OPS[name]) if c["mode"] == "fwd"} for name in ("add", "cumsum", "bernoulli")}
    assert checks == {"add": {"values"}, "cumsum": {"values"}, "bernoulli": {"shape"}}


def test_the_cases_run(made):
    record = Session("torch", "torch", made[1], Plan(launches=1, rounds=1, block_ms=0.05)).run()
    assert {e["state"] for e in record["cases"]} == {"OK"}, [e["reason"] for e in record["cases"]]


def test_the_group_is_read_from_what_was_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = list(opdb._cases_of(torch, OPS["exp"]))

    def write(command, check):
        import json
        command[-1].write_text(json.dumps({"cases": made, "left_out": {}}))
    monkeypatch.setattr(listing.subprocess, "run", write)
    assert {c["op"] for c in select("opdb")} == {"exp"}
    assert select("opdb", "cache") and not select("all", "opdb/exp")


@pytest.mark.parametrize("name, path", [("polygamma", "Tensor.polygamma"), ("where", "Tensor.where"), ("cauchy", "Tensor.cauchy_"), ("mT", "Tensor.mT.__get__")])
def test_an_op_is_found_where_it_takes_the_samples_as_they_come(name, path):
    op = next(op for op in op_db if op.name == name)
    assert {c["op"] for c in opdb._cases_of(torch, op)} == {path}


def test_numbers_that_json_has_not_are_data():
    template = opdb.Template(torch, (torch.ones(2), float("inf")), {})
    assert template.args[1] == {"float": "inf"}


def test_what_cannot_be_data_is_left_out():
    with pytest.raises(opdb.NotData):
        opdb.Template(torch, (torch.ones(2), lambda x: x), {})
