"""A lane's processes: the oracle outlives its lane and its own child, and no lane is begun that has nothing to do."""

import os
import signal
from pathlib import Path

import pytest

from weir_autotest.campaign.lane import Lane
from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings
from weir_autotest.opdb import run as opdb
from weir_autotest.workers.worker import WorkerLost

SETTINGS = Settings("weir", ("float32",), ("neg",), cases=2)


class Deadly:
    """What ends the process that reads it."""

    def __reduce__(self):
        return os.abort, ()


def process(lane) -> int:
    lane.oracle.start()
    return lane.oracle._process.pid


def test_a_later_lane_takes_over_an_oracle_that_owes_nothing():
    with Lane(SETTINGS) as lane:
        first, universe = process(lane), lane.universe()
    with Lane(SETTINGS) as lane, Lane(SETTINGS) as beside:
        assert process(lane) == first != process(beside) and lane.universe() == universe
        lane.oracle.send(("universe",))  # and is left unanswered
    with Lane(SETTINGS) as lane:
        assert process(lane) != first and lane.universe() == universe


def test_an_oracle_goes_on_after_the_death_of_its_child():
    with Lane(SETTINGS) as lane:
        before = process(lane)
        for _ in range(2):
            with pytest.raises(WorkerLost, match="SIGABRT"):
                lane.ask("expect", Deadly(), None)
        assert lane.universe() and process(lane) == before


def test_the_death_of_an_idle_child_shifts_no_answers():
    with Lane(SETTINGS) as lane:
        universe, served = lane.universe(), process(lane)
        child, = map(int, Path(f"/proc/{served}/task/{served}/children").read_text().split())
        os.kill(child, signal.SIGKILL)
        assert lane.oracle._connection.poll(20)  # the news of it
        assert lane.ask("keys", "float32") != universe == lane.universe() and process(lane) == served


@pytest.mark.parametrize("ask, module", [
    (lambda: run(Settings("weir", ("float32", "int64"), ("neg",), cases=2, jobs=9)), "weir_autotest.campaign.run"),
    (lambda: opdb.run(opdb.Settings("weir", ops=("neg",), jobs=9, max_samples=1)), "weir_autotest.opdb.run")])
def test_no_more_lanes_are_begun_than_there_are_rows_apart(monkeypatch, ask, module):
    begun = []

    class Counted(opdb.Lane if "opdb" in module else Lane):
        def __enter__(self):
            begun.append(self)
            return super().__enter__()

    monkeypatch.setattr(f"{module}.Lane", Counted)
    ask()
    assert len(begun) == 1
