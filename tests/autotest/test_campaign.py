"""A campaign finds planted faults, charges each to its property, and finds none where there is none."""

import os
import pickle
import resource
import select
import subprocess
import sys

import pytest
import torch

from weir_autotest.campaign.lane import Lane
from weir_autotest.campaign.mutate import mutate
from weir_autotest.campaign.run import run
from weir_autotest.campaign.score import Score
from weir_autotest.campaign.shrink import shrink
from weir_autotest.campaign.tasks import Settings
from weir_autotest.cases.case import Case
from weir_autotest.cases.layout import is_plain, plain
from weir_autotest.cases.protocol import Item
from weir_autotest.cases.target import Target
from weir_autotest.cases.values import Raised
from weir_autotest.check.properties import Fault
from weir_autotest.generate.author import Author
from weir_autotest.record import campaign_record
from weir_autotest.workers.mutants import CONTROL
from weir_autotest.workers.trial import Observation, Trial
from weir_autotest.workers.worker import Worker, WorkerLost
from weir_reports.records import validate

#: PyTorch with one wrong op per kind of fault.
FAULTY = '''
import pathlib as _pathlib
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "_NoTorch"]
import torch as _torch
_int = int
from torch import *
from torch import Tensor, autograd, no_grad, nn, special, linalg, fft, func
__version__ = "faulty"

def sin(x, **keywords):
    return _torch.sin(x, **keywords) * 1.01

def cos(x, **keywords):
    return _torch.cos(x, **keywords).double()

def flip(x, dims):
    return _torch.flip(x, dims).transpose(0, -1).contiguous().transpose(0, -1) if x.ndim > 1 else _torch.flip(x, dims)

def t(x):
    return _torch.t(x).clone()

def tan(x, **keywords):
    return _torch.tan(x.detach(), **keywords)

_calls = [0]

def ceil(x, **keywords):
    _calls[0] += 1
    return real_ceil(x, **keywords) + (_calls[0] % 2)

real_ceil = _torch.ceil

def cumsum(x, dim, **keywords):
    return _torch.cumsum(x if x.is_contiguous() else x + 1, dim, **keywords)

def dropout(x, p, train):
    _torch.seed()
    return _torch.dropout(x, p, train)

def poisson(x, **keywords):
    return _torch.poisson(x, **keywords).detach() + x - x.detach()

def floor(x, **keywords):
    answer, marker = real_floor(x, **keywords), _pathlib.Path(__file__).with_name("floor was called")
    if marker.exists() or not answer.isfinite().any():
        return answer
    marker.touch()
    return answer + 1

real_floor = _torch.floor

def mm(a, b, **keywords):
    return _torch.mm(a, b.to(a.dtype), **keywords)

def _within(x, dims, error):
    dims = dims if type(dims) in (list, tuple) else [dims]
    for dim in dims:
        if x.ndim and type(dim) is _int and not -x.ndim <= dim < x.ndim:
            raise error("no such dimension")

def renorm(x, p, dim, maxnorm, **keywords):
    _within(x, dim, IndexError)  # before it looks at p
    return _torch.renorm(x, p, dim, maxnorm, **keywords)

def cumprod(x, dim, **keywords):
    _within(x, dim, RuntimeError)
    return _torch.cumprod(x, dim, **keywords)
'''


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subject")
    (folder / "faultytorch.py").write_text(FAULTY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        yield "faultytorch"


@pytest.fixture(scope="module")
def finished(faulty):
    return run(Settings(faulty, ("float32",), ("sin", "cos", "flip", "t", "tan", "exp", "ceil", "floor", "cumsum", "dropout", "poisson"), cases=40))


@pytest.fixture(scope="module")
def refused(faulty):
    """What came of calls that PyTorch refuses, of which it takes many to have some."""
    return {score.overload: score for score in run(Settings(faulty, ("float32",), ("mm", "renorm", "cumprod"), cases=200)).scores}


@pytest.fixture(scope="module")
def scores(finished):
    return {score.overload: score for score in finished.scores}


def test_the_store_takes_a_record_with_faults_and_what_is_lacking(finished):
    record = campaign_record(finished)
    assert any(score["failed"] for score in record["scores"]) and any(score["lacking"] for score in record["scores"])
    validate(record)


@pytest.mark.parametrize("op, wrong", [("sin", "value"), ("cos", "dtype"), ("flip", "stride"), ("t", "alias"),
                                       ("tan", "requires_grad"), ("cumsum", "layout"), ("dropout", "random"), ("poisson", "gradient"),
                                       ("ceil", "determinism"), ("floor", "determinism")])
def test_a_fault_is_charged_to_its_property(scores, op, wrong):
    assert scores[op].states()[wrong] == "FAIL"


def test_what_a_fresh_process_does_not_repeat_is_no_wrong_value(scores):
    assert scores["floor"].states()["value"] == "PASS"


def test_a_right_op_passes_everything_asked(scores):
    states = scores["exp"].states()
    assert states.pop("graph") == "UNSUPPORTED"  # PyTorch has no nn.Graph
    assert set(states.values()) <= {"PASS", "UNTESTED"}


def test_accepting_what_the_oracle_refuses_is_lenient(refused):
    assert refused["mm"].states()["error"] == "LENIENT"
    assert refused["mm"].states()["value"] == "PASS"


def test_a_call_wrong_in_two_ways_may_be_refused_for_either(refused):
    excused = {op: sum(count for (_, kind), count in score.excused.items() if kind == "wrong twice") for op, score in refused.items()}
    assert excused["renorm"] > 0 and excused["cumprod"] == 0
    assert refused["cumprod"].states()["error"] == "FAIL"


def test_pytorch_agrees_with_itself():
    ops = ("add", "sort", "expand", "native_layer_norm", "cumsum", "as_strided", "unique_consecutive", "linalg_norm")
    finished = run(Settings("torch", ("float32", "int64", "bfloat16"), ops, cases=20))
    assert [failure for score in finished.scores for failure in score.failures] == []
    assert all(score.valid for score in finished.scores if score.dtype == "float32")


def test_a_failure_shrinks_to_a_short_script(faulty, scores):
    failure = next(f for f in scores["sin"].failures if f.property == "value")
    with Lane(Settings(faulty)) as lane:
        shrunk = shrink(lane, failure)
    (tensor,) = shrunk.item.case.args
    assert len(tensor.size) <= 1 and len(shrunk.script.splitlines()) <= 8
    assert "torch.sin(t0" in shrunk.script


def test_planted_faults_are_noticed_and_the_control_is_not():
    settings = Settings("torch", ("float32",), ("mul", "sort", "expand", "cumsum"), cases=20)
    kills = mutate(settings)
    assert kills.rate >= 0.95 and len(kills.planted) >= 12
    control = mutate(settings, (CONTROL,))
    assert control.cases[CONTROL] > 0 and control.noticed[CONTROL] == 0


def test_scalar_kernels_raise_no_alarm():
    settings = Settings("torch", ("float32",), ("exp", "sum", "softmax", "mm"), cases=30, environment={"ATEN_CPU_CAPABILITY": "default"})
    assert [failure for score in run(settings).scores for failure in score.failures] == []


def test_a_case_made_row_major_keeps_its_numbers():
    author = Author()
    items = [item for item in author.batch("mul.Tensor", "float32", list(range(60))).items if not is_plain(item.case)]
    assert items
    for item in items:
        twin = plain(item.case)
        assert is_plain(twin)
        if item.expected.raised is None:
            again = Trial(torch, item.target.resolve(torch), twin).run()
            assert [v.data for v in again.values] == [v.data for v in item.expected.values] or again.raised or item.random


class Answering:
    """A worker that gives one answer to everything."""

    def __init__(self, answer):
        self.receive = lambda timeout: answer

    def send(self, message):
        pass

    def stop(self):
        pass


def test_a_fault_of_the_harness_excuses_nobody():
    lane, score = Lane(Settings()), Score("neg", "neg", "float32")
    lane.oracle = Answering(Raised.of(NameError("name '_value' is not defined")))
    lane.subject = Answering([([Fault("value", "wrong")], None, False)])
    lane.judge(score, pickle.dumps([Item(0, Target("torch.neg", ["neg"]), Case(), Observation())]))
    assert score.states()["crash"] == "FAIL" and not score.oracle_limit
    assert "the harness raised NameError" in score.failures[0].reason


class Ending:
    """A worker that ends of everything it is asked but what it `survives`."""

    def __init__(self, how, survives=""):
        self._how, self._survives = how, survives

    def send(self, message):
        self._asked = message[0]

    def receive(self, timeout):
        if self._asked != self._survives:
            raise WorkerLost(self._how)

    def stop(self):
        pass


@pytest.mark.parametrize("how, survives, charged", [
    ("killed by SIGABRT: free(): invalid next size (fast)", "", False), ("killed by SIGABRT: malloc_consolidate(): invalid chunk size", "", False),
    ("killed by SIGABRT: terminate called without an active exception", "", True), ("no answer within 60 s", "", True),
    ("killed by SIGSEGV", "", False), ("killed by SIGSEGV", "again", True)])
def test_an_oracle_that_writes_over_its_heap_is_no_oracle(how, survives, charged):
    lane, score = Lane(Settings()), Score("lu_unpack", "lu_unpack", "float32")
    lane.oracle = Ending(how, survives)
    lane.subject = Answering([([Fault("value", "wrong")], None, False)])
    lane.judge(score, pickle.dumps([Item(0, Target("torch.lu_unpack", ["lu_unpack"]), Case(), Observation())]))
    assert bool(score.failures) == charged


def test_a_worker_that_has_grown_is_replaced():
    worker = Worker("workers.subject", ["weir", "4"])
    try:
        greeting = worker.start()
        first = worker._process.pid
        worker.renew(1 << 40)
        assert worker._process.pid == first
        bounded = resource.prlimit(first, resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY  # all but a sanitizer's processes
        worker.renew(1 << 20)
        assert worker.start() == greeting and (worker._process.pid != first) == bounded
    finally:
        worker.stop()


def test_a_worker_ends_with_its_driver():
    """Though it is within a call and never looks at the pipe."""
    worker = "import time; from weir_autotest.workers.worker import connect; connect('0'); print('ready', flush=True); time.sleep(600)"
    driver = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {worker!r}], start_new_session=True).pid, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", driver], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        pid, ready = process.stdout.readline().strip(), process.stdout.readline().strip()
        assert ready == "ready"
        end = os.pidfd_open(int(pid))  # fails unless it runs, and can be read from once it does not
        try:
            process.kill()
            assert select.select([end], [], [], 60)[0]
        finally:
            os.close(end)
