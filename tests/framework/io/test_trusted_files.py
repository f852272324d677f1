"""`load(weights_only=False)`: what a trusted file may hold, beside PyTorch's, and what no file may do."""
import argparse
import collections
import dataclasses
import enum
import functools
import os
import pathlib
import pickle
import random
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


class Keyed:
    def __new__(cls, *args, **keywords):
        made = object.__new__(cls)
        made.given = args, keywords
        return made

    def __getnewargs_ex__(self):
        return (1,), {"b": 3}

    def __repr__(self):
        return str(self.given)


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


def _drawn(value):
    return value.random_raw() if hasattr(value, "random_raw") else value.generate_state(2).tolist() if hasattr(value, "generate_state") else value.random()


@pytest.mark.parametrize("make", [
    np.random.default_rng, np.random.RandomState, np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.SeedSequence, random.Random],
    ids=named)
@pytest.mark.parametrize("protocol", [2, 5])
def test_generators_go_on_where_they_were(make, protocol, tmp_path):
    value = make(3)
    for writer in (torch, weir):
        writer.save(value, tmp_path / "file", pickle_protocol=protocol)
        assert _drawn(weir.load(tmp_path / "file", weights_only=False)) == _drawn(make(3))


@pytest.mark.parametrize("value", [Keyed(), np.arange(6).reshape(2, 3).T, np.array(["a", "bc"]), np.float32(2), np.array([], np.int8)], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol(value, protocol, tmp_path):
    for writer in (torch, weir):
        writer.save(value, tmp_path / "file", pickle_protocol=protocol)
        got = weir.load(tmp_path / "file", weights_only=False)
        assert type(got) is type(value) and repr(got) == repr(torch.load(tmp_path / "file", weights_only=False))


_HOME = Slots.__module__.encode()


@pytest.mark.parametrize("made", [
    b"cnumpy.random\nPCG64\n)\x81",  # without the memory that __init__ gives it
    b"cnumpy.random._pickle\n__bit_generator_ctor\nc" + _HOME + b"\nSlots\n\x85R",
    b"cnumpy.random.bit_generator\n__pyx_unpickle_SeedSequence\nc" + _HOME + b"\nSlots\nK\x01N\x87R",
    b"cnumpy._core.numeric\n_frombuffer\n(U\x08aaaaaaaacnumpy\ndtype\nU\x01O\x85RK\x01\x85tR",
    # a partial of __new__ that becomes one of a function; a class's __new__ on another class; __new__ itself
    b"cfunctools\npartial\nc__builtin__\ngetattr\nc" + _HOME + b"\nSlots\nU\x07__new__\x86R\x85R(c" + _HOME + b"\ndouble\nK\x01\x85}NtbR",
    b"cfunctools\npartial\nc__builtin__\ngetattr\nc" + _HOME + b"\nSlots\nU\x07__new__\x86R\x85Rc" + _HOME + b"\nOptions\n\x85R",
    b"c__builtin__\ngetattr\nc" + _HOME + b"\nSlots\nU\x07__new__\x86R)R"])
def test_makers_make_what_they_are_for(made, tmp_path):
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        archive.writestr("a/data.pkl", b"\x80\x02" + made + b".")
    with pytest.raises(pickle.UnpicklingError):
        weir.load(tmp_path / "file", weights_only=False)


def test_members_of_an_enum_made_by_new_stay_as_they_are(tmp_path):
    home = Color.__module__.encode()
    text = b"\x80\x02cfunctools\npartial\nc__builtin__\ngetattr\nc" + home + b"\nColor\nU\x07__new__\x86R\x85Rc" + home + b"\nColor\nK\x01\x86R}U\x06_name_U\x03badsb."
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        archive.writestr("a/data.pkl", text)
    with pytest.raises(pickle.UnpicklingError, match="may not"):
        weir.load(tmp_path / "file", weights_only=False)
    assert Color.RED.name == "RED"


STORAGES = {
    "untyped": lambda t: t.arange(4.0).untyped_storage(), "typed": lambda t: t.arange(4).storage(), "truths": lambda t: t.tensor([True, False]).storage(),
    "empty": lambda t: t.ones(0).untyped_storage(), "by its class": lambda t: t.FloatStorage([1.0, 2.0]), "halves": lambda t: t.ones(2).half().storage(),
    "bytes of others": lambda t: t.ones(2).to(t.float8_e5m2).untyped_storage()}


@pytest.mark.parametrize("kind", STORAGES)
@pytest.mark.parametrize("writer, reader", [(torch, weir), (weir, torch), (weir, weir)], ids=["theirs", "ours", "both"])
@pytest.mark.parametrize("weights_only", [False, True])
@pytest.mark.filterwarnings("ignore:TypedStorage")
def test_storages_travel(kind, writer, reader, weights_only, tmp_path):
    writer.save(STORAGES[kind](writer), tmp_path / "file")
    got, (expected, dtype) = reader.load(tmp_path / "file", weights_only=weights_only), _reread(kind, tmp_path)
    assert type(got).__name__ == "TypedStorage" and got.tolist() == expected and str(got.dtype) == dtype


def _reread(kind, folder):
    """What PyTorch reads of what PyTorch wrote."""
    torch.save(STORAGES[kind](torch), folder / "theirs")
    got = torch.load(folder / "theirs")
    return got.tolist(), str(got.dtype)


@pytest.mark.filterwarnings("ignore:TypedStorage")
@pytest.mark.parametrize("writer, reader", [(torch, weir), (weir, torch), (weir, weir)], ids=["theirs", "ours", "both"])
def test_a_storage_and_its_tensors_share_memory_again(writer, reader, tmp_path):
    x = writer.arange(4.0)
    writer.save([x, x[2:], x.storage(), x.storage()], tmp_path / "file")
    whole, part, storage, again = reader.load(tmp_path / "file")
    whole[2] = 9
    assert part.tolist() == [9, 3] and storage.tolist() == again.tolist() == [0, 1, 9, 3]


@BOTH
@pytest.mark.filterwarnings("ignore:Environment variable")
def test_the_environment_says_how_files_are_read(t, tmp_path, monkeypatch):
    t.save(Options(), tmp_path / "file")
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    assert t.load(tmp_path / "file") == Options()
    with pytest.raises(pickle.UnpicklingError):
        t.load(tmp_path / "file", weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="Only one of"):
        t.load(tmp_path / "file")
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        t.load(tmp_path / "file", weights_only=False)
