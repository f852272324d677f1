"""Files with sparse tensors go both ways between PyTorch and weir; malformed ones are refused."""

import copy
import io
import pickle

import pytest
import torch
import weir
from both import coo, hybrid, parts


def everything(t):
    s = coo(t, True)
    return {"coalesced": s, "coo": coo(t), "hybrid": hybrid(t), "csr": s.to_sparse_csr(), "csc": s.to_sparse_csc(), "again": [s]}


@pytest.mark.parametrize("writer, reader", [(torch, weir), (weir, torch), (weir, weir)])
def test_both_ways(writer, reader):
    file = io.BytesIO()
    writer.save(everything(writer), file)
    file.seek(0)
    read = reader.load(file)
    assert read["again"][0] is read["coalesced"]
    assert repr(read) == repr(everything(reader))


def test_pickle_and_copies():
    for s in list(everything(weir).values())[:-1]:
        for other in (pickle.loads(pickle.dumps(s)), copy.copy(s), copy.deepcopy(s)):
            assert repr(parts(other)) == repr(parts(s))


@pytest.mark.parametrize("broken", [lambda s: s._i.fill_(7), lambda s: s._i.fill_(-1), lambda s: s._i.copy_(s._i.flip(1))])
def test_broken_indices(broken):
    s = coo(weir, True)
    broken(s)
    file = io.BytesIO()
    weir.save(s, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="sparse tensor"):
        weir.load(file)
