"""The search: as long as it may, further cases at every round, silent where nothing is wrong."""

from weir_autotest.campaign.lane import Lane
from weir_autotest.campaign.search import VISIT, search
from weir_autotest.campaign.tasks import Settings


def test_pytorch_agrees_with_itself_in_a_search():
    settings, seen = Settings("torch", ("float32",), ("add", "cat", "nn.Linear", "optim.SGD")), []
    with Lane(settings) as lane:
        found = search(lane, settings, seconds=60, visits=11, on_visit=seen.append)
    assert found.failing == [] and found.cases > 5 * VISIT
    assert len(seen) == 11 and seen[:5] == seen[5:10]  # round by round


def test_a_search_ends_when_its_time_is_up():
    settings = Settings("torch", ("float32",), ("neg",))
    with Lane(settings) as lane:
        assert search(lane, settings, seconds=0).cases == 0
