"""Arguments of functions that PyTorch writes in Python and weir as ops: what Python takes for a number, a truth or a list there."""

import numpy
import pytest
import torch
from twins import assert_same

X = (torch.arange(24.0).reshape(2, 3, 4) + 0.5).requires_grad_()
K = torch.tensor(0.5, requires_grad=True)
CALLS = """F.local_response_norm(x, 2, beta=k)|F.local_response_norm(x, 2, alpha=k, k=k)|F.local_response_norm(x, True)|F.local_response_norm((x > 3), 2)
F.local_response_norm(x.byte(), 2)|F.gaussian_nll_loss(x, x.detach() + 1, x.detach(), eps=k)|F.gumbel_softmax(x * 0 + t.tensor([[[9.0, 0.0, 0.0, 0.0]]]) * 1e3, tau=k, hard=True)
F.interpolate(x, scale_factor=k, recompute_scale_factor=True)|F.interpolate(x, scale_factor=2.0, recompute_scale_factor=0)|F.interpolate(x[None], size=(2, 2), antialias=n.bool_(False))
F.fold(x.reshape(3, 4, 2), t.tensor([2, 3]), t.tensor([2, 2]))|F.fold(x.reshape(3, 4, 2), n.array([2, 3]), 2)|F.fold(x.reshape(3, 4, 2), True, 2)
F.fractional_max_pool2d(x, 2, output_ratio=(k, 0.5), _random_samples=t.ones(1, 2, 2) * 0.5)|F.max_unpool2d(x[:, :1, :2], t.zeros(2, 1, 2).long(), 3, 2, 0, output_size=(1.0, 2, 3, 6))
t.masked.sum(x, t.tensor([0, 2]))|t.masked.amax(x, [True])|t.masked.mean(x, (False,))|t.masked.prod(x, ())|t.masked.prod(x, [])
t.masked.var(x, correction=k)|t.masked.std(x, correction=2**70)|t.masked.norm(x, None)|t.masked.amax(x[:0], [])|t.masked.amax(x > 3, mask=x > 4)|t.masked.amin(t.complex(x, x), mask=x > 4)
t.masked.logsumexp(x > 3, mask=x > 4)|t.masked.amin(x > 3, mask=t.ones(5) > 0)|t.masked.logaddexp(x > 1, x > 2, input_mask=x > 4)|t.unravel_index(t.tensor([0]), True)
t.signal.windows.exponential(4, tau=k)|t.signal.windows.gaussian(4, std=k)|t.signal.windows.kaiser(4, beta=k)|t.signal.windows.general_cosine(1, a=t.tensor([1, 2, 3]))
F.softmin(x, None, t.float32)|F.softmax(x, 1, t.float32)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_as_pytorch(text):
    assert_same(lambda t, x, k: eval(text, {"t": t, "F": t.nn.functional, "x": x, "k": k, "n": numpy}), X, K, order=1, what=text)


METHODS = """x.squeeze(1, 3)|x.squeeze_(1, 3)|x.squeeze(one)|t.squeeze(x, one)|t.squeeze(x, 1, 3)|x.squeeze(two)|x.squeeze(one, dim=1)|x.flip(one)|t.flip(x, one)|x.permute(one, 0, 2, 3)
x.reshape(six)|t.reshape(x, six)|x.view(six)|x.tile(one)|x.repeat(one, one, one, one)|x.flip(dims=one)|t.flip(x, dims=one)|x.permute(dims=one)|x.tile(dims=one)|x.repeat(repeats=one)
x.view(size=six)|x.expand(size=one)|t.reshape(x, shape=six)|x.sum_to_size(size=one)|x.new_zeros(size=one)|t.zeros(size=one)|t.zeros(one)|t.flip(x, one[0])|t.permute(x, one[0], 0)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", METHODS)
def test_methods_take_the_numbers_of_their_only_list_side_by_side(text):
    """And tensors of one element for them: functions do not."""
    names = {"one": [1], "two": [1, 3], "six": [6]}
    assert_same(lambda t, x: eval(text, {"t": t, "x": x, **{key: t.tensor(value) for key, value in names.items()}}), torch.arange(6.0).reshape(2, 1, 3, 1), what=text)
