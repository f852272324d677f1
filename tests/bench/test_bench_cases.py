"""The case list: complete, unique, and right about bytes, layouts and names."""

import json
from collections import Counter

import numpy as np
import pytest
from weir_bench import inputs
from weir_bench.case import case, case_id, strides, tensor
from weir_bench.cases import GROUPS, all_cases, select


def test_ids_are_unique_and_ignore_display_names():
    cases = all_cases()
    assert len({case_id(c) for c in cases}) == len(cases)
    assert case_id({**cases[0], "variant": "renamed", "group": "moved"}) == case_id(cases[0])
    assert case_id({**cases[0], "threads": 2}) != case_id(cases[0])


def test_every_group_has_its_cases():
    counts = Counter(c["group"] for c in all_cases())
    assert list(counts) == list(GROUPS)
    assert counts["overhead"] >= 12 and counts["pointwise"] == 16 and counts["matmul"] == 15


def test_cases_survive_json():
    for c in all_cases():
        assert case_id(json.loads(json.dumps(c))) == case_id(c)


def test_bytes_count_inputs_once_and_output_once():
    assert case("g", "add", "", [tensor(8), tensor(8)])["bytes"] == 3 * 32
    assert case("g", "sum", "", [tensor(100, layout="expanded")], out=1)["bytes"] == 4 + 4
    summed = case("g", "sum", "", [tensor(1000)], out=1)
    assert summed["reads"] and not case("g", "add", "", [tensor(8)])["reads"]


@pytest.mark.parametrize("layout, expected", [
    ("contiguous", [60, 20, 5, 1]), ("transposed", [60, 20, 1, 4]), ("channels_last", [60, 1, 15, 3]),
    ("expanded", [0, 20, 5, 1])])
def test_layouts_have_the_declared_strides(layout, expected, tmp_path):
    import torch

    spec = tensor(2, 3, 4, 5, layout=layout)
    assert strides(spec["shape"], layout) == spec["strides"] == expected
    inputs.write_inputs({"inputs": [spec]}, tmp_path, seed=0)
    (x,) = inputs.tensors(torch, {"inputs": [spec]}, tmp_path)
    assert list(x.shape) == spec["shape"] and list(x.stride()) == expected


def test_distinct_numbers_have_no_ties():
    spec = tensor(64, 4096, fill="distinct")
    values = inputs.fill(np.random.default_rng(0), spec["shape"], spec)
    assert values.dtype == np.float32 and len(np.unique(values)) == values.size


def test_buffers_start_at_the_same_offset_in_every_process():
    for slot in range(10):
        assert inputs.aligned(np.ones(100, np.float32), slot).ctypes.data % 4096 == slot % 8 * 320


def test_select_filters_by_group_and_name():
    assert {c["op"] for c in select("norm", "softmax")} == {"nn.functional.softmax", "nn.functional.log_softmax"}
    with pytest.raises(ValueError, match="overhead"):
        select("nothing")
