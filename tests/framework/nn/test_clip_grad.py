"""Limiting gradients, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_close, to_weir


def twins(seed=0):
    torch.manual_seed(seed)
    theirs = [torch.randn(3, n).requires_grad_() for n in range(1, 6)]
    ours = [to_weir(p) for p in theirs]
    for p, q in zip(ours, theirs):
        q.grad = torch.randn(q.shape)
        p.grad = to_weir(q.grad)
    return ours, theirs


@pytest.mark.parametrize("norm_type", [2, 2.0, 1, float("inf")])
@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_clip_grad_norm(norm_type, limit):
    ours, theirs = twins()
    assert_close(weir.nn.utils.clip_grad_norm_(ours, limit, norm_type), torch.nn.utils.clip_grad_norm_(theirs, limit, norm_type))
    for p, q in zip(ours, theirs):
        assert_close(p.grad, q.grad)


def test_clip_grad_norm_refuses_infinity_when_asked():
    ours, _ = twins()
    ours[2].grad[0, 0] = float("inf")
    with pytest.raises(RuntimeError, match="non-finite"):
        weir.nn.utils.clip_grad_norm_(ours, 1.0, error_if_nonfinite=True)


def test_a_generator_that_was_read_before_is_warned_of():
    for F in (torch, weir):
        read = F.nn.Linear(2, 2).parameters()
        list(read)
        with pytest.warns(UserWarning, match="empty generator, no gradient clipping"):
            assert F.nn.utils.clip_grad_norm_(read, 1.0) == 0
        assert F.nn.utils.clip_grad_norm_([], 1.0) == 0
