"""Products of bfloat16 in the layouts and sizes that take AMX's tiles where a CPU has them; elsewhere the ordinary kernels must pass too."""

import numpy as np
import pytest
import weir
import weir.nn.functional as F

RNG = np.random.default_rng(0)


def draw(*shape):
    """Returns numbers that bfloat16 holds, as a tensor of it and in double precision."""
    x = weir.from_numpy(RNG.standard_normal(shape).astype(np.float32)).bfloat16()
    return x, x.double().numpy()


def assert_close(got, expected):
    """One rounding to bfloat16, and sums in single precision."""
    np.testing.assert_allclose(got.double().numpy(), expected, rtol=2**-8, atol=2**-8 * np.abs(expected).max())


@pytest.mark.parametrize("n, m, p", [(256, 256, 1024), (257, 300, 1024), (1024, 511, 1024), (300, 1000, 2048)])
@pytest.mark.parametrize("bias", [False, True])
def test_rows_of_the_right_factor_that_share_sets_of_the_cache(n, m, p, bias):
    (a, a64), (w, w64), (b, b64) = draw(n, m), draw(m, p), draw(p)
    assert_close(weir.addmm(b, a, w) if bias else a @ w, a64 @ w64 + (b64 if bias else 0))


@pytest.mark.parametrize("m, p", [(256, 256), (511, 259)])
def test_columns_of_the_left_factor_and_any_right_one(m, p):
    (a, a64), (w, w64), (t, t64) = draw(m, 1024), draw(m, p), draw(p, m)
    assert_close(a.T @ w, a64.T @ w64)
    assert_close(a.T @ t.T, a64.T @ t64.T)


def test_batches_keep_their_factors_apart():
    (a, a64), (w, w64) = draw(7, 260, 256), draw(7, 256, 1024)
    assert_close(weir.bmm(a, w), a64 @ w64)


def test_infinities_and_nan_pass():
    a, w = draw(256, 256)[0], draw(256, 1024)[0]
    a[3, 5], a[4, 5] = float("inf"), float("nan")
    y = a @ w
    assert y[3].isinf().all() and y[4].isnan().all() and y[5:].isfinite().all()


@pytest.mark.parametrize("heads, groups, queries, keys, width, values", [
    (3, 3, 64, 64, 64, 64), (2, 1, 70, 300, 40, 40), (4, 2, 1, 257, 64, 32), (2, 2, 513, 513, 80, 80), (1, 1, 33, 5, 8, 8)])
@pytest.mark.parametrize("kind", ["plain", "causal", "mask", "negative scale"])
def test_attention(heads, groups, queries, keys, width, values, kind):
    (q, q64), (k, k64), (v, v64) = draw(2, heads, queries, width), draw(2, groups, keys, width), draw(2, groups, keys, values)
    allowed = np.tri(queries, keys, dtype=bool) if kind == "causal" else RNG.random((queries, keys)) > 0.3 if kind == "mask" else np.ones((queries, keys), bool)
    allowed[:, 0] = True
    scale = -0.3 if kind == "negative scale" else width**-0.5
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=weir.from_numpy(allowed) if kind == "mask" else None, is_causal=kind == "causal", scale=scale,
                                       enable_gqa=heads != groups)
    k64, v64 = (np.repeat(x, heads // groups, 1) for x in (k64, v64))
    scores = np.where(allowed, q64 @ np.swapaxes(k64, 2, 3) * scale, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    expected = shares / shares.sum(-1, keepdims=True) @ v64
    np.testing.assert_allclose(y.double().numpy(), expected, rtol=2**-6, atol=2**-6)


@pytest.mark.parametrize("heads, groups, queries, keys, width, values", [(2, 2, 64, 64, 64, 64), (4, 2, 70, 300, 40, 24), (1, 1, 300, 513, 80, 80), (2, 1, 1, 5, 8, 8)])
@pytest.mark.parametrize("kind", ["plain", "causal", "mask"])
def test_gradients_of_attention(heads, groups, queries, keys, width, values, kind):
    mask = weir.from_numpy(RNG.standard_normal((1, heads, queries, keys)).astype(np.float32)).bfloat16() if kind == "mask" else None
    given = [draw(2, heads, queries, width)[0], draw(2, groups, keys, width)[0], draw(2, groups, keys, values)[0]]
    dy = draw(2, heads, queries, values)[0]

    def gradients(dtype):
        inputs = [x.to(dtype).requires_grad_() for x in given]
        y = F.scaled_dot_product_attention(*inputs, attn_mask=mask if mask is None else mask.to(dtype), is_causal=kind == "causal", enable_gqa=heads != groups)
        return weir.autograd.grad(y, inputs, dy.to(dtype))
    for got, expected in zip(gradients(weir.bfloat16), gradients(weir.float64)):
        expected = expected.numpy()
        floor = 0 if expected.any() else 1e-6  # where every query sees one key, its gradient is what two sums of the same numbers differ by
        np.testing.assert_allclose(got.double().numpy(), expected, rtol=2**-5, atol=2**-6 * np.abs(expected).max() + floor)
