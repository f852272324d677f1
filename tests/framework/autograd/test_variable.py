"""The old name of Tensor, beside PyTorch's."""
import pytest
import torch

import weir


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
def test_a_variable_is_a_leaf_over_the_memory_of_its_data(t):
    made = (t.ones(2, requires_grad=True) * 2)
    v = t.autograd.Variable(made, requires_grad=True)
    assert v is not made and v.data_ptr() == made.data_ptr() and v.is_leaf and v.requires_grad
    assert not t.autograd.Variable(made).requires_grad and not t.autograd.Variable(t.nn.Parameter(made)).requires_grad
    assert type(v) is t.Tensor and t.autograd.Variable().numel() == 0


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
def test_every_tensor_is_one_and_nothing_else_becomes_one(t):
    assert isinstance(t.ones(2), t.autograd.Variable) and not isinstance(1.0, t.autograd.Variable)
    for data in (1.0, [1.0]):
        with pytest.raises(TypeError, match="Variable data has to be a tensor"):
            t.autograd.Variable(data)
    with pytest.raises(RuntimeError, match="floating point"):
        t.autograd.Variable(t.ones(2, dtype=t.int32), requires_grad=True)
    with pytest.warns(UserWarning, match="volatile"):
        t.autograd.Variable(t.ones(2), volatile=True)


@pytest.mark.parametrize("t", [torch, weir])
def test_packed_tensors_keep_their_place_in_the_graph(t):
    with t.autograd.graph.saved_tensors_hooks(lambda x: 2 * x, lambda x: x):
        a = t.arange(3.0, requires_grad=True)
        y = (a ** 3).sum()
    (g,) = t.autograd.grad(y, a, create_graph=True)
    g.sum().backward()
    assert a.grad.tolist() == [0.0, 12.0, 24.0]


@pytest.mark.parametrize("t", [torch, weir])
def test_numbers_are_not_packed(t):
    packed = []
    with t.autograd.graph.saved_tensors_hooks(lambda x: packed.append(x.dim()), lambda x: t.ones(2)):
        y = t.ones(2, requires_grad=True) * 5
    y.sum().backward()
    assert 0 not in packed


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("t", [torch, weir])
def test_gradients_made_up_are_zeros(t, create_graph):
    x = t.tensor(float("inf"), requires_grad=True)
    (g,) = t.autograd.grad(t.ones(1, requires_grad=True).sum(), x, materialize_grads=True, create_graph=create_graph)
    assert g.item() == 0 and g.requires_grad == create_graph


@pytest.mark.parametrize("t", [torch, weir])
def test_arrays_of_what_requires_grad_where_nothing_is_recorded(t):
    x = t.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        x.numpy()
    with t.no_grad():
        assert x.numpy().sum() == 2


@pytest.mark.parametrize("t", [torch, weir])
def test_a_leaf_of_another_shape_takes_gradients_of_it(t):
    p = t.nn.Parameter(t.ones(4))
    for n in (3, 2):
        with t.no_grad():
            p.set_(p[1:])
            p.grad = None
        t.cat((p, p)).sum().backward()
        assert p.grad.tolist() == [2.0] * n


FACTORS = {
    "mul": lambda t, x, w: x * w,
    "addcmul": lambda t, x, w: t.addcmul(t.zeros(4, 4), x, w),
    "mm": lambda t, x, w: x @ w,
    "bmm": lambda t, x, w: t.bmm(x[None], w[None]),
    "linear": lambda t, x, w: t.nn.functional.linear(x, w, t.ones(4)),
    "conv": lambda t, x, w: t.nn.functional.conv1d(x[None], w[..., None], t.ones(4)),
    "transposed conv": lambda t, x, w: t.nn.functional.conv_transpose1d(x[None], w[..., None]),
    "dot": lambda t, x, w: x[0].dot(w[0]),
    "cross": lambda t, x, w: t.linalg.cross(x[:, :3], w[:, :3]),
}


@pytest.mark.parametrize("name", FACTORS)
def test_a_factor_is_kept_for_the_others_gradient_only(name):
    for learned in (0, 1):
        found = []
        for t in (torch, weir):
            x, w = (t.arange(16.0).reshape(4, 4) / 7 - 1 for _ in range(2))
            (x, w)[learned].requires_grad_()
            y = FACTORS[name](t, x, w).pow(2).sum()
            fixed = (x, w)[1 - learned]
            (first,) = t.autograd.grad(y, (x, w)[learned], create_graph=True)
            (second,) = t.autograd.grad(first.sum(), (x, w)[learned])
            assert not fixed.requires_grad
            found.append(torch.tensor([first.tolist(), second.tolist()]))
        torch.testing.assert_close(*found)


@pytest.mark.parametrize("t", [torch, weir])
def test_a_factor_that_is_not_kept_may_change(t):
    x, w = t.ones(3, requires_grad=True), t.full((3,), 2.0)
    y = (x * 1) * w
    kept = (x * 1)
    z = kept * w
    kept.zero_()
    (y.sum() + z.sum()).backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]


def test_activations_before_frozen_layers_are_not_kept():
    import gc
    import weakref

    x = weir.ones(4, 8, requires_grad=True)
    hidden = x * 2
    gone = weakref.ref(hidden)
    y = weir.nn.functional.linear(hidden, weir.ones(3, 8))
    del hidden
    gc.collect()
    assert gone() is None
    y.sum().backward()
    assert x.grad.tolist() == [[6.0] * 8] * 4
