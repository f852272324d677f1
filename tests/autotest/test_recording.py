"""Plans of custom Functions, hooks and Parameters: faults that must show."""

from planned import shows
from weir_autotest.cases import recording


def test_a_hook_that_is_not_called_shows(monkeypatch):
    assert shows("recording.hooks", monkeypatch, recording, "_changed", lambda W, what, g: None)
