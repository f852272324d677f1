"""Copies, pickles and files of tensors and what holds them: what comes back, and what it shares, as PyTorch's."""

import copy
import pickle
import subprocess
import sys

import pytest
import torch
import weir
from weir_autotest.cases import keeping
from weir_autotest.cases.values import flatten


def _told(W, plan, **options):
    try:
        structure, leaves = flatten(plan(W, W.arange(6.0).reshape(2, 3), **options), W)
    except Exception as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ in ("builtins", "_pickle"))
    return structure, [(str(leaf.dtype), leaf.tolist(), leaf.stride()) if isinstance(leaf, W.Tensor) else str(leaf) for leaf in leaves]


@pytest.mark.parametrize("way", keeping.WAYS)
@pytest.mark.parametrize("thing", keeping.THINGS)
def test_copies(thing, way):
    for weights_only in (True, False):
        options = dict(thing=thing, way=way, weights_only=weights_only, write=True)
        assert _told(weir, keeping.copies, **options) == _told(torch, keeping.copies, **options)


def test_a_copy_shares_memory_and_a_pickle_keeps_strides():
    x = weir.arange(6.0).reshape(2, 3)
    copy.copy(x).zero_()
    assert x.sum() == 0
    assert pickle.loads(pickle.dumps(x.t())).stride() == (1, 3)


def test_attributes_of_tensors_survive_files_of_both(tmp_path):
    for one, other in ((weir, torch), (torch, weir)):
        t, p = one.ones(2), one.nn.Parameter(one.ones(2))
        t.note, p.note = [1, "two"], {"three": 4}
        one.save([t, p], tmp_path / "f")
        back = other.load(tmp_path / "f")
        assert [b.note for b in back] == [[1, "two"], {"three": 4}] and type(back[1]) is other.nn.Parameter


class Kelvin(weir.Tensor):
    """A class of the program's own."""


def test_a_subclass_survives_a_file(tmp_path):
    t = weir.ones(2).as_subclass(Kelvin)
    t.note = 3
    weir.save(t, tmp_path / "f")
    with pytest.raises(pickle.UnpicklingError, match="Kelvin"):
        weir.load(tmp_path / "f")
    back = weir.load(tmp_path / "f", weights_only=False)
    assert type(back) is Kelvin and back.note == 3
    with weir.serialization.safe_globals([Kelvin]):
        assert type(weir.load(tmp_path / "f")) is Kelvin


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_no_protocol_of_pickle_ends_the_process(protocol):
    code = f"""
import pickle, weir
made = pickle.loads(pickle.dumps(weir.Generator().manual_seed(3), {protocol}))
assert made.initial_seed() == 3
for thing in (weir.float32, weir.device("cpu"), weir.channels_last):
    assert pickle.loads(pickle.dumps(thing, {protocol})) == thing
try:
    pickle.dumps(weir.ones(1, requires_grad=True).mul(2).grad_fn, {protocol})
except TypeError:
    print("refused")
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "refused\n"


def test_plain_pickles_of_pytorch_are_read(tmp_path):
    """Caches of libraries are pickles without torch.save; under `-m weir` their names are found here."""
    noted = torch.ones(2)
    noted.note = "written"
    value = {"t": torch.arange(6.0).reshape(2, 3).t(), "h": torch.ones(2, dtype=torch.bfloat16), "p": torch.nn.Parameter(torch.zeros(3)), "s": torch.eye(2).to_sparse(), "n": noted}
    (tmp_path / "plain.pkl").write_bytes(pickle.dumps(value))
    program = f"""
import pickle, torch
v = pickle.load(open({str(tmp_path / "plain.pkl")!r}, "rb"))
print(v["t"].tolist(), v["t"].stride(), v["h"].dtype, type(v["p"]).__name__, v["p"].requires_grad, v["s"].to_dense().tolist(), v["n"].note)
"""
    (tmp_path / "program.py").write_text(program)
    results = [subprocess.run([sys.executable, *how, str(tmp_path / "program.py")], capture_output=True, text=True) for how in ((), ("-m", "weir"))]
    assert results[0].returncode == 0 and results[1].stdout == results[0].stdout, results[1].stderr
