"""Attention in blocks against PyTorch's."""

import pytest
import torch
import weir
from twins import assert_same, to_weir

F = lambda t: t.nn.functional.scaled_dot_product_attention  # noqa: E731


def heads(*sizes, seed=0):
    return torch.randn(*sizes, generator=torch.manual_seed(seed), requires_grad=True)


@pytest.mark.parametrize("queries, keys", [(1, 1), (5, 7), (64, 256), (70, 300), (130, 40)])
@pytest.mark.parametrize("causal", [False, True])
def test_sizes(queries, keys, causal):
    q, k, v = heads(2, 3, queries, 8), heads(2, 3, keys, 8, seed=1), heads(2, 3, keys, 5, seed=2)
    assert_same(lambda t, q, k, v: F(t)(q, k, v, is_causal=causal), q, k, v, order=1, strides=False)


MASKS = {
    "float": torch.randn(6, 6, generator=torch.manual_seed(3)), "rows": torch.randn(2, 1, 6, 6, generator=torch.manual_seed(4)),
    "keys": torch.randn(1, 1, 1, 6, generator=torch.manual_seed(5)), "bool": torch.rand(6, 6, generator=torch.manual_seed(6)) > 0.4,
    "blind": torch.tensor([[True] * 6, [False] * 6] * 3), "misfit": torch.zeros(5, 6), "double": torch.zeros(6, 6, dtype=torch.float64),
    "blind float": torch.tensor([[0.0] * 6, [float("-inf")] * 6] * 3),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_what_sees_a_single_key_has_no_slope_towards_it(dtype):
    q, k, v, dy = (to_weir(torch.randn(2, 3, n, 40, generator=torch.manual_seed(n)).to(dtype)) for n in (5, 1, 1, 5))
    q, k = q.requires_grad_(), k.requires_grad_()
    y = F(weir)(q, k, v)
    assert all(not g.any() for g in weir.autograd.grad(y, (q, k), dy))


def test_large_scores_cost_slopes_that_are_alike_no_digits():
    """Weights of large scores are rounded, and do not quite add up to 1; what all slopes have in common is still taken off."""
    q, k, v = (heads(1, 1, 5, 8, seed=seed).detach() * size + shift for seed, size, shift in ((0, 30, 60), (1, 0.1, 10), (2, 0.1, 10)))
    exact, dy = [x.double().requires_grad_() for x in (q, k)], torch.ones(1, 1, 5, 8)
    wanted = torch.autograd.grad(F(torch)(*exact, v.double()), exact, dy.double())
    given = [to_weir(x).requires_grad_() for x in (q, k)]
    for got, true in zip(weir.autograd.grad(F(weir)(*given, to_weir(v)), given, to_weir(dy)), wanted):
        assert (torch.from_numpy(got.numpy()) - true).abs().max() < 0.02 * true.abs().max()


@pytest.mark.parametrize("name", MASKS)
def test_masks(name):
    q, k, v = (heads(2, 3, 6, 4, seed=i) for i in range(3))
    assert_same(lambda t, q, k, v, m: F(t)(q, k, v, m), q, k, v, MASKS[name], order=1)
    assert_same(lambda t, q, k, v, m: F(t)(q, k, v, m, is_causal=True), q, k, v, MASKS[name], order=0)


def test_groups_of_heads_share_keys():
    q, k, v = heads(2, 6, 5, 4), heads(2, 2, 7, 4, seed=1), heads(2, 2, 7, 4, seed=2)
    for options in ({"enable_gqa": True}, {"enable_gqa": True, "scale": 0.3}, {}):
        assert_same(lambda t, q, k, v: F(t)(q, k, v, **options), q, k, v, order=1)


@pytest.mark.parametrize("keys, values", [(2, 6), (6, 3), (3, 2), (1, 6), (4, 2), (8, 8), (2, 5), (12, 12)])
def test_keys_and_values_have_groups_of_their_own(keys, values):
    q, k, v = heads(2, 6, 5, 4), heads(2, keys, 7, 4, seed=1), heads(2, values, 7, 4, seed=2)
    assert_same(lambda t, q, k, v: F(t)(q, k, v, enable_gqa=True), q, k, v, order=1)
    assert_same(lambda t, q, k, v: F(t)(q, k, v, enable_gqa=True), q[:, :1], k, v, order=0)


def test_heads_behind_positions_stay_there():
    q, k, v = (heads(2, 9, 3, 4, seed=i) for i in range(3))
    assert_same(lambda t, *x: F(t)(*(y.transpose(1, 2) for y in x)), q, k, v, order=1)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_dtypes(dtype):
    q, k, v = (heads(2, 3, 6, 4, seed=i).detach().to(dtype) for i in range(3))
    assert_same(lambda t, q, k, v: F(t)(q, k, v), q, k, v, rtol=2e-2, atol=2e-2)


def test_second_derivative():
    q, k, v = (weir.from_numpy(heads(1, 2, 3, 4, seed=i).detach().numpy()).requires_grad_() for i in range(3))
    g = weir.autograd.grad(F(weir)(q, k, v).cos().sum(), [q, k, v], create_graph=True)
    parts = weir.autograd.grad(sum(x.cos().sum() for x in g), [q, k, v])
    d = [x.detach().double().requires_grad_() for x in (q, k, v)]  # float64 is composed of ops
    e = weir.autograd.grad(F(weir)(*d).cos().sum(), d, create_graph=True)
    for ours, theirs in zip(parts, weir.autograd.grad(sum(x.cos().sum() for x in e), d)):
        assert weir.allclose(ours.double(), theirs, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": -0.3}, {"attn_mask": MASKS["bool"][:3]}, {"attn_mask": MASKS["float"][:3]}], ids=str)
def test_halves_outside_of_blocks_are_computed_in_single_precision(dtype, options):
    q, k, v = ((8 * heads(4, n, 8, seed=n).detach()).to(dtype).requires_grad_() for n in (3, 6, 6))
    mask = options.get("attn_mask")
    rest = {name: value for name, value in options.items() if name != "attn_mask"}
    assert_same(lambda t, q, k, v, mask: F(t)(q, k, v, mask, **rest), q, k, v, mask, order=1, strides=False, rtol=2e-2, atol=1e-4)


@pytest.mark.parametrize("masked", ["bool", "numbers"])
def test_second_derivatives_of_halves_under_a_mask(masked):
    q, k, v = (torch.randn(1, 2, 3, 2, generator=torch.manual_seed(i)).bfloat16().requires_grad_() for i in range(3))
    mask = torch.tensor([[True, False, True]]) if masked == "bool" else torch.tensor([[0.0, -1.0, 0.5]]).bfloat16()
    assert_same(lambda t, q, k, v, m: F(t)(q, k, v, attn_mask=m), q, k, v, mask, rtol=0.1, atol=0.1)


@pytest.mark.parametrize("sizes", [((5, 5, 2, 4), (1, 2, 2, 2, 2), (5, 5)), ((2, 4), (5, 5, 2, 4), (5, 5, 2, 4)), ((2, 4), (2, 4), (2, 4)), ((5, 5, 2, 4), (2, 4), (5, 5, 2, 4))])
def test_groups_ask_for_heads(sizes):
    for t in (torch, weir):
        with pytest.raises(IndexError):
            t.nn.functional.scaled_dot_product_attention(*(t.ones(size) for size in sizes), enable_gqa=True)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("mask", [None, "causal", *([[a, b]] for a in (True, False) for b in (True, False)), [[-float("inf")] * 2], [[-float("inf"), 0.0]]], ids=str)
def test_nan_is_not_hidden_and_a_row_that_sees_nothing_is_zero(mask, number):
    q, k = torch.tensor([[number, 1.0]]).double().requires_grad_(), torch.tensor([[2.0, 1.0], [1.0, 1.0]]).double()
    given = {"is_causal": True} if mask == "causal" else {"attn_mask": mask if mask is None else torch.tensor(mask)}
    if given.get("attn_mask") is not None and given["attn_mask"].is_floating_point():
        given["attn_mask"] = given["attn_mask"].double()
    mask = given.pop("attn_mask", None)
    assert_same(lambda t, q, k, m: F(t)(q, k, k, m, **given), q, k, mask, order=0)
    assert_same(lambda t, q, k, m: F(t)(q, k, k, m, **given), torch.ones(1, 2).double().requires_grad_(), k, mask, order=1)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "complex64", "float32"])
def test_attention_of_no_heads(dtype):
    """Of whole numbers too, but for a mask of truths, which would be -infinity."""
    def answer(t, heads, mask, **options):
        q, k, v = (t.ones(2, n, 3, 4).to(getattr(t, dtype)) for n in heads)
        try:
            r = F(t)(q, k, v, mask if mask is None else t.ones(3, 3).to(getattr(t, mask)), **options)
            return str(r.dtype).split(".")[1], tuple(r.shape)
        except (RuntimeError, TypeError) as error:
            return type(error)
    for heads in ((0, 0, 1), (1, 0, 1), (0, 1, 1), (0, 3, 2)):
        for mask in (None, "bool", "float32"):
            for options in ({}, {"is_causal": True}, {"enable_gqa": True})[:3 if heads[1] == 3 else 2]:  # of groups without heads PyTorch's process dies
                assert answer(weir, heads, mask, **options) == answer(torch, heads, mask, **options), (heads, mask, options)


@pytest.mark.parametrize("sizes", [((1, 0), (1, 3), (1, 3)), ((0, 2), (0, 3), (0, 3)), ((0, 2), (0, 3), (1, 3))])
def test_truths_of_nothing_that_are_summed_are_whole_numbers(sizes):
    for autocast in (False, True):
        seen = []
        for t in (torch, weir):
            with t.autocast("cpu", dtype=t.bfloat16, enabled=autocast):
                seen.append(str(F(t)(*(t.ones(2, *size, 4, dtype=t.bool) for size in sizes)).dtype).split(".")[1])
        assert seen[0] == seen[1]
