"""Cases of `opdb` in other layouts and dtypes: what PyTorch takes of them, and nothing else."""

import json

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from weir_bench import listing, varied
from weir_bench.cases import select
from weir_bench.case import case, tensor
from weir_bench.inputs import tensors, write_inputs
from weir_bench.lockstep import Plan, Session

OPS = {op.name: op for op in op_db if not op.variant_test_name}


@pytest.fixture(scope="module", params=["exp", "cumsum", "bitwise_and"])
def made(request):
    return request.param, list(varied._cases_of(torch, OPS[request.param]))


def test_an_op_is_timed_in_layouts_and_dtypes_that_it_takes(made):
    name, cases = made
    got = {(c["group"], c["variant"].removesuffix(" backward").split()[-1], c["mode"]) for c in cases}
    if name == "bitwise_and":  # of integers only: no dtype to change, and the samples of float32 are none
        assert not cases
        return
    assert got >= {("opdb-layouts", "transposed", "fwd"), ("opdb-layouts", "expanded", "bwd"), ("opdb-dtypes", "float16", "bwd"),
                   ("opdb-dtypes", "int64", "fwd"), ("opdb-dtypes", "complex64", "bwd")}
    assert ("opdb-dtypes", "int64", "bwd") not in got


def test_the_first_tensor_alone_is_laid_out_otherwise_and_all_change_their_dtype():
    call = case("opdb", "add", "2d", [tensor(4, 5, requires_grad=True), tensor(5, dtype="int64", fill="below:3"), tensor(4, 5)])
    made = {c["variant"]: c["inputs"] for c in varied.variants(call)}
    assert [i["layout"] for i in made["2d transposed"]] == ["transposed", "contiguous", "contiguous"]
    assert [i["dtype"] for i in made["2d bfloat16"]] == ["bfloat16", "int64", "bfloat16"]
    assert made["2d float64"][0]["requires_grad"] and not made["2d int64"][0]["requires_grad"]
    assert "2d channels_last" not in made


def test_layouts_keep_the_numbers_of_dimensions_that_they_need():
    picture = case("opdb", "relu", "4d", [tensor(2, 3, 4, 5)])
    assert {c["variant"] for c in varied.variants(picture) if c["group"] == "opdb-layouts"} == {
        "4d transposed", "4d spaced", "4d expanded", "4d channels_last"}
    line = case("opdb", "relu", "1d", [tensor(7)])
    assert {c["variant"] for c in varied.variants(line) if c["group"] == "opdb-layouts"} == {"1d spaced"}


def test_ranges_of_complex_numbers_hold_for_both_parts(tmp_path):
    call = case("opdb-dtypes", "exp", "complex64", [tensor(100, dtype="complex64", fill="between:2:3")])
    write_inputs(call, tmp_path, seed=0)
    x = tensors(torch, call, tmp_path)[0]
    assert x.dtype == torch.complex64 and all(2 <= part.min() and part.max() <= 3 and part.std() > 0.1 for part in (x.real, x.imag))


def test_the_cases_run(made):
    record = Session("torch", "torch", made[1], Plan(launches=1, rounds=1, block_ms=0.05)).run()
    assert {e["state"] for e in record["cases"]} <= {"OK"}, [e["reason"] for e in record["cases"]]


def test_the_groups_are_read_from_what_was_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = list(varied.variants(case("opdb", "exp", "2d", [tensor(8, 8)])))

    def write(command, check):
        assert command[-2] == "weir_bench.varied"
        command[-1].write_text(json.dumps({"cases": made}))
    monkeypatch.setattr(listing.subprocess, "run", write)
    assert {c["inputs"][0]["layout"] for c in select("opdb-layouts")} == {"transposed", "spaced", "expanded"}
    assert {c["inputs"][0]["dtype"] for c in select("opdb-dtypes")} == set(varied.DTYPES)
    assert not select("all", "opdb-")
