"""Storages, whose memory programs take away and give back."""
import warnings

import numpy as np
import pytest
import torch
import weir


def emptied_and_filled(t):
    x = t.arange(4.0)
    storage, part = x.untyped_storage(), x[2:]
    seen = [storage.resize_(0) is storage, storage.size(), storage.data_ptr(), part.untyped_storage().nbytes(), tuple(x.shape), storage.resizable()]
    storage.resize_(16)
    x.copy_(t.ones(4))
    return seen, x.tolist(), part.tolist(), x._version


def shorter_and_longer(t):
    x = t.arange(4.0)
    sizes = []
    for n in (8, 12, 64):
        x.untyped_storage().resize_(n)
        sizes.append(x.untyped_storage().size())
    return sizes, x[:2].tolist()


def typed(t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        storage = t.arange(4.0).storage()
        storage.resize_(2)
        return len(storage), storage.tolist()


def on_meta(t):
    x = t.empty(3, device="meta")
    x.untyped_storage().resize_(0)
    return x.untyped_storage().size()


def saved_and_given_back(t):
    """As reversible modules do: what backward needs is computed again before it asks."""
    a = t.ones(3, requires_grad=True)
    b = a * 2
    loss = (b * b).sum()
    b.untyped_storage().resize_(0)
    b.untyped_storage().resize_(12)
    b.data.copy_(a.data * 2)
    loss.backward()
    return a.grad.tolist()


@pytest.mark.parametrize("program", [emptied_and_filled, shorter_and_longer, typed, on_meta, saved_and_given_back])
def test_memory_is_taken_and_given_back_as_by_pytorch(program):
    assert program(weir) == program(torch)


def test_a_tensor_without_its_memory_reads_nobody_elses():
    x = weir.ones(1000)
    x.untyped_storage().resize_(0)
    others = [weir.full((1000,), 7.0) for _ in range(4)]
    assert not (x == others[0]).any()
    assert x.sum().item() == 0


@pytest.mark.parametrize("t", [torch, weir])
def test_memory_that_an_array_shows_is_not_taken(t):
    x, y = t.ones(3), t.from_numpy(np.ones(3))
    x.numpy()
    for z in (x, y):
        assert not z.untyped_storage().resizable()
        with pytest.raises(RuntimeError, match="not resizable"):
            z.untyped_storage().resize_(0)


@pytest.mark.parametrize("t", [torch, weir])
def test_a_part_of_a_storage_shares_its_bytes(t):
    whole = t.UntypedStorage([1, 2, 3, 4])
    part = whole[1:3]
    part[0] = 9
    assert whole.tolist() == [1, 9, 3, 4] and part.size() == 2
    assert not part.resizable()


def read_as(t):
    x = t.arange(6.0)
    storage = x.storage()
    calls = (lambda: t.tensor(storage), lambda: t.tensor(storage, dtype=t.float64), lambda: t.tensor(x.untyped_storage(), dtype=t.int32), lambda: t.tensor(x.untyped_storage()),
             lambda: t.as_tensor(storage), lambda: x.new(storage), lambda: x.double().new(storage), lambda: t.FloatTensor(x.untyped_storage()), lambda: t.DoubleTensor(storage),
             lambda: t.Tensor(storage), lambda: x.double().new(x), lambda: t.FloatTensor(x.double()), lambda: t.Tensor(x, device="cpu"), lambda: x.new(x, device="cpu"))
    seen = []
    for call in calls:
        try:
            r = call()
            seen.append((str(r.dtype), r.tolist(), r.data_ptr() == x.data_ptr()))
        except (RuntimeError, TypeError) as error:
            seen.append(type(error))
    return seen


def test_a_storage_is_read_as_numbers_over_its_memory():
    assert read_as(weir) == read_as(torch)


def taken_over(t, source):
    x = t.ones(2, 3)
    try:
        x.set_(*source(t, x))
        return x.dtype is t.float32, tuple(x.shape), x.stride(), x.storage_offset(), x.untyped_storage().nbytes()
    except RuntimeError:
        return RuntimeError


@pytest.mark.parametrize("source", [lambda t, x: (), lambda t, x: (t.ones(2).double(),), lambda t, x: (t.ones(2).double().storage(),), lambda t, x: (t.ones(2, device="meta"),),
                                    lambda t, x: (x.untyped_storage(), 7, (2, 3)), lambda t, x: (x.untyped_storage(), 7, (4,))])
def test_set_takes_memory_of_the_same_kind(source):
    assert taken_over(weir, source) == taken_over(torch, source)


@pytest.mark.parametrize("t", [torch, weir])
def test_a_legacy_tensor_of_a_tensor_keeps_its_history(t):
    x = t.ones(2, requires_grad=True)
    t.FloatTensor(x).sum().backward()
    t.Tensor(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
