"""Files both ways between weir and PyTorch, and files that must not load."""

import io
import pickle
from collections import OrderedDict

import pytest
import safetensors.torch
import torch
import weir
from twins import assert_close

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
          "complex64", "complex128"]
SAFETENSORS = [d for d in DTYPES if d != "complex128"]  # which the format has not


def through(save, load, obj):
    file = io.BytesIO()
    save(obj, file)
    file.seek(0)
    return load(file)


def collection(F):
    base = F.arange(12).reshape(3, 4)
    return {"dtypes": {d: base.to(getattr(F, d)) for d in DTYPES}, "transposed": base.t(), "slice": base[1:, ::2],
            "scalar": F.tensor(3.5), "empty": F.zeros(2, 0), "nested": [1, 2.5, "text", None, True, (base, base)],
            "ordered": OrderedDict(a=F.ones(2)), "size": base.shape, "dtype": F.float16,
            "leaf": F.ones(2, requires_grad=True), "parameter": F.nn.Parameter(F.ones(3), requires_grad=False)}


def check(actual, expected):
    for name in DTYPES:
        assert_close(actual["dtypes"][name], expected["dtypes"][name])
    for name in ("transposed", "slice", "scalar", "empty", "leaf", "parameter"):
        assert_close(actual[name], expected[name])
        assert actual[name].stride() == expected[name].stride()
        assert actual[name].requires_grad == expected[name].requires_grad
    assert actual["nested"][:5] == expected["nested"][:5]
    assert list(actual["size"]) == [3, 4] and str(actual["dtype"]) == "torch.float16"
    assert type(actual["parameter"]).__name__ == "Parameter" and type(actual["ordered"]) is OrderedDict
    a, b = actual["nested"][5]
    a[0, 0] = 77
    assert b[0, 0] == 77 and actual["transposed"][0, 0] == 77  # one storage, as before


def test_torch_reads_what_weir_writes():
    check(through(weir.save, lambda f: torch.load(f, weights_only=True), collection(weir)), collection(torch))


def test_weir_reads_what_torch_writes():
    check(through(torch.save, weir.load, collection(torch)), collection(torch))


def test_weir_reads_itself():
    check(through(weir.save, weir.load, collection(weir)), collection(torch))


@pytest.mark.parametrize("read", [weir.load, lambda f: torch.load(f, weights_only=True)])
def test_a_short_view_before_the_whole(read):
    base = weir.arange(10)
    short, whole, bits = through(weir.save, read, [base[:2], base, weir.ones(2).view(weir.int32)])
    whole[0] = 5
    assert short.tolist() == [5, 1] and whole.shape[0] == 10 and bits[0] == 0x3F800000


def test_a_state_dict_keeps_its_metadata(tmp_path):
    theirs, ours = (F.nn.Sequential(F.nn.Linear(2, 3), F.nn.BatchNorm1d(3)) for F in (torch, weir))
    torch.save(theirs.state_dict(), tmp_path / "state.pt")
    state = weir.load(tmp_path / "state.pt")
    ours.load_state_dict(state)
    assert state._metadata == theirs.state_dict()._metadata
    weir.save(ours.state_dict(), tmp_path / "back.pt")
    theirs.load_state_dict(torch.load(tmp_path / "back.pt", weights_only=True))


class Exploit:
    def __reduce__(self):
        return print, ("code from the file ran",)


@pytest.mark.parametrize("weights_only", [True, False])
def test_no_file_runs_code(weights_only, capsys):
    with pytest.raises(pickle.UnpicklingError):
        through(torch.save, lambda f: weir.load(f, weights_only=weights_only), [Exploit()])
    assert capsys.readouterr().out == ""


def test_a_tensor_may_not_reach_beyond_its_storage():
    import zipfile
    file = io.BytesIO()
    weir.save(weir.ones(4), file)
    cut = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(cut, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name)[:8] if "/data/" in name else old.read(name))
    cut.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        weir.load(cut)
    with pytest.raises(pickle.UnpicklingError):
        weir.load(io.BytesIO(b"not a zip file"))
    with pytest.raises(FileNotFoundError):
        weir.load("/no/such/file.pt")


def test_safetensors_both_ways(tmp_path):
    tensors = {d: torch.arange(6).reshape(2, 3).to(getattr(torch, d)) for d in SAFETENSORS}
    safetensors.torch.save_file(tensors, tmp_path / "a.safetensors")
    loaded = weir.load(tmp_path / "a.safetensors")
    for name, t in tensors.items():
        assert_close(loaded[name], t)
    weir.save(loaded | {"view": loaded["float32"].t()}, tmp_path / "b.safetensors")
    back = safetensors.torch.load_file(tmp_path / "b.safetensors")
    for name, t in tensors.items():
        assert torch.equal(back[name], t)
    assert_close(loaded["float32"].t(), back["view"])
    with pytest.raises(ValueError):
        weir.save({"x": 3}, tmp_path / "c.safetensors")


def test_marked_views_keep_their_marks():
    for source, reader in ((weir, torch), (torch, weir), (weir, weir)):
        z = source.complex(source.arange(3.0), source.ones(3))
        conj, neg = (through(source.save, reader.load, view) for view in (z.conj(), z.conj().imag))
        assert conj.is_conj() and neg.is_neg()
        assert conj.tolist() == z.conj().tolist() and neg.tolist() == [-1, -1, -1]


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("writer, reader", [(torch, weir), (weir, torch), (weir, weir)], ids=["theirs", "ours", "both"])
def test_devices_layouts_and_classes(writer, reader, weights_only, tmp_path):
    t = writer
    writer.save({"device": t.device("cuda", 1), "layout": t.strided, "kind": set, "dtype": t.float16, "size": t.Size([2])}, tmp_path / "file")
    got = reader.load(tmp_path / "file", weights_only=weights_only)
    assert got["device"] == reader.device("cuda:1") and got["layout"] == reader.strided and got["kind"] is set
    assert got["dtype"] is reader.float16 and got["size"] == reader.Size([2])
    writer.save(t.arange(4.0).reshape(2, 2).max(0), tmp_path / "named")
    assert reader.load(tmp_path / "named", weights_only=False).indices.tolist() == [1, 1]
