"""Multi-head attention as one op, against PyTorch's function."""

import pytest
import torch
import weir
from twins import assert_same

E, HEADS, L, S, N = 6, 2, 3, 5, 4
G = torch.Generator().manual_seed(0)


def some(*sizes):
    return torch.randn(*sizes, generator=G, dtype=torch.float64, requires_grad=True)


Q, K, V = some(L, N, E), some(S, N, E), some(S, N, E)
WEIGHTS = {"in_proj_weight": some(3 * E, E), "in_proj_bias": some(3 * E), "bias_k": some(1, 1, E), "bias_v": some(1, 1, E),
           "out_proj_weight": some(E, E), "out_proj_bias": some(E)}
CASES = {
    "plain": {}, "no weights": {"need_weights": False}, "of each head": {"average_attn_weights": False}, "zero": {"add_zero_attn": True},
    "no biases": {"in_proj_bias": None, "bias_k": None, "bias_v": None, "out_proj_bias": None},
    "mask": {"attn_mask": torch.randn(L, S, generator=G, dtype=torch.float64)}, "masks": {"attn_mask": torch.randn(N * HEADS, L, S, generator=G, dtype=torch.float64)},
    "hidden": {"key_padding_mask": torch.tensor([[False] * 4 + [True]] * N), "attn_mask": torch.zeros(L, S, dtype=torch.bool), "add_zero_attn": True},
    "hidden, no weights": {"key_padding_mask": torch.tensor([[False] * 4 + [True]] * N), "need_weights": False},
    "static": {"static_k": torch.randn(N * HEADS, S, E // HEADS, generator=G, dtype=torch.float64), "static_v": torch.randn(N * HEADS, S, E // HEADS, generator=G, dtype=torch.float64),
               "bias_k": None, "bias_v": None},
    "static beside a bias": {"static_k": torch.zeros(N * HEADS, S, E // HEADS, dtype=torch.float64)}, "static of other sizes": {"static_v": torch.zeros(N, S, E, dtype=torch.float64), "bias_k": None, "bias_v": None},
    "separate": {"use_separate_proj_weight": True, "q_proj_weight": some(E, E), "k_proj_weight": some(E, E), "v_proj_weight": some(E, E)},
    "bad padding": {"key_padding_mask": torch.zeros(N, S + 1, dtype=torch.bool)}, "bad mask": {"attn_mask": torch.zeros(S, L, dtype=torch.float64)},
}


def attend(t, q, k, v, given):
    given = {"add_zero_attn": False, "training": False, **given}
    output, weights = t.nn.functional.multi_head_attention_forward(q, k, v, E, HEADS, dropout_p=0.0, **given)
    return [output] if weights is None else [output, weights]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name, single):
    given = {**WEIGHTS, **CASES[name]}
    names = list(given)
    inputs = [Q, K, V] if not single else [x[:, 0].detach().requires_grad_() for x in (Q, K, V)]
    if single and "key_padding_mask" in given:
        given["key_padding_mask"] = given["key_padding_mask"][0]
    if single and (given.get("attn_mask") is not None and given["attn_mask"].dim() == 3 or "static_k" in given):
        given = {k: v[:HEADS] if k in ("attn_mask", "static_k", "static_v") else v for k, v in given.items()}
    assert_same(lambda t, q, k, v, *rest: attend(t, q, k, v, dict(zip(names, rest))), *inputs, *given.values(), strides=False, order=1, what=name)


@pytest.mark.parametrize("extra", [{}, {"add_zero_attn": True}, {"bias_k": torch.ones(1, 1, 4), "bias_v": torch.ones(1, 1, 4), "add_zero_attn": True}])
def test_a_causal_hint_hides_what_is_added_too(extra):
    x, w = torch.randn(5, 2, 4), torch.randn(4, 4)
    given = {"training": False, "attn_mask": torch.zeros(5, 3, dtype=torch.bool), "is_causal": True, "need_weights": False,
             **{"bias_k": None, "bias_v": None, "add_zero_attn": False, **extra}}
    assert_same(lambda t, q, k, w, *rest: t.nn.functional.multi_head_attention_forward(
        q, k, k, 4, 2, t.cat([w, w, w]), None, dropout_p=0.0, out_proj_weight=w, out_proj_bias=None, **dict(zip(given, rest)))[0], x, x[:3], w, *given.values(), strides=False)


def test_a_mask_is_added_before_half_scores_overflow():
    q, k = torch.tensor([[[512.0, 0, 0, 0]]]).half(), torch.tensor([[[300.0, 0, 0, 0]], [[0.0, 1.0, 0, 0]]]).half()
    mask, w = torch.tensor([[-30000.0, 46792.0]]).half(), torch.eye(4).half()
    assert_same(lambda t, q, k, w, mask: t.nn.functional.multi_head_attention_forward(
        q, k, k, 4, 1, t.cat([w, w, w]), None, None, None, False, 0.0, w, None, attn_mask=mask), q, k, w, mask, strides=False, rtol=1e-2)


def test_it_is_one_op():
    assert any(op["name"] == "multi_head_attention" and op["kind"] == "composite" for op in weir.schema())

def test_the_output_is_projected_by_a_matrix():
    for t in (torch, weir):
        x, w = t.ones(5, 4), t.ones(12, 4)
        with pytest.raises(IndexError):
            t.nn.functional.multi_head_attention_forward(x, x, x, 4, 1, w, None, None, None, False, 0.0, w[0], None)
