"""Arrays and tensors over the same memory."""

import gc
import io
import warnings

import numpy as np
import pytest
import torch
import weir
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")


@given(hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4)), st.booleans())
def test_a_tensor_shows_the_arrays_numbers_without_a_copy(array, turned):
    array = array.T if turned else array
    t = weir.from_numpy(array)
    back = t.numpy()
    assert str(t.dtype) == f"torch.{array.dtype}" and tuple(t.shape) == array.shape
    assert back.dtype == array.dtype and np.array_equal(back, array, equal_nan=array.dtype.kind == "f")
    if array.size:
        assert np.shares_memory(array, back)
        assert t.stride() == torch.from_numpy(array).stride()


def test_writes_show_on_the_other_side():
    array = np.zeros((2, 3), np.float32)
    t = weir.from_numpy(array[:, 1:])
    t.fill_(1)
    array[0, 1] = 5
    assert array.tolist() == [[0, 5, 1], [0, 1, 1]] and t.tolist() == [[5, 1], [1, 1]]


def test_memory_lives_as_long_as_either_side():
    t = weir.from_numpy(np.full(1000, 3.0))
    array = weir.full((1000,), 4.0).numpy()
    gc.collect()
    assert t.sum().item() == 3000 and array.sum() == 4000


@pytest.mark.parametrize("given_, error", [
    ([1.0], TypeError), (np.zeros(2, ">f4"), ValueError), (np.zeros(2, np.clongdouble), TypeError), (np.array(["x"]), TypeError),
    (np.zeros(4)[::-1], ValueError), (np.zeros(4, [("a", "i1"), ("b", "f4")])["b"], ValueError)])
def test_an_array_that_no_tensor_can_show_is_refused(given_, error):
    with pytest.raises(error):
        weir.from_numpy(given_)


def test_what_numpy_cannot_show_is_refused():
    with pytest.raises(RuntimeError, match="requires grad"):
        weir.ones(2, requires_grad=True).numpy()
    with pytest.raises(TypeError, match="BFloat16"):
        weir.ones(2, dtype=weir.bfloat16).numpy()
    assert weir.ones(2, requires_grad=True).numpy(force=True).tolist() == [1, 1]

def test_complex_arrays_are_shown_both_ways():
    array = np.array([1 + 2j, 3], np.complex64)
    t = weir.from_numpy(array)
    assert t.dtype is weir.complex64 and t.tolist() == [1 + 2j, 3] and t[0].item() == 1 + 2j
    assert t.numpy().dtype == np.complex64 and np.shares_memory(t.numpy(), array)


@pytest.mark.parametrize("share", [lambda x: x.numpy(), lambda x: np.asarray(x), lambda x: np.from_dlpack(x)])
def test_memory_that_an_array_shows_does_not_move(share):
    """The array holds an address: a tensor that grew left it looking at freed memory."""
    x = weir.arange(25.0)
    x.tolist(), repr(x)
    array = share(x)
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(1000, 1000)
    x.resize_(3).fill_(7)  # what fits stays where it is
    assert array[:4].tolist() == [7, 7, 7, 3] and array.sum() == 7 * 3 + sum(range(3, 25))


def test_memory_may_grow_after_it_was_read():
    x = weir.arange(3.0)
    x.tolist(), repr(x), x.__reduce_ex__(4)
    weir.save(x, io.BytesIO())
    assert x.resize_(1000).numel() == 1000


@pytest.mark.parametrize("make, shared", [(np.asarray, True), (np.array, False), (lambda x: np.asarray(x, copy=True), False), (lambda x: np.array(x, np.float64), False)])
@pytest.mark.filterwarnings("ignore:__array__ implementation")
def test_an_array_is_a_copy_where_numpy_makes_one(make, shared):
    for t in (torch, weir):
        x = t.zeros(3)
        array = make(x)
        x += 1
        assert array.tolist() == [float(shared)] * 3


@pytest.mark.parametrize("make", [np.array, np.asarray])
def test_numpy_warns_of_an_array_protocol_without_copy_as_of_pytorchs(make):
    counts = []
    for t in (torch, weir):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            make(t.zeros(3))
        counts.append([w.category for w in seen])
    assert counts[0] == counts[1]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
def test_an_array_of_no_elements_has_strides_of_zero(shape):
    for make in (lambda t: t.zeros(shape), lambda t: t.zeros(shape)[::2], lambda t: t.zeros(9, *shape[1:])[4:4]):
        a, b = make(weir).numpy(), make(torch).numpy()
        assert a.strides == b.strides and a.shape == b.shape and (a.base is None) == (b.base is None)
        assert weir.from_numpy(a).stride() == torch.from_numpy(b).stride()


def misaligned(dtype="float32"):
    memory = np.zeros(41, np.uint8)
    return memory[1:].view(dtype)


@pytest.mark.parametrize("make", [
    lambda a: weir.from_numpy(a), lambda a: weir.as_tensor(a), lambda a: weir.from_dlpack(a),
    lambda a: weir.frombuffer(a.base, dtype=weir.float32, offset=1)], ids=["from_numpy", "as_tensor", "from_dlpack", "frombuffer"])
def test_memory_that_is_not_aligned_is_copied_with_a_warning(make):
    array = misaligned()
    array[:] = np.arange(10)
    with pytest.warns(UserWarning, match="not aligned to elements of float32"):
        t = make(array)
    assert t.data_ptr() % 4 == 0 and t.tolist() == list(range(10))


def test_what_is_copied_anyway_does_not_warn_of_its_alignment(recwarn):
    assert weir.tensor(misaligned("float64")).tolist() == [0.0] * 5
    assert (weir.ones(5, dtype=weir.float64) + misaligned("float64")).tolist() == [1.0] * 5
    assert weir.from_numpy(misaligned("uint8")).numel() == 40
    assert not [w for w in recwarn.list if "aligned" in str(w.message)]


def test_a_view_of_misaligned_memory_is_refused():
    t = weir.from_numpy(misaligned("uint8"))
    with pytest.raises(RuntimeError, match="not aligned to elements of int64: view a clone"):
        t.view(weir.int64)
    assert t.clone().view(weir.int64).tolist() == [0] * 5
