"""`python -m weir` and `as_torch`: programs run as they would under Python, with weir for torch."""

import operator
import os
import subprocess
import sys
from pathlib import Path

import pytest
import weir

ROOT = str(Path(weir.__file__).parent.parent)


def run(*arguments, cwd=None, **variables):
    environment = {**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run([sys.executable, "-m", "weir", *arguments], capture_output=True, text=True, env=environment, cwd=cwd, timeout=100)


def test_imports_are_answered_by_weir():
    done = run("-c", "import sys, torch, torch.nn.functional as F, weir; from torch.utils.data import DataLoader;"
               "import torch.optim.lr_scheduler; assert torch is weir and F is weir.nn.functional;"
               "print(torch.__version__, torch.__version__ >= '2.0', sys.argv)", "--flag", "3")
    assert done.stdout == "2.13.0+weir True ['-c', '--flag', '3']\n", done.stderr


def test_version_is_found_by_package_list():
    done = run("-c", "import importlib.metadata as m, importlib.util as u; print(m.version('torch'), u.find_spec('torch').name)")
    assert done.stdout.startswith("2.13.0+weir"), done.stderr


def test_exit_code_and_traceback_are_the_programs(tmp_path):
    (tmp_path / "fails.py").write_text("import torch\ndef f():\n    raise KeyError('x')\nf()\n")
    done = run(str(tmp_path / "fails.py"))
    plain = subprocess.run([sys.executable, "-c", f"exec(compile(open({str(tmp_path / 'fails.py')!r}).read().replace('import torch', ''), "
                            f"{str(tmp_path / 'fails.py')!r}, 'exec'))"], capture_output=True, text=True)
    assert done.returncode == 1 == plain.returncode
    assert done.stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert done.stderr.splitlines()[1].strip().startswith(f'File "{tmp_path}/fails.py", line 4')
    (tmp_path / "leaves.py").write_text("import sys; sys.exit(7)\n")
    assert run(str(tmp_path / "leaves.py")).returncode == 7


def test_modules_and_neighbours(tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__main__.py").write_text("import torch, sys\nfrom . import other\nprint(__name__, other.x.sum().item(), sys.argv[1:])\n")
    (tmp_path / "pack" / "other.py").write_text("import torch\nx = torch.ones(3)\n")
    (tmp_path / "pack" / "__init__.py").write_text("")
    assert run("-m", "pack", "a", cwd=tmp_path).stdout == "__main__ 3.0 ['a']\n"
    (tmp_path / "main.py").write_text("import helper\nprint(helper.__file__.endswith('helper.py'))\n")
    (tmp_path / "helper.py").write_text("")
    assert run(str(tmp_path / "main.py")).stdout == "True\n"


def test_missing_names_are_reported():
    done = run("--missing", "-c", "import torch\ntry:\n    import torch.nothing_of_the_kind\nexcept ImportError:\n    pass\n"
               "print(hasattr(torch.nn, 'NothingOfTheKind'))")
    assert done.stdout == "False\n", done.stderr
    assert "torch.nothing_of_the_kind" in done.stderr and "torch.nn.NothingOfTheKind" in done.stderr


def test_spawned_processes_find_torch(tmp_path):
    (tmp_path / "spawns.py").write_text(
        "import torch, torch.multiprocessing as mp, subprocess, sys\n"
        "def work(i, t):\n    t[i] += i + 1\n"
        "if __name__ == '__main__':\n"
        "    t = torch.zeros(2)\n    t.share_memory_()\n    mp.spawn(work, args=(t,), nprocs=2)\n    print(t.tolist())\n"
        "    print(subprocess.run([sys.executable, '-c', 'import torch; print(torch.__version__)'], capture_output=True, text=True).stdout)\n")
    done = run(str(tmp_path / "spawns.py"))
    assert done.stdout.split() == ["[1.0,", "2.0]", "2.13.0+weir"], done.stderr


def test_help_and_wrong_use():
    assert "examples:" in run("--help").stdout
    assert run().returncode == 2 and run("--no-such-option").returncode == 2
    assert run("no_such_file.py").returncode == 2


def test_scope_restores_what_was():
    torch = pytest.importorskip("torch")
    before = weir.__version__
    with weir.as_torch() as as_torch:
        import torch as inside
        import torch.nn.functional as functional
        assert inside is weir is as_torch and functional is weir.nn.functional and inside.__name__ == "torch"
        assert weir.__version__ > "2.12" and weir.__version__ < (2, 14)
    import torch as outside
    assert outside is torch and weir.__version__ == before and weir.__name__ == "weir"


@pytest.mark.parametrize("other, less", [("2.13.1", True), ("2.13.0", False), ((2, 2), False), ("3", True), ("2.13.0rc1", False)])
def test_version_compares(other, less):
    from weir.torch_version import TorchVersion
    assert (TorchVersion("2.13.0+weir") < other) is less


def test_a_version_compares_as_text_with_what_is_none():
    from torch.torch_version import TorchVersion as Theirs
    from weir.torch_version import TorchVersion as Ours
    for other in ("parrots", "x.y", "2.13.0", "2.13", "2.2", (2, 13), [1, 9]):  # mmengine asks whether it runs on "parrots"
        for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
            assert compare(Ours("2.13.0"), other) == compare(Theirs("2.13.0"), other), (compare, other)
    for version in (Ours("2.13.0"), Theirs("2.13.0")):
        with pytest.raises(TypeError):
            version < 2.1
