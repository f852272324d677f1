"""autotest/sources.py: what a program's sources name of torch, and what a made-up subject lacks of it."""
import os
import sys

import pytest
from typer.testing import CliRunner
from weir_autotest import sources
from weir_autotest.campaign.tasks import UsageError
from weir_autotest.cli import app

PROGRAM = '''
import torch as t
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader as Loader
import numpy as np
try:
    from torch import rare
except ImportError:
    rare = None
if __name__ == "__main__":
    t.only_when_run()

class Mine(t.nn.Module):
    def forward(self, x, kind=t.defaults.ONE):
        return F.relu(x, inplace=True) + np.relu(x).torch.nothing

@t.decorated
def step(x):
    import torch
    loader = Loader(x, odd=1)
    return torch.compile(x, mode="fast"), optim.SGD, (lambda: t.lazy)
'''
HERE = """
class nn:
    class Module: pass
    class functional:
        def relu(x, inplace=False): pass
class optim: SGD = None
class utils:
    class data:
        class DataLoader:
            def __init__(self, data, {keyword}): pass
class defaults: ONE = 1
rare = lazy = 1
def decorated(f): return f
{compiled}
"""


@pytest.fixture
def program(tmp_path):
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "main.py").write_text(PROGRAM)
    (folder / "broken.py").write_text("import torch\nthis is no Python")
    (folder / "other.py").write_text("x = 1")
    return folder


@pytest.fixture
def made(tmp_path, monkeypatch):
    (tmp_path / "made_oracle.py").write_text(HERE.format(keyword="odd=0", compiled="def compile(x, mode=None): pass"))
    (tmp_path / "made_sources.py").write_text(HERE.format(keyword="even=0", compiled="class compile: __weir_missing__ = 'not written'").replace("rare = lazy", "lazy"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))


def test_names_are_read_with_their_places(program):
    uses = sources.uses_of(sources.files_of([str(program)]))
    assert {name for name, use in uses.items() if use.at_import} == {"torch", "torch.nn.functional", "torch.optim", "torch.utils.data", "torch.utils.data.DataLoader", "torch.nn.Module",
                                                                     "torch.decorated"} | {"torch.defaults.ONE"}
    assert uses["torch.utils.data.DataLoader"].keywords == {"odd"} and uses["torch.nn.functional.relu"].keywords == {"inplace"}
    assert not any("nothing" in name for name in uses) and not uses["torch.rare"].at_import and not uses["torch.only_when_run"].at_import
    assert [place.rsplit("/", 1)[1] for place in uses["torch.nn.Module"].places] == ["main.py:14"]


def test_what_a_subject_lacks_comes_with_the_reason(program, made):
    uses = sources.uses_of(sources.files_of([str(program / "main.py")]))
    lacks = sources.lacking(uses, "made_sources", "made_oracle")
    assert [(lack.name, lack.why, lack.at_import) for lack in lacks] == [
        ("torch.utils.data.DataLoader", "takes no odd", True), ("torch.rare", "absent", False), ("torch.compile", "named: not written", False)]
    text = sources.show(uses, lacks)
    assert "import  torch.utils.data.DataLoader: takes no odd" in text and "2 are absent or take other keywords, 1 raise" in text
    assert sources.report(uses, lacks)["lacking"][1]["why"] == "absent"


def test_a_name_that_is_bound_twice_means_both(tmp_path):
    (tmp_path / "either.py").write_text("try:\n    import torch.new as n\nexcept ImportError:\n    import torch.old as n\nn.thing()\n")
    assert {"torch.new.thing", "torch.old.thing"} <= set(sources.uses_of([tmp_path / "either.py"]))


def test_installed_packages_are_found_by_name_and_others_refused():
    assert any(file.name == "sources.py" for file in sources.files_of(["weir_autotest"]))
    with pytest.raises(UsageError, match="no file, folder or installed package nothing_of_that_name"):
        sources.files_of(["nothing_of_that_name"])


def test_the_command_says_what_weir_lacks(tmp_path):
    (tmp_path / "fine.py").write_text("import torch\ntorch.ones(2, dtype=torch.float32)\n")
    (tmp_path / "short.py").write_text("import torch\ntorch.distributed.all_reduce(1)\n")
    fine = CliRunner().invoke(app, ["names", str(tmp_path / "fine.py")])
    short = CliRunner().invoke(app, ["names", str(tmp_path), "--json", str(tmp_path / "names.json")])
    assert fine.exit_code == short.exit_code == 0 and "0 are absent" in fine.stdout
    assert "torch.distributed.all_reduce: named: weir has no collectives yet" in short.stdout and (tmp_path / "names.json").exists()
