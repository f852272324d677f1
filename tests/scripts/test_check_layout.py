"""The tree keeps its rules, and the checker sees each of them broken."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from check_layout import FOLDERS, main, violations  # noqa: E402

META = ("CMakeLists.txt", "pyproject.toml", "README.md")


@pytest.fixture
def tree(tmp_path):
    """A tree that keeps every rule, and a function that adds a file to it."""

    def add(name: str, text: str = "") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path

    for name in (*META, *(f"{folder}/readme.txt" for folder in FOLDERS)):
        add(name)
    add("framework/ops/view.h")
    add("framework/kernels/cpu/view.cpp", '#include "framework/ops/view.h"\n')
    add("tests/framework/ops/view_test.cpp", '#include "framework/ops/view.h"\n')
    return add


def test_the_repository_keeps_the_rules():
    assert violations(ROOT) == []


def test_a_good_tree_passes(tree):
    assert violations(tree("docs/Tour.md")) == []


@pytest.mark.parametrize("name, text, line", [
    ("framework/graph/trace.h", '#include "framework/ops/view.h"\n',
     "graph/trace.h includes ops/view.h: graph may not include ops"),
    ("framework/kernels/cpu/view.h", '#include "framework/autograd/node.h"\n',
     "kernels/cpu/view.h includes autograd/node.h: kernels may not include autograd"),
    ("framework/binding/module.h", '#include "framework/kernels/cpu/loops.h"\n',
     "binding/module.h includes kernels/cpu/loops.h: binding may not include kernels"),
    ("framework/kernels/cpu/view.h", "void f() { call(*add, 0, a, b); }\n", "framework/kernels/cpu/view.h calls the door (call()"),
    ("framework/weir/nn.py", "import torch.nn\n", "framework/weir/nn.py imports torch: framework may not import torch"),
    ("bench/case.py", "from weir_dlperf import plan\n",
     "bench/case.py imports weir_dlperf: bench may not import weir_dlperf"),
    ("autotest/check/ties.py", "from ..workers import trial\n",
     "autotest/check/ties.py imports workers: check may not import workers"),
    ("framework/weir/_composites/order.py", "def count(x):\n    return x.sum().item()\n",
     "framework/weir/_composites/order.py: x.sum().item(): the op layer may not"),
    ("framework/weir/nn/functional/loss.py", "import numpy as np\n", "framework/weir/nn/functional/loss.py: import numpy: the op layer may not"),
    ("framework/weir/special.py", "class Erf(weir.autograd.Function):\n    pass\n",
     "framework/weir/special.py: class Erf(weir.autograd.Function): the op layer may not"),
    ("framework/weir/fft.py", "def norm(x: Tensor):\n    return [float(x) for _ in range(2)]\n", "framework/weir/fft.py: float(x): the op layer may not"),
    ("framework/weir/fft.py", "def norm(x: Tensor):\n    return [r for r in x]\n", "framework/weir/fft.py: for r in x: the op layer may not"),
    ("tools/new.py", "", "tools stands at the top"),
    ("bench/MyCase.py", "", "bench/MyCase.py: file names are lower_snake"),
    ("bench/long.py", "\n" * 501, "bench/long.py has 501 lines"),
])
def test_a_broken_rule_is_named(tree, name, text, line):
    found = violations(tree(name, text))
    assert len(found) == 1 and found[0].startswith(line)


def test_the_door_of_the_kernels_is_open_to_binding(tree):
    assert violations(tree("framework/binding/module.h", '#include "framework/kernels/load.h"\n')) == []


def test_a_kernel_without_family_is_named(tree):
    tree("tests/framework/kernels/test_conv.py")
    assert violations(tree("framework/kernels/cuda/conv.cpp"))[0].startswith("kernels/cuda/conv.cpp has no family")


def test_a_source_without_test_is_named(tree):
    assert violations(tree("framework/core/dims.cpp"))[0].startswith("framework/core/dims.cpp has no test")


def test_two_tests_of_one_name_are_named(tree):
    tree("tests/framework/kernels/test_view.py")
    assert violations(tree("tests/framework/ops/test_view.py")) == [
        "tests/framework/kernels/test_view.py and tests/framework/ops/test_view.py have one name: pytest cannot import both"]


def test_the_command_prints_and_counts(tree, capsys):
    assert main(tree("tools/new.py")) == 1
    assert capsys.readouterr().out.startswith("tools stands")
