"""The plan: frozen, balanced, and named by its content."""

from collections import Counter

import pytest
from weir_dlperf.plan import Plan
from weir_dlperf.runner import Runner, freeze


def test_every_block_runs_everything_once():
    plan = Plan(blocks=4)
    counts = Counter((block, workload, label) for block, workload, label in plan.order())
    assert set(counts.values()) == {1}
    assert len(counts) == 4 * 2 * (7 + 6), "BERT has no layout to choose, so channels_last does not compete there"


def test_order_differs_between_blocks_and_follows_the_seed():
    plan = Plan(blocks=6, models=("bert",), precisions=("fp32",))
    blocks = [[label for b, _, label in plan.order() if b == block] for block in range(6)]
    assert len(set(map(tuple, blocks))) > 1
    assert plan.order() == Plan(blocks=6, models=("bert",), precisions=("fp32",)).order()


def test_plan_id_names_the_content():
    assert Plan().plan_id == Plan().plan_id != Plan(steps=11).plan_id


def test_batch_sizes_are_workloads_of_their_own():
    plan = Plan(models=("bert",), precisions=("fp32",), batch_sizes=(4, 8))
    assert plan.workloads() == [("bert", "fp32", 4), ("bert", "fp32", 8)]
    assert {size for _, (_, _, size), _ in plan.order()} == {4, 8}
    assert Plan().workloads()[0] == ("resnet50", "fp32", 16)


def test_frozen_plan_is_not_replaced(tmp_path):
    freeze(Plan(), tmp_path / "plan.json")
    freeze(Plan(), tmp_path / "plan.json")
    with pytest.raises(FileExistsError, match="another plan"):
        freeze(Plan(steps=11), tmp_path / "plan.json")


def test_more_threads_than_cores_is_refused():
    with pytest.raises(ValueError, match="cores available"):
        Runner(Plan(threads=10_000))
