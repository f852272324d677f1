"""What every op does around its kernel: out=, in place, versions, strides, argument forms; each as PyTorch does it."""

import pytest
import torch
import weir
from twins import to_numpy, to_weir


def same(function, *tensors):
    """`function(module, *tensors)` gives the same values, strides and dtype in both."""
    expected, actual = function(torch, *tensors), function(weir, *(to_weir(t) for t in tensors))
    assert to_numpy(actual).tolist() == expected.numpy().tolist()
    assert tuple(actual.stride()) == expected.stride() and str(actual.dtype).split(".")[-1] == str(expected.dtype).split(".")[-1]


@pytest.mark.parametrize("name", ["split_copy", "unsafe_split"])
def test_a_list_of_results_refuses_one_out(name):
    with pytest.raises(TypeError):
        getattr(weir, name)(weir.ones(1, 2), 2, out=weir.ones(1, 2))


@pytest.mark.parametrize("name", ["split", "chunk", "unbind"])
def test_a_list_of_views_takes_no_out(name):
    with pytest.raises(TypeError):
        getattr(weir, name)(weir.ones(2, 2), 1, out=weir.ones(2, 2))


@pytest.mark.parametrize("call", [
    lambda w, x, out: w.add(x, x, out=out),
    lambda w, x, out: w.matmul(x, x, out=out),
    lambda w, x, out: w.stack([x], out=out),
    lambda w, x, out: w.std(x, 0, out=out),
])
def test_out_is_not_recorded(call):
    for w in (torch, weir):
        x = w.ones(3, 3, requires_grad=True)
        with pytest.raises(RuntimeError, match="automatic differentiation"):
            call(w, x, w.empty(0))
        with w.no_grad():
            call(w, x, w.empty(0))


def test_out_of_what_has_no_gradient_is_written():
    for w in (torch, weir):
        x = w.ones(3, requires_grad=True)
        assert w.eq(x, x, out=w.empty(3, dtype=w.bool)).all()
        assert w.argmax(x, out=w.empty(0, dtype=w.int64)).item() == 0


def test_a_resized_out_takes_the_strides_of_the_result():
    same(lambda w, x: w.add(x.transpose(0, 1), 1, out=w.empty(0)), torch.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("call", [
    lambda w, x: w.sort(x)[0], lambda w, x: w.sort(x)[1], lambda w, x: w.argsort(x, 0), lambda w, x: w.flip(x, [0]),
    lambda w, x: w.fliplr(x), lambda w, x: w.msort(x), lambda w, x: w.fill(x, 2.0),
    lambda w, x: w.masked_fill(x, x > 2, 0.0), lambda w, x: w.addmm(x, w.ones(3, 2), w.ones(2, 2)),
    lambda w, x: w.cumsum(x, 0), lambda w, x: w.pow(2, x), lambda w, x: w.sort(x, stable=None)[0],
])
def test_strides_of_results(call):
    same(lambda w, t: call(w, t.transpose(0, 1)), torch.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]]))


def test_in_place_refuses_repeated_elements():
    for w in (torch, weir):
        for call in (lambda x: x.cumsum_(0), lambda x: x.add_(1), lambda x: x.addmm_(w.ones(3, 3), w.ones(3, 3)),
                     lambda x: x.scatter_add_(0, w.zeros(1, 1, dtype=w.int64), w.ones(1, 1))):
            with pytest.raises(RuntimeError, match="more than one element"):
                call(w.ones(3).expand(3, 3))
        w.ones(1, 0).expand(3, 0).add_(1)
        assert w.ones(3).expand(3, 3).fill_(2.0).tolist() == [[2, 2, 2]] * 3


@pytest.mark.parametrize("call", [lambda x: x.squeeze_(), lambda x: x.unsqueeze_(0),
                                  lambda x: x.transpose_(0, 1), lambda x: x.resize_(3)])
def test_a_new_geometry_is_a_new_version(call):
    for w in (torch, weir):
        x = w.ones(1, 2)
        call(x)
        assert x._version == 1


@pytest.mark.parametrize("call", [
    lambda w, x: w.sum(x, dtype=w.int64), lambda w, x: w.sum(x, dtype=w.bool), lambda w, x: w.prod(x, dtype=w.int64),
    lambda w, x: w.sum(x, 0, dtype=w.int32), lambda w, x: w.cumsum(x, 0, dtype=w.int64),
    lambda w, x: w.cumprod(x, 0, dtype=w.int64), lambda w, x: w.prod(x, 0, dtype=w.bool),
])
def test_dtype_casts_before_reducing(call):
    same(call, torch.tensor([1.5, 1.5, 0.25, 2.75]))


def test_any_and_all_over_no_axes():
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    same(lambda w, x: w.any(x, dim=[]), x)
    same(lambda w, x: w.all(x, dim=[], keepdim=True), x)


def test_a_comparison_in_place_ends_the_gradient():
    for w in (torch, weir):
        x, y = w.ones(3, requires_grad=True), w.ones(3, requires_grad=True)
        (x * 2).eq_(y).sum().backward()
        assert x.grad.tolist() == [0, 0, 0] and y.grad.tolist() == [0, 0, 0]


def test_a_new_geometry_is_recorded():
    for w in (torch, weir):
        x = w.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
        y = x * 2
        y.transpose_(0, 1)
        (y * w.tensor([[1.0], [2.0], [3.0]])).sum().backward()
        assert x.grad.tolist() == [[2, 4, 6]]
        with pytest.raises(RuntimeError, match="leaf"):
            x.unsqueeze_(0)


def test_sort_into_an_out_of_another_shape():
    x = torch.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
    for i in (0, 1):
        same(lambda w, x: w.sort(x.transpose(0, 1), 0, out=(w.empty(0), w.empty(0, dtype=w.int64)))[i], x)


def test_beta_zero_has_a_zero_gradient():
    for w in (torch, weir):
        x = w.full((2, 2), float("nan"), requires_grad=True)
        y = w.addmm(x, w.ones(2, 2), w.ones(2, 2), beta=0)
        y.sum().backward()
        assert y.tolist() == [[2, 2], [2, 2]] and x.grad.tolist() == [[0, 0], [0, 0]]


def test_addmm_under_autocast_casts_what_is_added():
    for w in (torch, weir):
        with w.autocast("cpu", dtype=w.bfloat16):
            y = w.addmm(w.ones(2, 2), w.ones(2, 2), w.ones(2, 2))
        assert y.dtype == w.bfloat16 and y.float().tolist() == [[3, 3], [3, 3]]


def test_a_bound_that_requires_grad_gets_its_gradient():
    for w in (torch, weir):
        x, low = w.tensor([1.0, 3.0]), w.tensor(2.0, requires_grad=True)
        w.clamp(x, min=low).sum().backward()
        assert low.grad.item() == 1


def test_alpha_by_position_after_a_number():
    x = torch.tensor([1.0, 2.0])
    same(lambda w, x: w.add(x, 0.5, 2.0), x)
    same(lambda w, x: w.sub(x, 0.5, 2.0), x)
    same(lambda w, x: x.clone().add_(0.5, 2), x)
    with pytest.raises(TypeError):
        weir.add(to_weir(x), to_weir(x), 2.0)


def test_rounding_mode_none_divides():
    same(lambda w, x: w.div(x, 2, rounding_mode=None), torch.tensor([1.0, 3.0]))
    with pytest.raises(TypeError):
        weir.add(weir.ones(1), 1, rounding_mode=None)


@pytest.mark.parametrize("size, stride", [((2, 2, 4), (1, 2, 4)), ((2, 2, 4), (16, 8, 2))])
def test_a_norm_writes_into_an_out_of_any_strides(size, stride):
    x = weir.arange(16.0).reshape(2, 2, 4)
    outs = weir.zeros(32).as_strided(size, stride), weir.zeros(2), weir.zeros(2)
    weir.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5, out=outs)
    fresh = weir.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    assert [t.tolist() for t in outs] == [t.tolist() for t in fresh]


@pytest.mark.parametrize("numbers", [[2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
def test_the_second_derivative_of_cumprod_at_zero(numbers):
    def second(w):
        x = w.tensor(numbers, requires_grad=True)
        slope, = w.autograd.grad((x.cumprod(0) * w.arange(1.0, len(numbers) + 1)).sum(), x, create_graph=True)
        return w.autograd.grad((slope * slope).sum(), x)[0].tolist()

    assert second(weir) == second(torch)


@pytest.mark.parametrize("stride", [(0, 1), (1, 0), (0, 0), (2, 0), (4, 2), (1, 2)])
def test_a_result_is_laid_out_as_by_operands_that_were_cast(stride):
    turned = torch.arange(16).as_strided((2, 2), (1, 2))
    for x, y in ((torch.arange(16), turned.float()), (torch.arange(16.0), turned.double()), (torch.arange(16), turned), (torch.arange(16.0), turned)):
        for call in (lambda w, x, y: w.add(x, y), lambda w, x, y: w.atan2(x, y), lambda w, x, y: w.lt(x, y), lambda w, x, y: w.special.zeta(y, x)):
            ours, theirs = (call(w, x.as_strided((2, 2), stride), y) for w, x, y in ((weir, to_weir(x), to_weir(y).t().contiguous().t()), (torch, x, y)))
            assert tuple(ours.stride()) == tuple(theirs.stride())


@pytest.mark.parametrize("call", [
    lambda w, x: w.matmul(x, x), lambda w, x: w.index_copy(x, 0, w.tensor([0]), x[:1]),
    lambda w, x: w.nn.functional.pixel_shuffle(x.reshape(4, 3, 3), 2), lambda w, x: w.logsumexp(x, 1), lambda w, x: w.nn.functional.linear(x, x[0]),
    lambda w, x: x.t() if x.ndim == 2 else x.mT, lambda w, x: x.reshape(-1), lambda w, x: x.flatten()])
def test_a_result_is_a_view_of_what_was_given_or_of_nothing(call):
    for asks in (False, True):
        x, y = (w.arange(36.0).reshape(4, 3, 3).requires_grad_(asks) for w in (weir, torch))
        ours, theirs = call(weir, x), call(torch, y)
        assert (ours._base is None) == (theirs._base is None) == (not ours._is_view())
        if ours._base is None:
            assert not ours.detach_().requires_grad
            ours.add_(1)


def test_gradients_after_writing_into_a_composite_s_result():
    def slopes(w):
        x = w.arange(8.0).reshape(2, 2, 2).requires_grad_()
        y = w.matmul(x, x)
        y[0].mul_(3)
        y.add_(x)
        y.square().sum().backward()
        return x.grad.tolist()
    assert slopes(weir) == slopes(torch)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
@pytest.mark.parametrize("place", [0, 1, 39])
@pytest.mark.filterwarnings("ignore")
def test_shared_memory_is_filled_where_any_mask_holds(dtype, place):
    def filled(t):
        x, mask = t.zeros(4, 1, dtype=getattr(t, dtype)).expand(4, 40), t.zeros(4, 40, dtype=t.bool)
        mask[2, place] = True
        return x.masked_fill_(mask, 5).tolist(), t.zeros(40).fill_(1)[:1].expand(3).masked_fill_(t.tensor([True, False, False]), 2).tolist()
    assert filled(weir) == filled(torch)


@pytest.mark.parametrize("mode", ["add", "trunk", "f", ""])
def test_a_quotient_is_rounded_by_a_known_mode_only(mode):
    """It was taken by its first letter."""
    for t in (torch, weir):
        for call in (lambda: t.div(t.ones(2), 3.0, rounding_mode=mode), lambda: t.ones(2).div_(3.0, rounding_mode=mode)):
            with pytest.raises(RuntimeError):
                call()


def test_none_stands_only_for_a_text_that_may_be_left_out():
    for t in (torch, weir):
        x, index = t.zeros(3), t.tensor([0, 2])
        for call in (lambda: t.scatter(x, 0, index, t.ones(2), reduce=None), lambda: x.scatter_(0, index, 1.0, reduce=None)):
            with pytest.raises(TypeError):
                call()
