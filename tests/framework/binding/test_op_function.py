"""How Python arguments become an op call: names, keywords, overloads, out=, and errors of PyTorch's types."""

import _weir
import pytest
import weir

ops = _weir.ops["torch"]


def full(*size, value=1.0):
    return ops["full"](list(size), value)


def test_keywords_and_numpys_spellings():
    x = full(2, 3)
    assert ops["add"](x, other=x, alpha=2).sum().item() == 18
    assert tuple(ops["sum"](x, axis=1, keepdims=True).shape) == (2, 1)


def test_a_variadic_size_is_ints_or_one_sequence():
    x = full(2, 3)
    assert tuple(x.view(3, -1).shape) == tuple(x.view((3, 2)).shape) == (3, 2)


def test_overloads_are_told_apart_by_their_arguments():
    x = full(2, 3)
    assert ops["max"](x).item() == 1
    values, indices = ops["max"](x, 1)
    assert tuple(values.shape) == (2,) and "int64" in str(indices.dtype)
    assert tuple(ops["max"](x, x).shape) == (2, 3)


def test_several_results_have_names():
    assert tuple(ops["max"](full(2, 3), 1).indices.shape) == (2,)


def test_out_is_filled_and_returned():
    x, out = full(2), full(2)
    assert ops["add"](x, x, out=out) is out
    assert out.sum().item() == 4


def test_an_inplace_method_returns_its_tensor():
    x = full(2)
    before = x._version
    assert x.add_(x) is x
    assert x._version == before + 1 and x.sum().item() == 4


@pytest.mark.parametrize("call, error, text", [
    (lambda x: ops["add"](x), TypeError, "add() missing 1 required positional argument: 'other'"),
    (lambda x: ops["add"](x, "a"), TypeError, "argument 'other' (position 2) must be Tensor | Number, not str"),
    (lambda x: ops["add"](x, x, x), TypeError, "add() takes 2 positional arguments but 3 were given"),
    (lambda x: ops["add"](x, x, alpah=2), TypeError, "unexpected keyword argument 'alpah'"),
    (lambda x: ops["add"](x, x, input=x), TypeError, "multiple values for argument 'input'"),
    (lambda x: ops["add"](x, x, out=3), TypeError, "argument 'out' must be Tensor"),
    (lambda x: ops["max"](x, "q"), TypeError, "max() received an invalid combination of arguments"),
    (lambda x: ops["cat"]([x, 3]), TypeError, "expected Tensor as element 1"),
    (lambda x: ops["sum"](x, 5), IndexError, "sum: Dimension out of range"),
    (lambda x: ops["sum"](x, 2**70), ValueError, ""),
    (lambda x: x.view(7), RuntimeError, "view: shape '[7]' is invalid for input of size 6"),
    (lambda x: ops["empty"]([2**40, 2**40]), RuntimeError, "overflowed"),
])
def test_errors_have_pytorchs_types_and_say_what_came(call, error, text):
    with pytest.raises(error) as caught:
        call(full(2, 3))
    assert text in str(caught.value)


@pytest.mark.parametrize("name", ["pow", "remainder", "xlogy", "bitwise_and"])
def test_numbers_alone_are_refused(name):
    with pytest.raises(TypeError, match="expected a Tensor among the arguments"):
        getattr(weir, name)(2, 3)


def test_arithmetic_takes_numbers_alone():
    assert weir.add(2, 3).item() == 5 and weir.true_divide(1, 2).item() == 0.5


def test_full_is_not_a_write():
    assert weir.full((2,), 1.0)._version == 0


def test_in_place_refuses_repeated_elements():
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        weir.ones(1).expand(3).add_(1)


@pytest.mark.parametrize("call", [lambda x, i, out: weir.gather(x, 0, i, out=out), lambda x, i, out: weir.take(x, i, out=out),
                                  lambda x, i, out: weir.index_select(x, 0, i, out=out)])
def test_indexing_writes_into_memory_of_its_own_only(call):
    x, i = weir.arange(3.0), weir.tensor([2, 0, 1])
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        call(x, i, x)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float32"):
        call(x, i, weir.zeros(3, dtype=weir.float64))
    assert call(x, i, weir.zeros(3)).tolist() == [2.0, 0.0, 1.0]


def test_out_of_a_composite_is_resized_and_cast():
    out = weir.empty(0, dtype=weir.float64)
    assert weir.outer(weir.ones(2), weir.arange(3.0), out=out) is out
    assert out.tolist() == [[0.0, 1.0, 2.0]] * 2


def test_functions_are_no_methods_of_the_classes_that_hold_them():
    class Held:
        act, conv, write = weir.sigmoid, weir.conv2d, weir.relu_
    assert Held().act(weir.zeros(1)).item() == 0.5 and Held().write(-weir.ones(1)).item() == 0
    assert weir.ones(1).sigmoid_().item() == weir.Tensor.sigmoid(weir.ones(1)).item() == weir.ones(1).absolute().sigmoid().item()


def test_a_function_tells_its_defaults():
    assert weir.meshgrid.__kwdefaults__ == {"indexing": None} and weir.softmax.__defaults__ == (None,)
