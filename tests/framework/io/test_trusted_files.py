"""`load(weights_only=False)`: what a trusted file may hold, beside PyTorch's, and what no file may do."""
import argparse
import collections
import dataclasses
import enum
import functools
import os
import pathlib
import pickle
import re
import subprocess
import zipfile

import numpy as np
import pytest
import torch
import weir


def named(value):
    """A test's name, the same in every process: a function's text would hold its address."""
    return getattr(value, "__qualname__", str(value))


BOTH = pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Options:
    width: int = 3
    name: str = "a"


class Slots:
    __slots__ = ("value",)

    class Inner:
        pass

    def given(self):
        return self.value


Pair = collections.namedtuple("Pair", "a b")


def double(x):
    return 2 * x


@BOTH
@pytest.mark.parametrize("value", [
    Options(5, "b"), Color.RED, Pair(1, [2]), argparse.Namespace(lr=0.1), pathlib.PurePosixPath("/a/b"), collections.deque([1, 2], 3),
    collections.defaultdict(list, {"a": [1]}), collections.Counter("aab"), np.arange(6.0).reshape(2, 3), np.float64(2.5), Options, double,
    np.dtype("int16"), {"kind": dict, "of": (int, float)}, range(3)], ids=named)
def test_what_programs_keep_beside_their_weights(t, value, tmp_path):
    t.save({"value": value, "again": [value]}, tmp_path / "file")
    back = t.load(tmp_path / "file", weights_only=False)
    assert type(back["value"]) is type(value) and back["again"][0] is back["value"]
    if isinstance(value, np.ndarray):
        assert (back["value"] == value).all() and back["value"].dtype == value.dtype
    else:
        assert back["value"] == value


@BOTH
def test_members_that_python_writes_by_their_names(t, tmp_path, monkeypatch):
    monkeypatch.setattr(Color, "__reduce_ex__", lambda self, protocol: (getattr, (Color, self._name_)))  # Python 3.11.0 to 3.11.3 do
    t.save(Color.RED, tmp_path / "file")
    assert t.load(tmp_path / "file", weights_only=False) is Color.RED


@BOTH
def test_parts_keep_what_they_do(t, tmp_path):
    slots = Slots()
    slots.value = functools.partial(double, 4)
    t.save([slots, slots.given, Slots.Inner], tmp_path / "file")
    back, given, inner = t.load(tmp_path / "file", weights_only=False)
    assert back.value() == 8 and given() is back.value and inner is Slots.Inner


def whole(t):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Conv2d(1, 2, 3), t.nn.BatchNorm2d(2), t.nn.Flatten(), t.nn.TransformerEncoderLayer(2 * 4 * 4, 2, 8, activation=t.nn.functional.gelu),
                           t.nn.LSTM(32, 4, batch_first=True)).eval()


@pytest.mark.parametrize("writer, reader", [(weir, weir), (torch, weir)], ids=["weir-weir", "torch-weir"])
def test_whole_models_travel(writer, reader, tmp_path):
    model = whole(writer)[:4] if writer is not reader else whole(writer)
    if writer is not reader:
        model = model[:3]  # the parts whose attributes are not the library's own
    writer.save(model, tmp_path / "file")
    back = reader.load(tmp_path / "file", weights_only=False)
    x = np.random.default_rng(0).standard_normal((2, 1, 6, 6)).astype(np.float32)
    ours, theirs = model(writer.tensor(x)), back(reader.tensor(x))
    if isinstance(ours, tuple):
        ours, theirs = ours[0], theirs[0]
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


class Calls:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("value", [
    Calls(os.system, ("touch bad",)), Calls(subprocess.Popen, (["touch", "bad"],)), Calls(eval, ("open('bad', 'w')",)),
    Calls(getattr, (pathlib.Path("bad"), "touch")), Calls(pathlib.Path.touch, (pathlib.Path("bad"),)), Calls(double, (1,)), Calls(Options, (1,)),
    Calls(np.load, ("bad",)), Calls(np.dtype, ("O,O",)), Calls(np.core.multiarray.scalar, (np.dtype("O"), b"cos\nsystem\n(S'touch bad'\ntR.")), Calls(weir.save, (1, "bad")), Calls(functools.partial, (os.system, "touch bad"))], ids=lambda v: named(v.call[0]))
def test_no_file_calls_a_function(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    archive = zipfile.ZipFile("file", "w")
    archive.writestr("a/data.pkl", pickle.dumps(value, 2))
    archive.close()
    with pytest.raises(pickle.UnpicklingError):
        weir.load("file", weights_only=False)
    assert not os.path.exists("bad")


def test_members_of_an_enum_stay_as_they_are(tmp_path):
    text = b"\x80\x02c" + Color.__module__.encode() + b"\nColor\nK\x01\x85R}X\x06\x00\x00\x00_name_X\x03\x00\x00\x00badsb."
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        archive.writestr("a/data.pkl", text)
    with pytest.raises(pickle.UnpicklingError, match="may not"):
        weir.load(tmp_path / "file", weights_only=False)
    assert Color.RED.name == "RED"


def test_a_class_stays_as_it_is(tmp_path):
    home = Slots.__module__.encode()
    for made in (b"c__builtin__\ngetattr\nc" + home + b"\nSlots\nX\x05\x00\x00\x00Inner\x86R", b"c" + home + b"\nOptions\n"):
        with zipfile.ZipFile(tmp_path / "file", "w") as archive:
            archive.writestr("a/data.pkl", b"\x80\x02" + made + b"}X\x05\x00\x00\x00widthK\x07sb.")
        with pytest.raises(pickle.UnpicklingError, match="may not"):
            weir.load(tmp_path / "file", weights_only=False)
    assert Options.width == 3 and not hasattr(Slots.Inner, "width")


def test_a_class_that_is_not_imported_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        archive.writestr("a/data.pkl", b"\x80\x02cnot_here\nModel\n)\x81.")
    with pytest.raises(pickle.UnpicklingError, match="import not_here before loading it"):
        weir.load(tmp_path / "file", weights_only=False)


def test_by_default_only_data_is_read(tmp_path):
    weir.save(Options(), tmp_path / "file")
    with pytest.raises(pickle.UnpicklingError, match="Options"):
        weir.load(tmp_path / "file")


class Kinds(set):
    pass


class Refusal(Exception):
    pass


@pytest.mark.parametrize("value", [
    Kinds([1]), Refusal("a", 3), ValueError("a"), np.array([1, "a", None], dtype=object), re.compile("a+"), type(None), ..., NotImplemented, {"t": set, "u": list},
    collections.defaultdict(set, a={1})], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("writer, reader", [(torch, weir), (weir, torch), (weir, weir)], ids=["theirs", "ours", "both"])
def test_plain_data_of_python(value, writer, reader, tmp_path):
    writer.save(value, tmp_path / "file")
    got = reader.load(tmp_path / "file", weights_only=False)
    assert type(got) is type(value) and repr(got) == repr(value)
