"""swap_tensors: two objects exchange what they are, as in PyTorch."""

import weakref

import pytest
import torch
import weir


@pytest.mark.parametrize("t", [torch, weir], ids=["torch", "weir"])
def test_objects_stay_and_contents_move(t):
    class Named(t.nn.Parameter):
        pass

    a, b = Named(t.ones(2), requires_grad=False), t.nn.Parameter(t.arange(3.0))
    a.note, places = "a", (id(a), id(b))
    known = {a: 1, b: 2}
    t.utils.swap_tensors(a, b)
    assert (id(a), id(b)) == places and known == {a: 1, b: 2}
    assert type(a) is t.nn.Parameter and type(b) is Named and b.note == "a" and not hasattr(a, "note")
    assert a.tolist() == [0, 1, 2] and b.tolist() == [1, 1] and a.requires_grad and not b.requires_grad
    (a * 2).sum().backward()
    assert a.grad.tolist() == [2, 2, 2] and b.grad is None


@pytest.mark.parametrize("t", [torch, weir], ids=["torch", "weir"])
def test_memory_outlives_the_swap(t):
    a, b = t.ones(2), t.zeros(3)
    t.utils.swap_tensors(a, b)
    b += 1
    c = b
    del a, b
    assert c.tolist() == [2, 2] and type(c) is t.Tensor


def test_a_tensor_and_a_parameter_are_refused():
    a, b = weir.ones(2), weir.nn.Parameter(weir.zeros(2))
    with pytest.raises(NotImplementedError, match="laid out differently"):
        weir.utils.swap_tensors(a, b)
    assert a.tolist() == [1, 1] and b.tolist() == [0, 0]


@pytest.mark.parametrize("t", [torch, weir], ids=["torch", "weir"])
def test_what_others_hold_is_refused(t):
    a, b = t.ones(2, requires_grad=True) * 1, t.zeros(2)
    view = a[:1]
    with pytest.raises(RuntimeError, match="use_count of t1"):
        t.utils.swap_tensors(a, b)
    assert view.tolist() == [1]
    a = t.ones(2)
    held = weakref.ref(b)
    with pytest.raises(RuntimeError, match="Cannot swap t2"):
        t.utils.swap_tensors(a, b)
    assert held() is b


@pytest.mark.parametrize("t", [torch, weir], ids=["torch", "weir"])
def test_a_leaf_swapped_between_forward_and_backward_gets_no_gradient(t):
    a, b = t.ones(2, requires_grad=True), t.zeros(2)
    y = (a + 1).sum()  # keeps the end of its graph, not the leaf
    t.utils.swap_tensors(a, b)
    with pytest.raises(RuntimeError, match="poisoned by swap_tensors"):
        y.backward()
