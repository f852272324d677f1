"""What calls of several results give: named tuples that are PyTorch's in name, fields and looks, and take part in what tuples do."""
import copy

import pytest
import torch
import weir


@pytest.mark.parametrize("call", [
    lambda t: t.max(t.tensor([[1.0, 3.0], [5.0, 2.0]]), 1), lambda t: t.sort(t.tensor([3.0, 1.0])), lambda t: t.topk(t.tensor([3.0, 1.0]), 1),
    lambda t: t.linalg.qr(t.eye(2)), lambda t: t.frexp(t.tensor([3.0])), lambda t: t.linalg.slogdet(t.eye(2))])
def test_as_pytorch(call):
    ours, theirs = call(weir), call(torch)
    assert type(ours).__name__ == type(theirs).__name__ and isinstance(ours, tuple) and len(ours) == len(theirs)
    names = [name for name in dir(theirs) if not name.startswith("_") and name not in dir(tuple) and not name.startswith("n_")]
    for name in names:
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()
    assert repr(ours) == repr(theirs)
    first, *_ = ours
    assert first is ours[0]


def test_a_copy_is_of_the_same_kind():
    result = weir.sort(weir.tensor([3.0, 1.0]))
    other = copy.deepcopy(result)
    assert type(other) is type(result) and other.indices.tolist() == [1, 0]
