"""Forms of calls that PyTorch's documentation shows, which `weir-autotest examples` found to differ."""

import pytest
import torch
import weir


def stepped_by_hook(t):
    v = t.zeros(3, requires_grad=True)
    v.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.5))  # gives p itself
    v.backward(t.tensor([1.0, 2.0, 3.0]))
    return v.tolist()


def differentiated(t, gradient_of, *args):
    """The gradients of a gradient of conv1d by its two operands."""
    found = gradient_of(*args)
    return [g.tolist() for g in t.autograd.grad((found ** 2).sum(), [x for x in args if isinstance(x, t.Tensor)])]


def line(t, n):
    return t.arange(1.0, n + 1).reshape(1, 1, n).requires_grad_()


def inference(t):
    with t.inference_mode():
        x = t.ones(2)
    return x._version


FORMS = {
    "a hook that gives its parameter": stepped_by_hook,
    "gradient by a weight of a gradient": lambda t: differentiated(t, t.nn.grad.conv1d_input, (1, 1, 4), line(t, 2), line(t, 3)),
    "gradient by an input of a gradient": lambda t: differentiated(t, t.nn.grad.conv1d_weight, line(t, 4), (1, 1, 2), line(t, 3)),
    "version in inference mode": inference,
    "counts and edges": lambda t: repr(t.histogramdd(t.tensor([[0.0, 1.0], [1.0, 0.0]]), 2)),
    "an order among formats": lambda t: t.empty(1, 2, 3, 4).dim_order(ambiguity_check=[t.contiguous_format, t.channels_last]),
    "an order of several": lambda t: t.empty(1, 2, 3, 4).dim_order(ambiguity_check=True),
    "an order of none": lambda t: t.empty(2, 3, 4).dim_order(ambiguity_check="no"),
    "an order of one": lambda t: t.empty(2, 3, 4).transpose(0, 1).dim_order(ambiguity_check=True),
    "names of classes": lambda t: [t.typename(x) for x in (int, len, "a", t.ones(2), t.nn.Parameter(t.ones(2, dtype=t.float64)))],
    "name of a parameter's class": lambda t: t.typename(t.nn.Parameter).rpartition(".")[2],
    "name of what gave bags": lambda t: t.nn.EmbeddingBag(3, 2)(t.tensor([[0, 1]])).grad_fn.name(),
    "no generator of a thread": lambda t: t.random.thread_safe_generator(),
    "no truth about denormals": lambda t: t.set_flush_denormal(1),
}


def outcome(form, t):
    try:
        return form(t)
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("name", FORMS)
def test_documented_forms_are_pytorchs(name):
    assert outcome(FORMS[name], weir) == outcome(FORMS[name], torch)


def test_denormal_numbers_are_flushed_by_all_threads():
    x = weir.full((1 << 20,), 1e-310, dtype=weir.float64)
    try:
        assert weir.set_flush_denormal(True)
        assert not (x * 1.0).any()
    finally:
        assert weir.set_flush_denormal(False)
    assert (x * 1.0).all()


def logged(t, with_mode):
    """The calls that a rule sees which calls the function again, one level deeper each time."""
    seen = []

    def scaled(a, b):
        if t.overrides.has_torch_function((a, b)):
            return t.overrides.handle_torch_function(scaled, (a, b), a, b)
        return a * b + 1

    class Logging(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args, kwargs=None):
            seen.append(func.__name__)
            return t.overrides.redispatch_function(func, types, args, kwargs)

    class Mode(t.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args, kwargs=None):
            seen.append(func.__name__)
            with self:
                return t.overrides.redispatch_function(func, types, args, kwargs)

    numbers = t.tensor([3.0]), t.tensor([4.0])
    if with_mode:
        with Mode():
            result = scaled(*numbers)
    else:
        result = scaled(*(Logging(x) for x in numbers))
    return seen, result.tolist(), type(result) is t.Tensor


@pytest.mark.parametrize("with_mode", [False, True])
def test_a_rule_may_leave_itself_out_once(with_mode):
    assert logged(weir, with_mode) == logged(torch, with_mode)


@pytest.mark.parametrize("reduce", ["max", "min", "amax", "mean", "prod", "no"])
def test_reductions_of_sparse_products_have_two_names(reduce):
    def product(t):
        return t.sparse.mm(t.tensor([[1.0, 0, 2], [0, 3, 0]]).to_sparse_csr(), t.arange(6.0).reshape(3, 2), reduce).tolist()
    assert outcome(product, weir) == outcome(product, torch)
