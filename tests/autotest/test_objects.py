"""Modules, optimizers and schedulers: made from PyTorch's databases and signatures, compared from end to end."""

import contextlib
import io
import json
import os

import pytest

from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings, select
from weir_autotest.campaign.shrink import shrink_all
from weir_autotest.cases import database
from weir_autotest.cases.objects import ModuleCase
from weir_autotest.generate import classes
from weir_autotest.generate.author import Author

#: PyTorch with one fault per family, none of which a single call shows.
FAULTY = '''
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "_NoTorch"]
import torch as _torch
from torch import *
from torch import Tensor, autograd, no_grad, special, linalg, fft
from types import SimpleNamespace
__version__ = "faulty"


class BatchNorm1d(_torch.nn.BatchNorm1d):
    def forward(self, x):
        out = super().forward(x)
        if self.training and self.running_mean is not None:
            self.running_mean.mul_(0.5)
        return out


class SGD(_torch.optim.SGD):
    def load_state_dict(self, saved):
        super().load_state_dict({**saved, "state": {}})


class StepLR(_torch.optim.lr_scheduler.StepLR):
    def get_lr(self):
        return [lr * 0.5 if self.last_epoch == 1 else lr for lr in super().get_lr()]


nn = SimpleNamespace(**{**vars(_torch.nn), "BatchNorm1d": BatchNorm1d})
optim = SimpleNamespace(**{**vars(_torch.optim), "SGD": SGD, "lr_scheduler": SimpleNamespace(StepLR=StepLR)})
'''

CLASSES = ("nn.BatchNorm1d", "optim.SGD", "optim.lr_scheduler.StepLR")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subject")
    (folder / "faultyobjects.py").write_text(FAULTY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        yield Settings("faultyobjects", ("float32",), CLASSES, cases=25)


@pytest.fixture(scope="module")
def scores(faulty):
    return {score.overload: score for score in run(faulty).scores}


@pytest.fixture(scope="module")
def author():
    return Author()


@pytest.mark.parametrize("name, wrong", [*zip(CLASSES, ("state", "state", "value"))])
def test_a_fault_is_charged_to_its_property(scores, name, wrong):
    assert scores[name].states()[wrong] == "FAIL"


def test_failures_shrink_to_short_scripts_that_run(faulty, scores):
    shown = [shrunk.script for shrunk in shrink_all(faulty, list(scores.values()))]
    assert len(shown) >= len(CLASSES)
    for script in shown:
        assert len(script.splitlines()) <= 15
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(script, "script", "exec"), {})
        assert printed.getvalue()


def test_pytorch_agrees_with_itself():
    ops = ("nn.Conv2d", "nn.LSTM", "nn.Dropout", "nn.CrossEntropyLoss", "nn.LazyLinear", "nn.PixelShuffle",
           "optim.Adam", "optim.LBFGS", "optim.lr_scheduler.CyclicLR", "optim.lr_scheduler.SequentialLR",
           "optim.lr_scheduler.LambdaLR")
    finished = run(Settings("torch", ("float32",), ops, cases=20))
    assert [failure for score in finished.scores for failure in score.failures] == []
    assert all(score.valid for score in finished.scores)


def test_drawn_numbers_are_free(author):
    items = author.batch("nn.Dropout", "float32", list(range(20))).items
    assert any(entry.free for item in items for entry in item.expected.entries)
    assert not any(entry.free for item in items for entry in item.expected.entries if entry.label.startswith("eval"))


@pytest.mark.parametrize("word, some", [("module", "nn.Linear"), ("optimizer", "optim.Adam"),
                                        ("nn.Linear", "nn.Linear"), ("scheduler", "optim.lr_scheduler.StepLR")])
def test_a_class_is_found_by_name_and_by_family(word, some):
    chosen = select(list(classes.overloads()), (word,))
    assert some in {overload.name for overload in chosen} and len({overload.family for overload in chosen}) == 1


@pytest.mark.parametrize("name", CLASSES)
def test_a_case_survives_json(author, name):
    for item in author.batch(name, "float32", list(range(10))).items:
        again = database.decode(json.loads(json.dumps(database.encode(item.case))))
        assert again == item.case


def test_what_is_not_a_case_about_an_object_is_refused():
    content = database.encode(ModuleCase())
    with pytest.raises(ValueError):
        database.decode({**content, "kind": "os"})
    with pytest.raises(ValueError):
        database.decode({**content, "inputs": {"tuple": [{"code": "boom"}]}})
