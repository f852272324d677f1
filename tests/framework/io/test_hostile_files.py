"""A file changes nothing but the objects it makes: over a hundred files that try otherwise, or are broken, are refused."""

import io
import pickle
import random
import struct
import subprocess
import sys
import zipfile

import pytest
import weir

P = b"\x80\x02"


def glob(module, name):
    return b"c" + f"{module}\n{name}\n".encode()


def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()


#: Pickles that call, look up or change what they should not.
PICKLES = {f"names {m}.{n}": P + glob(m, n) + b"(" + text("echo ran") + b"tR." for m, n in [
    ("os", "system"), ("posix", "system"), ("subprocess", "Popen"), ("builtins", "eval"), ("builtins", "exec"), ("builtins", "getattr"),
    ("builtins", "__import__"), ("builtins", "open"), ("builtins", "print"), ("builtins", "type"), ("builtins", "object"),
    ("builtins", "setattr"), ("builtins", "globals"), ("builtins", "map"), ("builtins", "compile"), ("sys", "exit"), ("shutil", "rmtree"),
    ("importlib", "import_module"), ("functools", "partial"), ("operator", "attrgetter"), ("operator", "methodcaller"), ("weir", "load"),
    ("weir", "save"), ("weir.serialization", "add_safe_globals"), ("weir._C", "_make_subclass"), ("torch", "load"), ("torch", "Tensor"),
    ("torch.nn", "Linear"), ("collections", "namedtuple"), ("types", "FunctionType"), ("ctypes", "CDLL"), ("socket", "socket"),
    ("pickle", "loads"), ("numpy", "load"), ("numpy.core.multiarray", "_reconstruct"), ("copyreg", "_reconstructor")]}
PICKLES |= {
    "changes weir.Size": P + glob("torch", "Size") + b"}" + text("numel") + text("x") + b"sb.",
    "changes a device": P + glob("torch", "device") + b"(" + text("cpu") + b"tR}" + text("type") + text("x") + b"sb.",
    "changes the defaults of a function": P + glob("torch._utils", "_rebuild_tensor_v2") + b"}" + text("__defaults__") + b")sb.",
    "changes a class": P + glob("collections", "OrderedDict") + b"}" + text("get") + text("x") + b"sb.",
    "gives an OrderedDict methods": P + glob("collections", "OrderedDict") + b")R}" + text("items") + text("x") + b"sb.",
    "changes a dtype": P + glob("torch", "float32") + b"}" + text("x") + text("y") + b"sb.",
    "builds on nothing": P + b"}b.", "an empty stack": P + b"R.", "no end": P + b"K\x01", "two results": P + b"K\x01K\x02.",
    "a call of a number": P + b"K\x01)R.", "arguments that are no tuple": P + glob("collections", "OrderedDict") + b"K\x01R.",
    "an unknown name in memory": P + b"h\x07.", "a mark alone": P + b"(.", "an odd dict": P + b"(K\x01d.", "a long cut short": P + b"\x8a\x10\x01.",
    "a string cut short": P + b"X\xff\xff\xff\x7fabc.", "an instance": P + b"(ios\nsystem\n.", "an object": P + b"(" + glob("os", "system") + b"o.",
    "an extension code": P + b"\x82\x01.", "a next buffer": b"\x80\x05\x97.", "a persistent id of text": P + b"Pstorage\n.",
    "a storage of text": P + text("storage") + b"Q.", "a storage of too few": P + b"(" + text("storage") + b"tQ.", "an append to text": P + text("a") + b"K\x01a.",
    "items of a list": P + b"]K\x01K\x02s.", "a key that cannot be one": P + b"}]K\x01s.", "a stack name of numbers": b"\x80\x04K\x01K\x02\x93.",
    "a size of text": P + glob("torch", "Size") + b"(" + text("ab") + b"tR.", "an unknown device": P + glob("torch", "device") + b"(" + text("no") + b"tR.",
    "a huge bytearray": P + glob("builtins", "bytearray") + b"(\x8a\x06" + b"\xff" * 5 + b"\x00tR.",
}


def storage(dtype="FloatStorage", key="0", count=b"K\x04"):
    return b"(" + text("storage") + glob("torch", dtype) + text(key) + text("cpu") + count + b"tQ"


def tensor(storage_=storage(), offset=b"K\x00", size=b"(K\x04t", stride=b"(K\x01t", grad=b"\x89"):
    return P + glob("torch._utils", "_rebuild_tensor_v2") + b"(" + storage_ + offset + size + stride + grad + b"}tR."


BIG = b"\x8a\x08" + b"\xff" * 7 + b"\x7f"
NEGATIVE = b"J\xff\xff\xff\xff"
TENSORS = {
    "a negative count": tensor(storage(count=NEGATIVE)), "a count of text": tensor(storage(count=text("4"))), "a huge count": tensor(storage(count=BIG)),
    "a count beyond the bytes": tensor(storage(count=b"K\x05")), "a missing storage": tensor(storage(key="7")),
    "a key that climbs": tensor(storage(key="../data.pkl")), "an unknown type": tensor(storage("NoStorage")), "a negative offset": tensor(offset=NEGATIVE),
    "an offset beyond": tensor(offset=b"K\x01"), "a huge offset": tensor(offset=BIG), "a negative size": tensor(size=b"(" + NEGATIVE + b"t"),
    "a size beyond": tensor(size=b"(K\x05t"), "huge sizes": tensor(size=b"(" + BIG + BIG + b"t", stride=b"(K\x00K\x00t"),
    "huge strides": tensor(size=b"(K\x02t", stride=b"(" + BIG + b"t"), "a negative stride": tensor(stride=b"(" + NEGATIVE + b"t"),
    "sizes without strides": tensor(stride=b")"), "sizes as text": tensor(size=text("4")), "a size of True": tensor(size=b"(\x88t"),
    "grad of what has none": tensor(storage("LongStorage", count=b"K\x02"), size=b"(K\x02t", grad=b"\x88"), "grad as a number": tensor(grad=b"K\x01"),
    "one storage as two types":
        P + b"(" + tensor()[2:-1] + tensor(storage("IntStorage"))[2:-1] + b"t.",
    "too many dimensions": tensor(size=b"(" + b"K\x01" * 70 + b"t", stride=b"(" + b"K\x01" * 70 + b"t"),
}


def with_state(make=glob("torch._utils", "_rebuild_tensor_v2"), kind=glob("torch", "Tensor"), args=tensor()[len(P + glob("torch._utils", "_rebuild_tensor_v2")):-2],
               state=b"}"):
    return P + glob("torch._tensor", "_rebuild_from_type_v2") + b"(" + make + kind + args + state + b"tR."


TENSORS |= {
    "a tensor made by another function": with_state(make=glob("collections", "OrderedDict"), args=b")"),
    "a tensor made by no function": with_state(make=text("x")), "a tensor made of no arguments": with_state(args=text("x")),
    "a class of text": with_state(kind=text("Tensor")), "a class of a dtype": with_state(kind=glob("torch", "float32")),
    "a class of another kind": with_state(kind=glob("collections", "OrderedDict")), "attributes in a list": with_state(state=b"]"),
    "an attribute without a name": with_state(state=b"}K\x01K\x02s"), "three tables of attributes": with_state(state=b"(}}}t"),
    "a slot that is none": with_state(state=b"(}}" + text("requires_grad") + b"\x88st"),
    "a tensor made by a tensor": with_state(make=tensor()[len(P):-1]),
    "a layout that is a module": P + glob("torch.serialization", "_get_layout") + b"(" + text("torch.hub") + b"tR.",
    "a layout that is a tensor": P + glob("torch.serialization", "_get_layout") + b"(" + tensor()[len(P):-1] + b"tR.",
    "a sparse tensor of no layout": P + glob("torch._utils", "_rebuild_sparse_tensor") + b"(" + text("torch.sparse_coo") + b"(tt" + b"R.",
}


def archive(data, **entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("a/data.pkl", data)
        z.writestr("a/data/0", struct.pack("<4f", 1, 2, 3, 4))
        for name, content in entries.items():
            z.writestr("a/" + name.replace("__", "/"), content)
    return file.getvalue()


def archives():
    good = archive(tensor())
    yield "a bomb in the pickle", archive(tensor() + bytes(200 << 20))
    yield "a bomb in a storage", archive(tensor(storage(key="b", count=b"J\x00\x00\x00\x03")), data__b=bytes(200 << 20))
    yield "another byte order", archive(tensor(), byteorder="big")
    yield "no pickle", archive(b"").replace(b"data.pkl", b"data.pxl")
    yield "cut in half", good[:len(good) // 2]
    yield "without its directory", good[:-40]
    yield "without its beginning", good[8:]
    yield "text", b"hello"
    yield "nothing", b""
    yield "a legacy head alone", pickle.dumps(0x1950A86A20F9469CFC6C, 2)
    rng = random.Random(0)
    plain = io.BytesIO()
    weir.save({"a": weir.arange(6.0), "b": [1, "x"]}, plain)
    at = plain.getvalue().index(b"data.pkl")
    for n in range(12):
        data = bytearray(plain.getvalue())
        for _ in range(3):
            data[rng.randrange(at + 8, at + 200)] ^= 1 << rng.randrange(8)
        yield f"flipped bits {n}", bytes(data)


FILES = {name: archive(p) for name, p in (PICKLES | TENSORS).items()} | dict(archives())


def state():
    """What a file might change."""
    from weir import serialization
    return (weir.Size.numel, weir.Size.__dict__.keys() - {"__dict__"}, serialization._rebuild_tensor_v2.__defaults__, dict(weir.device.__dict__),
            sorted(serialization._KNOWN), serialization._safe_globals.copy(), weir.float32.name, sorted(vars(dict)))


@pytest.mark.parametrize("name", FILES)
def test_is_refused_with_one_error(name, tmp_path, capfd):
    path, before = tmp_path / "stranger.pt", state()
    path.write_bytes(FILES[name])
    with pytest.raises(pickle.UnpicklingError, match="stranger.pt: "):
        weir.load(path)
    with pytest.raises(pickle.UnpicklingError, match="stranger.pt: "):
        weir.load(path, weights_only=False)
    assert state() == before and "ran" not in capfd.readouterr().out


def test_there_are_a_hundred():
    assert len(FILES) >= 100


def test_broken_safetensors_are_refused_alike(tmp_path):
    path = tmp_path / "stranger.safetensors"
    weir.save({"a": weir.arange(6.0)}, path)
    good = path.read_bytes()
    for data in (good[:20], b"", b"\xff" * 8 + good[8:], good.replace(b"F32", b"F99"), good.replace(b"[6]", b"[7]"), good[:-3]):
        path.write_bytes(data)
        with pytest.raises(pickle.UnpicklingError, match="stranger.safetensors: "):
            weir.load(path)


def test_a_process_that_reads_them_all_lives():
    """All files in one process, with bytes changed at random: no crash, whatever is raised."""
    done = subprocess.run([sys.executable, "-c", """
import io, pickle, random, sys
sys.path.insert(0, sys.argv[1])
import test_hostile_files as t, weir
rng = random.Random(1)
for data in list(t.FILES.values()) * 3:
    data = bytearray(data[:100000])
    for _ in range(4):
        if data: data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    try: weir.load(io.BytesIO(bytes(data)))
    except pickle.UnpicklingError: pass
print("alive")
""", str(__import__("pathlib").Path(__file__).parent)], capture_output=True, text=True)
    assert done.stdout == "alive\n", done.stderr[-2000:]
