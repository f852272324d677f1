"""What nodes show of what their calls saved for backward (`framework/binding/saved.cpp`)."""
import numpy as np
import pytest

import weir


def saved(y):
    return {name: getattr(y.grad_fn, name) for name in dir(y.grad_fn) if name.startswith("_saved_")}


def test_tensors_go_by_their_parameters_and_results():
    x = weir.rand(3, requires_grad=True)
    assert (x * x).grad_fn._saved_self is x
    y = x.exp()
    assert y.grad_fn._saved_result is not y and weir.equal(y.grad_fn._saved_result, y)
    assert "_saved_self" not in saved(y)
    values, indices = x.max(0)
    assert weir.equal(values.grad_fn._saved_indices, indices) and not values.grad_fn._saved_indices.requires_grad


def test_numbers_and_lists_are_what_the_call_was_given():
    x = weir.rand(2, 3, requires_grad=True)
    assert x.pow(2).grad_fn._saved_exponent == 2
    assert saved(x.sum((0, 1), True))["_saved_dim"] == (0, 1)
    assert saved(x.var(0))["_saved_keepdim"] is False
    assert x.view(3, 2).grad_fn._saved_size == (3, 2)


def test_nothing_is_shown_of_what_was_not_saved_or_is_freed():
    x = weir.rand(3, requires_grad=True)
    y = x.exp()
    with pytest.raises(AttributeError, match="ExpBackward0.*_saved_self"):
        y.grad_fn._saved_self
    assert not any(name.startswith("_saved_") for name in dir(y.grad_fn.next_functions[0][0]))
    y.sum().backward()
    with pytest.raises(RuntimeError, match="directly access saved tensors"):
        y.grad_fn._saved_result
    with pytest.raises(RuntimeError, match="after it has been freed"):
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


def test_hooks_pack_one_saved_tensor():
    x = weir.rand(3, requires_grad=True)
    y = x * x
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda t: t.numpy(force=True), lambda packed: weir.from_numpy(packed) * 10)
    assert np.allclose(y.grad_fn._saved_self.detach().numpy(), 10 * x.detach().numpy())
    with pytest.raises(RuntimeError, match="already been set"):
        raw.register_hooks(lambda t: t, lambda t: t)
    y.sum().backward()
    assert weir.allclose(x.grad, 11 * x.detach())  # once as it was saved, once by the hook
