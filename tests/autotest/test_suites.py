"""Test files of PyTorch's kind, run under weir and under PyTorch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from weir_autotest.suites import compare, examples, pages, stand_ins
from weir_autotest.suites.examples_worker import statements

TESTS = """
from torch.testing._internal.common_utils import TestCase, run_tests
from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.inductor_utils import HAS_CPU
import torch, unittest, warnings

class TestSums(TestCase):
    @dtypes(torch.float32, torch.int64)
    def test_sum(self, device, dtype):
        self.assertEqual(torch.ones(3, dtype=dtype, device=device).sum(), 3)

    def test_refused(self, device):
        with self.assertRaisesRegex(RuntimeError, "words that nobody writes" if "weir" in torch.__version__ else "must match"):
            torch.ones(2) + torch.ones(3)

    @ops([op for op in op_db if op.name == "sum" and torch.Tag.reduction in torch.ops.aten.sum.default.tags], dtypes=[torch.float32])
    def test_operations_that_only_pytorch_names(self, device, dtype, op):
        self.assertEqual(op(torch.ones(3)), 3)

    def test_warned(self, device):
        with warnings.catch_warnings(record=True) as caught:
            warnings.warn("a test counts this")
        self.assertEqual(len(caught), 1)

    @unittest.skipIf("weir" in torch.__version__, "not for everyone")
    def test_skipped(self, device):
        pass

    def test_worse(self, device):
        self.assertNotIn("weir", torch.__version__)

instantiate_device_type_tests(TestSums, globals())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("suite")
    (path / "test_sums.py").write_text(TESTS)
    return path


def test_a_file_runs_under_both_frameworks(folder):
    found = compare.compare("weir", folder, "test_sums.py", 300, 60)
    assert not found.trouble and found.total == 7 and found.passed == 4
    failed = {tests[0][0]: (kind, tests[0][1]) for kind, tests in found.kinds()}
    kind, place = failed["TestSumsCPU.test_worse_cpu"]
    assert "weir" in kind and place.startswith("test_sums.py:")
    assert "TestSumsCPU.test_operations_that_only_pytorch_names_sum_cpu_float32" in failed
    assert failed["TestSumsCPU.test_skipped_cpu"][0] == "skipped: not for everyone"
    assert "4 passed of 7, 3 that PyTorch passes do not" in compare.show(found)


def test_a_file_that_cannot_be_loaded_says_why(folder):
    (folder / "test_broken.py").write_text("import torch\nif 'weir' in torch.__version__:\n    import nothing_of_that_name\n"
                                           "def test_it():\n    pass\n")
    found = compare.compare("weir", folder, "test_broken.py", 300, 60)
    assert "weir cannot load it" in found.trouble and "nothing_of_that_name" in found.trouble
    (folder / "test_broken.py").write_text("import nothing_of_that_name\n")
    assert "torch cannot load it" in compare.compare("weir", folder, "test_broken.py", 300, 60).trouble


def test_stand_ins_are_joined_as_sets_of_keys_are():
    keys = stand_ins.StandIn()
    assert not (keys | stand_ins.StandIn())


def test_the_command_refuses_a_file_that_is_not_there(folder):
    command = [sys.executable, "-m", "weir_autotest", "suite", str(folder), "test_none.py"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), cwd=Path(folder))
    assert done.returncode == 1 and "no file test_none.py" in done.stderr


def test_examples_that_differ_are_told():
    given = {"equal": ["x = torch.ones(2)\n", "x.sum()\n", "torch.ones(2) + torch.ones(3)\n", "print(f'{object()}')\n"],
             "unequal": ["'weir' in torch.__version__\n", "torch.tensor(1.0 + 0.01 * ('weir' in torch.__version__))\n"],
             "never twice": ["import secrets\n", "secrets.token_hex()\n"],
             "leaves": ["import os\n", "os._exit('weir' in torch.__version__)\n"],
             "after": ["torch.tensor(1.00001 if 'weir' in torch.__version__ else 1.0)\n"]}
    compared, found = examples.compare("weir", given)
    assert [(f.name, f.expected, f.got) for f in found] == [
        ("unequal", ["ok", "False\n"], ["ok", "True\n"]), ("unequal", ["ok", "tensor(1.)\n"], ["ok", "tensor(1.0100)\n"])]
    assert compared == 3 + 2 + 1 + 1  # not what PyTorch refuses, nor what it does not give twice
    shown = examples.show(given, compared, found)
    assert "5 names have examples: 7 statements compared, 2 differ in 1 names" in shown and ">>> 'weir' in torch.__version__" in shown


def test_a_subject_that_ends_its_process_differs():
    compared, found = examples.compare("weir", {"ends": ["import os; os._exit(3) if 'weir' in torch.__version__ else 1\n"]})
    assert compared == 1 and found[0].got == ["ended", "ended its process with 3"]


def test_what_follows_from_a_difference_is_none():
    compared, found = examples.compare("weir", {"follows": ["x = 1 // ('weir' not in torch.__version__)\n", "x\n", "2\n"]})
    assert compared == 2 and [f.statement for f in found] == ["x = 1 // ('weir' not in torch.__version__)\n"]


def test_examples_are_collected_from_documentation():
    found = examples.collect("torch.linalg.")
    assert any("torch.linalg.qr(A" in part for part in found["torch.linalg.qr"])


@pytest.mark.parametrize("text, parts", [
    (">>> a = 1\n>>> if a:\n...     a\n1\n", ["a = 1\n", "if a:\n    a\n"]),
    (">>> a = (\n...1)\n>>> a\n", ["a = (\n1)\n", "a\n"])])
def test_statements_of_a_text(text, parts):
    assert statements(text) == parts


def test_code_of_pages_is_read_in_order(tmp_path):
    (tmp_path / "notes.rst").write_text("Title\n=====\n\n.. code-block:: python\n   :linenos:\n\n   x = 1\n\n   def f():\n       return x\n\nSo::\n\n"
                                        "   f()\n\n.. note::\n   No code.\n\n.. code:: cpp\n\n   int x;\n\n>>> y = (x +\n...      1)\n>>> y\n2\n")
    (tmp_path / "more.md").write_text("Text\n```python\n@property\ndef g(self): ...\nx = 2\n```\n```\n$ shell\n```\n")
    cells = [{"cell_type": "code", "source": ["%matplotlib inline\n", "x = 3"]}, {"cell_type": "markdown", "source": ["x = 4"]}]
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "empty.rst").write_text("Nothing.\n")
    assert pages.of_folder(tmp_path) == {
        "notes.rst": ["x = 1\n", "def f():\n    return x\n", "f()\n", "y = (x +\n     1)\n", "y\n"],
        "more.md": ["@property\ndef g(self): ...\n", "x = 2\n"], "book.ipynb": ["x = 3\n"]}
    assert list(pages.of_folder(tmp_path / "more.md")) == ["more.md"]


def test_pages_run_wherever_the_command_is_called(tmp_path):
    (tmp_path / "torch").mkdir()  # as in PyTorch's source tree
    (tmp_path / "page.rst").write_text("::\n\n    torch.ones(2).sum()\n    'weir' in torch.__version__\n")
    command = [sys.executable, "-P", "-m", "weir_autotest", "examples", "--pages", "page.rst"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), cwd=tmp_path)
    assert done.returncode == 2 and "2 statements compared, 1 differ" in done.stdout, done.stderr
