"""DLPack with NumPy and PyTorch: the same memory both ways."""

import gc

import numpy as np
import pytest
import torch
import weir


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "uint8", "float16", "bool", "bfloat16", "complex64"])
def test_memory_is_shared_with_pytorch(dtype):
    ours = weir.arange(6).reshape(2, 3).to(getattr(weir, dtype))
    theirs = torch.from_dlpack(ours)
    assert theirs.dtype == getattr(torch, dtype) and theirs.stride() == (3, 1)
    theirs[0, 1] = 0
    back = weir.from_dlpack(theirs)
    assert back.data_ptr() == ours.data_ptr() and ours[0, 1].item() == 0 and back.dtype is ours.dtype


def test_memory_outlives_its_maker():
    t = weir.from_dlpack(np.arange(1000.0))
    array = np.from_dlpack(weir.full((1000,), 2.0))
    gc.collect()
    assert t.sum().item() == 499500 and array.sum() == 2000


def test_views_keep_their_strides():
    assert np.from_dlpack(weir.arange(6).reshape(2, 3).t()).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert weir.from_dlpack(np.arange(6).reshape(2, 3)[:, ::2]).tolist() == [[0, 2], [3, 5]]


CANNOT_BE_TOLD = {
    "a history": lambda t: t.ones(2, requires_grad=True).__dlpack__(),
    "a conjugate": lambda t: t.tensor([1 + 2j]).conj().__dlpack__(),
    "sparse": lambda t: t.sparse_coo_tensor([[0]], [1.0], (1,)).__dlpack__(),
    "no memory": lambda t: t.ones(2, device="meta").__dlpack__(),
    "a stream": lambda t: t.ones(2).__dlpack__(stream=object()),
    "a stream of the CPU": lambda t: t.ones(2).__dlpack__(stream=0),
}


@pytest.mark.parametrize("what", CANNOT_BE_TOLD)
def test_what_the_protocol_cannot_tell_is_refused(what):
    for t in (torch, weir):
        with pytest.raises(Exception) as error:
            CANNOT_BE_TOLD[what](t)
        assert error.type is (TypeError if what == "a stream" else AssertionError if what == "a stream of the CPU" else BufferError)


def test_negated_bytes_are_not_exported():
    part = weir.tensor([1 + 2j]).conj().imag  # PyTorch hands out 2 for -2
    with pytest.raises(BufferError):
        part.__dlpack__()
    with pytest.raises(RuntimeError):
        weir.to_dlpack(part)


class Exporter:
    """An array of a library that nobody knows."""

    def __init__(self, t):
        self.t = t

    def __dlpack__(self, **options):
        return self.t.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()


@pytest.mark.parametrize("make", [lambda t, x: t.tensor(x), lambda t, x: t.tensor(x, dtype=t.int32), lambda t, x: t.as_tensor(x),
                                  lambda t, x: t.ones(2).new_tensor(x), lambda t, x: t.asarray(x)])
def test_factories_take_what_exports_its_memory(make):
    def made(t):
        own = t.arange(3.0)
        new = make(t, Exporter(own))
        return new.tolist(), str(new.dtype), new.data_ptr() == own.data_ptr()
    assert made(weir) == made(torch)


def test_what_cannot_be_shared_is_refused():
    with pytest.raises((RuntimeError, ValueError)):
        weir.ones(2, device="meta").__dlpack_device__()
    with pytest.raises(RuntimeError, match="negative strides"):
        weir.from_dlpack(np.arange(4)[::-1])
    for stranger in (3, "x", object()):
        with pytest.raises((RuntimeError, TypeError)):
            weir.from_dlpack(stranger)


def test_a_capsule_is_consumed_once():
    capsule = weir.to_dlpack(weir.ones(3))
    assert weir.from_dlpack(capsule).tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="once"):
        weir.from_dlpack(capsule)
    weir.to_dlpack(weir.ones(3))  # one that nobody consumes frees its tensor
