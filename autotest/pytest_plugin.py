"""`pytest --weir-autotest`: every public operation of PyTorch as a test of the framework that `autotest.toml` names.

    pytest --weir-autotest                                 # one test per operation and dtype
    pytest --weir-autotest -k "sum or mean"                # those of two operations
    pytest --weir-autotest --weir-autotest-subject mylib

A test fails where the operation is worse than in the baseline, or, where there is none, where anything is wrong. What the
subject lacks is skipped by name.
"""

from pathlib import Path

import pytest

from . import gate
from .campaign.lane import Lane
from .campaign.tasks import Settings, tasks_of
from .config import load
from .tiers import TIERS


def pytest_addoption(parser):
    group = parser.getgroup("weir-autotest")
    group.addoption("--weir-autotest", action="store_true", help="Also test a framework, operation by operation, against PyTorch.")
    group.addoption("--weir-autotest-subject", default="", help="The module under test (default: that of autotest.toml, or weir).")


def pytest_configure(config):
    if config.getoption("--weir-autotest"):
        config.pluginmanager.register(_Operations(config), "weir-autotest-operations")


class _Operations:
    """Collects the operations once, and keeps one pair of oracle and subject for all of them."""

    def __init__(self, config):
        asked = load()
        options = asked.options
        tier = TIERS[options.get("tier", "pr")]
        self.settings = Settings(config.getoption("--weir-autotest-subject") or options.get("subject", "weir"),
                                 tuple(options.get("dtypes", tier.dtypes)), tuple(options.get("ops", ())), asked.leave_out,
                                 options.get("cases", tier.cases), properties=asked.properties, errors=asked.errors,
                                 tolerances=asked.tolerances)
        baseline = Path(options.get("baseline", "conformance.json"))
        self.baseline = gate.load(baseline) if baseline.exists() else None
        self.lane = Lane(self.settings)

    @pytest.hookimpl(tryfirst=True)  # so that `-k` chooses among these too
    def pytest_collection_modifyitems(self, session, config, items):
        self.lane.__enter__()
        state, version = self.lane.subject.start()
        if state != "ready":
            raise pytest.UsageError(f"weir-autotest: cannot import {self.settings.subject}: {version}")
        found = [Operation.from_parent(session, name=f"{overload.name}[{dtype}]", nodeid=f"weir-autotest::{overload.name}[{dtype}]",
                                       task=(overload, dtype), plugin=self)
                 for overload, dtype in tasks_of(self.lane.universe(), self.settings)]
        items += found

    def pytest_unconfigure(self):
        self.lane.__exit__()


class Operation(pytest.Item):
    """One operation in one dtype."""

    def __init__(self, *, task, plugin, **kwargs):
        super().__init__(**kwargs)
        self._task, self._plugin = task, plugin

    def runtest(self):
        lane = self._plugin.lane
        score = lane.finish(lane.prepare(self._task))
        if score.unsupported and not score.failed and score.states()["value"] in ("UNSUPPORTED", "UNTESTED"):
            pytest.skip(f"not supported: {score.unsupported}")
        wrong = self._fallen(score) if self._plugin.baseline is not None else sorted(score.failed)
        if wrong:
            raise Different(score, wrong)

    def _fallen(self, score) -> list:
        """The properties that are worse than in the baseline."""
        group = self._plugin.baseline.get(f"{self._plugin.settings.cases} calls", {})
        states = score.states()
        before = group.get(f"{score.overload} {score.dtype}", list(states.values()))
        return [name for (name, state), was in zip(states.items(), before) if gate.RANK[state] < gate.RANK[was]]

    def repr_failure(self, excinfo, style=None):
        return str(excinfo.value) if isinstance(excinfo.value, Different) else super().repr_failure(excinfo, style)

    def reportinfo(self):
        return Path("weir-autotest"), None, self.name


class Different(AssertionError):
    """The subject's answer is not PyTorch's."""

    def __init__(self, score, properties: list):
        lines = [f"{failure.property}: {failure.reason}\n    {failure.call}" for failure in score.failures
                 if failure.property in properties and not failure.lenient]
        more = f"\nmade small: weir-autotest shrink {score.overload} --dtype {score.dtype}"
        super().__init__("\n".join(lines or [f"fell: {', '.join(properties)}"]) + more)
