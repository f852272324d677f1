"""A lane's processes: no lane is begun that has nothing to do."""

import pytest

from weir_autotest.campaign.lane import Lane
from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings
from weir_autotest.opdb import run as opdb


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
