"""A campaign that machines share: its parts are disjoint, complete, and merge to what one machine finds."""

import json
import signal
import subprocess
import sys
import threading

import pytest

from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings, UsageError, in_shard
from weir_autotest.commands.common import shard_of
from weir_autotest.record import campaign_record, merged
from weir_autotest.workers.lanes import share
from weir_reports.limits import TimeLimit

OPS = ("add", "neg", "flip", "mm")


@pytest.fixture(scope="module")
def whole():
    return campaign_record(run(Settings("weir", ("float32",), OPS, cases=5)))


@pytest.fixture(scope="module")
def parts():
    return [campaign_record(run(Settings("weir", ("float32",), OPS, cases=5, shard=(part, 2)))) for part in range(2)]


def test_every_row_is_in_one_shard():
    rows = [f"op{i} float32" for i in range(1000)]
    counts = [sum(in_shard(row, (part, 7)) for row in rows) for part in range(7)]
    assert sum(counts) == 1000 and min(counts) > 100


def test_merged_parts_are_the_whole(whole, parts):
    made = merged(parts[::-1])
    def key(score):
        return score["overload"]

    assert made["scores"] == sorted(whole["scores"], key=key)
    assert made["totals"] == whole["totals"]
    assert made["run_id"] not in {part["run_id"] for part in parts}


def test_a_missing_part_is_told(parts):
    with pytest.raises(ValueError, match="shards 0 to 1 once each"):
        merged(parts[:1])
    with pytest.raises(ValueError, match="once each"):
        merged([parts[0], parts[0]])


def test_parts_of_different_runs_do_not_merge(parts):
    other = {**parts[1], "settings": {**parts[1]["settings"], "cases": 6}}
    with pytest.raises(ValueError, match="differ"):
        merged([parts[0], other])


def test_an_array_task_names_itsshard_of(monkeypatch):
    for name, value in (("ID", "5"), ("MIN", "4"), ("COUNT", "8")):
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", value)
    assert shard_of("slurm") == (1, 8)
    assert shard_of("") == (0, 1) and shard_of("2/3") == (2, 3)


@pytest.mark.parametrize("text", ["3/3", "-1/3", "x", "1/0", "1/2/3"])
def test_noshard_of(text):
    with pytest.raises(UsageError, match="shard"):
        shard_of(text)


def test_neighbours_that_belong_together_stay_on_one_lane():
    class Lane:
        def __init__(self):
            self.seen = []

        def prepare(self, task):
            self.seen.append(task)
            return task

        def finish(self, prepared):
            return prepared * 10

    lanes, done = [Lane(), Lane()], []
    tasks = list(range(40))
    assert share(lanes, tasks, done.append, together=lambda task: task // 8) == [task * 10 for task in tasks]
    assert sorted(done) == [task * 10 for task in tasks]
    for group in range(5):
        assert sum(any(task // 8 == group for task in lane.seen) for lane in lanes) == 1


def test_the_longest_group_is_begun_first():
    seen = []

    class Lane:
        def prepare(self, task):
            seen.append(task)

        def finish(self, prepared):
            return None

    share([Lane()], [1, 2, 3, 3, 3, 2], lambda result: None, together=lambda task: task)
    assert seen == [3, 3, 3, 1, 2, 2]


def test_past_its_limit_nothing_is_begun():
    class Lane:
        def prepare(self, task):
            return task

        def finish(self, prepared):
            return prepared * 10

    class Three(TimeLimit):
        left = 3

        def allows(self, seconds=0.0):
            self.left -= 1
            return self.left >= 0

    assert share([Lane()], list(range(1000)), lambda result: None, limit=Three()) == [0, 10, 20]
    assert share([Lane()], [1, 2], lambda result: None, limit=TimeLimit(-1)) == []


def test_with_a_limit_one_dtype_comes_after_the_other():
    seen = []
    settings = Settings("weir", ("float32", "int64"), ("add", "flip"), cases=1)
    whole = run(settings, on_score=lambda score: seen.append(score.dtype), limit=TimeLimit(600))
    assert not whole.unfinished and seen == ["float32"] * (len(seen) // 2) + ["int64"] * (len(seen) // 2)
    assert {score.overload for score in whole.scores} == {score.overload for score in run(settings).scores}


def test_what_there_was_no_time_for_is_no_failure(tmp_path):
    command = [sys.executable, "-m", "weir_autotest", "run", "--ops", "add,flip", "--cases", "1", "--json", str(tmp_path / "run.json")]
    ran = subprocess.run([*command, "--time-limit", "1"], capture_output=True, text=True)
    made = json.loads((tmp_path / "run.json").read_text())
    assert ran.returncode == 0 and made["unfinished"] and f"out of time: {made['unfinished']} of the rows" in ran.stderr, ran.stderr


def test_an_interrupt_keeps_what_was_done():
    class Lane:
        def __init__(self):
            self.finished = 0

        def prepare(self, task):
            return task

        def finish(self, prepared):
            self.finished += 1
            if self.finished == 3:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                assert interrupted.wait(60)
            return prepared * 10

    interrupted, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def handler(*_):
        interrupted.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handler)
    try:
        assert share([Lane()], list(range(1000)), lambda result: None)[:3] == [0, 10, 20]
        assert interrupted.is_set()
    finally:
        signal.signal(signal.SIGINT, before)
