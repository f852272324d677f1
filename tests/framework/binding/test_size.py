"""Size: a tuple of ints that stays one, as PyTorch's."""

import copy
import pickle

import pytest
import torch
import weir

TEXTS = ["t.Size([2, 3])", "t.Size()", "t.Size(t.Size([1]))", "t.Size(x for x in (1, 2))", "(1,) + t.Size([2])", "t.Size([2]) + (1,)",
         "t.Size([2]) * 2", "2 * t.Size([2])", "t.Size([1, 2, 3])[1:]", "t.Size([1, 2, 3])[::-1]", "t.Size([1, 2, 3])[-1]",
         "t.Size([2, 3]).numel()", "t.Size([]).numel()", "t.ones(2, 3).shape", "t.ones(2, 3).size()", "t.Size([2, 3]) == (2, 3)",
         "hash(t.Size([2])) == hash((2,))", "t.Size([True, 2])", "isinstance(t.ones(1).shape, tuple)"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_size_is_pytorchs(text):
    assert repr(eval(text, {"t": weir})) == repr(eval(text, {"t": torch}))


@pytest.mark.parametrize("text", ["t.Size(['a'])", "t.Size([1.5])", "t.Size([2]) + [1]", "t.Size(3)", "t.Size([1])[1]"])
def test_what_is_no_size_is_refused_alike(text):
    with pytest.raises(Exception) as expected:
        eval(text, {"t": torch})
    with pytest.raises(expected.type):
        eval(text, {"t": weir})


def test_it_survives_pickling_and_copying_and_its_subclasses_keep_theirs():
    size = weir.Size([2, 3])
    for again in (pickle.loads(pickle.dumps(size)), copy.deepcopy(size), copy.copy(size)):
        assert type(again) is weir.Size and again == size

    class Named(weir.Size):
        pass
    assert type(Named([1, 2])) is Named and Named([1, 2]).numel() == 2


def test_many_sizes_leak_nothing():
    import gc
    import sys
    gc.collect()
    before = sys.getrefcount(weir.Size)
    for _ in range(1000):
        weir.ones(2, 3).shape[1:]
    gc.collect()
    assert sys.getrefcount(weir.Size) - before < 10
