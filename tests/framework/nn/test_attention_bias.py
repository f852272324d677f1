"""Causal masks known by name, torch.nn.attention.bias, against PyTorch's."""
import subprocess
import sys

import pytest
import torch
import torch.nn.attention.bias
import weir
import weir.nn.attention.bias

SIZES = [(5, 5), (5, 7), (7, 5)]


def _attended(t, name, size, enable_gqa=False):
    """Attention under the mask, and the gradients of queries, keys and values."""
    def filled(heads, length, first):
        return (t.arange(first, first + heads * length * 4.0).reshape(1, heads, length, 4) * 0.7).sin().requires_grad_()
    inputs = [filled(4, size[0], 1), filled(2 if enable_gqa else 4, size[1], 2), filled(2 if enable_gqa else 4, size[1], 3)]
    y = t.nn.functional.scaled_dot_product_attention(*inputs, attn_mask=getattr(t.nn.attention.bias, name)(*size), enable_gqa=enable_gqa)
    y.square().sum().backward()
    return [r.tolist() for r in (y, *(x.grad for x in inputs))]


@pytest.mark.parametrize("enable_gqa", [False, True])
@pytest.mark.parametrize("name, size", [("causal_upper_left", s) for s in SIZES] + [("causal_lower_right", s) for s in SIZES[:2]])
def test_attention_under_a_named_mask(name, size, enable_gqa):
    # The mask written out stands for PyTorch's: which kernels take the lower right corner differs by its build.
    got = _attended(weir, name, size, enable_gqa)
    mask = torch.ones(size, dtype=torch.bool).tril(size[1] - size[0] if "lower" in name else 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.attention.bias, name, lambda *size: mask)
        want = _attended(torch, name, size, enable_gqa)
    for mine, theirs in zip(got, want):
        torch.testing.assert_close(torch.tensor(mine), torch.tensor(theirs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
def test_a_named_mask_is_causal_enough(t):
    q = t.ones(1, 1, 3, 4)
    with pytest.raises(ValueError):
        t.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=t.nn.attention.bias.causal_upper_left(3, 3), is_causal=True)


def test_a_function_taken_earlier_reads_the_mask():
    program = ("import weir\nfrom weir.nn.functional import scaled_dot_product_attention as attend\nfrom weir.nn.attention.bias import causal_lower_right\n"
               "q, k = weir.randn(1, 2, 3, 4), weir.randn(1, 2, 5, 4)\n"
               "assert weir.equal(attend(q, k, k, causal_lower_right(3, 5)), attend(q, k, k, weir.ones(3, 5, dtype=weir.bool).tril(2)))")
    subprocess.run([sys.executable, "-c", program], check=True)
