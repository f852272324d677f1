"""Lists of cases (bench/listing.py): made by several child processes, kept entry by entry, gone on with after a cut."""

import json
import os
import time
from types import SimpleNamespace

import pytest
from torch.testing._internal import common_methods_invocations
from weir_bench import listing


@pytest.fixture
def database(monkeypatch):
    monkeypatch.setattr(listing.resource, "setrlimit", lambda *limits: None)  # this process goes on
    monkeypatch.setattr(common_methods_invocations, "op_db", [SimpleNamespace(name=n, variant_test_name="") for n in ("add", "mul", "hang", "none")])
    monkeypatch.setattr(listing, "PATIENCE_S", 1)


def cases_of(torch, op):
    if op.name == "none":
        raise ValueError("has no samples")
    yield {"op": op.name}
    if op.name == "hang":
        time.sleep(60)


def test_a_list_is_in_the_order_of_the_database(database, tmp_path):
    listing.write(tmp_path / "list", cases_of)
    assert json.loads((tmp_path / "list").read_text()) == {
        "cases": [{"op": "add"}, {"op": "mul"}, {"op": "hang"}], "left_out": {"none": "ValueError: has no samples"}}
    assert [file.name for file in tmp_path.iterdir()] == ["list"]


def test_a_list_that_was_cut_off_goes_on_where_it_stood(database, tmp_path):
    (tmp_path / "list.part").write_text('[1, [{"op": "mul of before"}], "ended its process"]\n[0, [{"op": "ad')
    listing.write(tmp_path / "list", cases_of)
    assert [case["op"] for case in json.loads((tmp_path / "list").read_text())["cases"]] == ["add", "mul of before", "hang"]


def test_what_was_found_is_kept_entry_by_entry(database, tmp_path, monkeypatch):
    def cut(works, at_once):
        yield 3, [], "ValueError: has no samples"
        raise KeyboardInterrupt
    monkeypatch.setattr(listing, "in_children", cut)
    with pytest.raises(KeyboardInterrupt):
        listing.write(tmp_path / "list", cases_of)
    assert (tmp_path / "list.part").read_text() == '[3, [], "ValueError: has no samples"]\n'


def test_children_work_beside_each_other_and_one_that_hangs_is_ended(monkeypatch, tmp_path):
    monkeypatch.setattr(listing, "PATIENCE_S", 2)

    def meet(mine: str, other: str):
        def work():
            (tmp_path / mine).touch()
            while not (tmp_path / other).exists():
                time.sleep(0.01)
            yield mine
        return lambda: ({"met": name} for name in work())

    def die():
        yield {"op": "add"}
        os._exit(1)

    def hang():
        yield {"op": "mul"}
        time.sleep(60)

    ended = {key: (found, reason) for key, found, reason in listing.in_children({1: meet("a", "b"), 2: meet("b", "a"), 3: die, 4: hang}, 2)}
    assert ended == {1: ([{"met": "a"}], "ended its process"), 2: ([{"met": "b"}], "ended its process"),
                     3: ([{"op": "add"}], "ended its process"), 4: ([{"op": "mul"}], "took more than 2 s")}
