"""Calls that generated cases found different from PyTorch in how their results lie in memory, or in what they write."""

import pytest
import torch
import weir
from twins import assert_same

V, M = torch.tensor([0.5, -1.0, 2.0]), torch.arange(48.0).reshape(4, 12)
LAYOUTS = [((2, 2, 1), (1, 2, 4)), ((3, 1), (1, 5)), ((2, 3), (1, 2)), ((2, 1, 2), (1, 2, 2)), ((2, 3, 2), (0, 2, 1)), ((1, 1), (7, 5))]


def laid(t, m, at):
    return t.as_strided(m / 48, *LAYOUTS[at])


EACH = range(len(LAYOUTS))
CALLS = {
    **{f"{name} of layout {at}": lambda t, v, m, at=at, name=name: getattr(t.nn.functional, name)(laid(t, m, at)) for at in EACH
       for name in ("logsigmoid", "softsign", "tanhshrink", "softplus")},
    **{f"prelu of layout {at}": lambda t, v, m, at=at: t.prelu(laid(t, m, at) - 0.5, v[0]) for at in EACH},
    **{f"{name} of layout {at}, turned {turned}": lambda t, v, m, at=at, name=name, turned=turned: getattr(t.nn.functional, name)(
        *(laid(t, m, at), t.ones(LAYOUTS[at][0]) / 2)[::-1 if turned else 1], reduction="none") for at in EACH for turned in (False, True)
       for name in ("binary_cross_entropy_with_logits", "poisson_nll_loss")},
    **{f"full poisson of layout {at}": lambda t, v, m, at=at: t.poisson_nll_loss(t.ones(LAYOUTS[at][0]), laid(t, m, at), False, True, 1e-5, 0) for at in EACH},
    **{f"turned {k} times, layout {at}": lambda t, v, m, at=at, k=k: t.rot90(laid(t, m, at), k) for at in EACH for k in (1, 2, 3, 4)},
    **{f"repeated {n} times": lambda t, v, m, n=n: t.repeat_interleave(m.reshape(1, 2, 2, 3, 4).to(memory_format=t.channels_last_3d), n, 1) for n in (1, 2)},
    **{f"truths of any bytes, op {op}": lambda t, v, m, op=op: getattr(t, op)(
        t.arange(16, dtype=t.uint8).view(t.bool).as_strided((2, 2, 2, 2), (8, 0, 2, 1)), (m > 3).as_strided((2, 2, 2, 2), (8, 1, 4, 2)))
       for op in ("gt", "maximum", "logical_xor")},
    **{f"matmul of {a} and {b}": lambda t, v, m, a=a, b=b: t.matmul(t.ones(a, requires_grad=True), t.ones(b))
       for a in ((5, 4), (1, 4)) for b in ((3, 4, 1), (3, 4, 2), (2, 3, 4, 1))},
    **{f"norm {p} over {dim}": lambda t, v, m, p=p, dim=dim: t.linalg.matrix_norm(m.reshape(4, 3, 4), p, dim, True)
       for p in ("nuc", "fro", 2, -2, 1) for dim in ((0, 1), (2, 0), (-2, -1))},
    **{f"dropout{n}d of {size}, kept": lambda t, v, m, n=n, size=size: getattr(t.nn.functional, f"dropout{n}d")(m[:3, :size], training=False) * 1
       for n in (1,) for size in (2, 0)},
    **{f"margin ranking of layout {at}": lambda t, v, m, at=at: t.margin_ranking_loss(t.ones(3, 1, 1, 1), laid(t, m, at), laid(t, m, at), 1.0, 0) for at in EACH},
    **{f"loss of weights, layout {at}": lambda t, v, m, at=at: t.binary_cross_entropy_with_logits(laid(t, m, at), laid(t, m, at), weight=t.ones(LAYOUTS[at][0]), reduction=0)
       for at in (0, 2, 3)},
    **{f"volumes of {size} in strides {strides}, pooled to {to}": lambda t, v, m, size=size, strides=strides, to=to: t.nn.functional.adaptive_avg_pool3d(
        m.as_strided(size, strides), to) for size, strides in (((2, 1, 2, 3, 2), (12, 1, 6, 2, 1)), ((2, 2, 2, 3, 2), (24, 1, 12, 4, 2)))
       for to in (1, (1, 1, 3), 2)},
    **{f"batches of {size} in strides {strides}, {training}": lambda t, v, m, size=size, strides=strides, training=training: t.batch_norm(
        m.as_strided(size, strides), None, None, t.ones(size[1]), t.ones(size[1]), training, 0.1, 0.1, False)
       for size, strides in (((2, 1, 3, 2), (6, 1, 2, 1)), ((3, 3, 1, 1), (3, 1, 3, 3)), ((2, 2, 3, 2), (12, 1, 4, 2))) for training in (True, False)},
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_as_pytorch(name):
    assert_same(CALLS[name], V, M, rtol=1e-5, order=0, what=name)


@pytest.mark.parametrize("t", (torch, weir))
def test_features_that_are_kept_are_a_view_of_the_input(t):
    x = t.ones(2, 3)
    for n in (1, 3):
        kept = getattr(t.nn.functional, f"dropout{n}d")(x if n == 1 else t.ones(2, 1, 1, 3), training=False)
        assert kept is not x and kept._is_view()


@pytest.mark.parametrize("sizes", [(257, 24), (24, 257), (6, 2), (7, 7), (3, 1)])
@pytest.mark.parametrize("wrap", (True, False))
def test_diagonals_are_filled_as_by_pytorch(sizes, wrap):
    filled = [t.zeros(*sizes).fill_diagonal_(3, wrap=wrap) for t in (torch, weir)]
    assert filled[0].tolist() == filled[1].tolist() and filled[0]._version == filled[1]._version
    turned = [t.zeros(*sizes[::-1]).t().fill_diagonal_(3, wrap=False) for t in (torch, weir)]
    assert turned[0].tolist() == turned[1].tolist()


FOURIER = [((2, 2, 2, 2), (0, 4, 2, 1)), ((2, 1, 1, 4, 5), (0, 20, 20, 5, 1)), ((3, 4), (0, 1)), ((2, 3), (8, 2))]


@pytest.mark.parametrize("name", ("fft", "ifft", "rfft", "ihfft", "fftn"))
@pytest.mark.parametrize("geometry", FOURIER)
def test_transforms_of_real_numbers_that_repeat_or_have_gaps(name, geometry):
    shown = [getattr(t.fft, name)(t.arange(48.0).as_strided(*geometry)) for t in (torch, weir)]
    assert shown[0].stride() == shown[1].stride()
    assert_same(lambda t, v, m: getattr(t.fft, name)(m.reshape(-1).as_strided(*geometry)), V, M, rtol=1e-5, order=0)


@pytest.mark.parametrize("dim", range(4))
@pytest.mark.parametrize("edge_order", (1, 2))
@pytest.mark.parametrize("conjugate", (False, True))
def test_slopes_of_channels_last(dim, edge_order, conjugate):
    def strides(t):
        x = t.ones(3, 4, 3, 5, dtype=t.complex64 if conjugate else t.float32).to(memory_format=t.channels_last)
        return t.gradient(x.conj() if conjugate else x, dim=[dim], edge_order=edge_order)[0].stride()

    assert strides(weir) == strides(torch)


@pytest.mark.parametrize("geometry", [((2, 2, 1), (2, 1, 2)), ((2, 2, 1, 2, 2), (8, 1, 8, 4, 2))])
def test_normal_around_what_requires_grad_is_row_major(geometry):
    drawn = [t.normal(t.rand(16).as_strided(*geometry).requires_grad_(), 1.0) for t in (torch, weir)]
    assert drawn[0].stride() == drawn[1].stride()


@pytest.mark.parametrize("geometry", [((1, 2), (1, 1)), ((1, 2, 2, 2), (8, 1, 4, 2)), ((2, 1, 2, 2), (4, 1, 2, 1))])
@pytest.mark.parametrize("needs", (True, False))
def test_an_input_that_a_function_hands_back_is_viewed_in_its_own_shape(geometry, needs):
    def strides(t):
        class Same(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x

            @staticmethod
            def backward(ctx, g):
                return g

        return Same.apply(t.arange(16.0).as_strided(*geometry).requires_grad_(needs)).stride()

    assert strides(weir) == strides(torch)


def test_threshold_in_place_where_elements_share_memory():
    results = [t.nn.functional.threshold_(t.arange(4.0).expand(3, 4), 1.5, -1.0).tolist() for t in (torch, weir)]
    assert results[0] == results[1]


@pytest.mark.parametrize("strides", [(5, 1, 5, 5), (10, 2, 10, 10), (0, 1, 5, 5), (1, 3, 15, 15), (2, 6, 1, 1)])
@pytest.mark.parametrize("call", [lambda t, x: t.clamp_max(x, 4), lambda t, x: t.clamp(x, 1), lambda t, x: t.pow(x, 2), lambda t, x: t.clamp(x.int(), max=4.5),
                                  lambda t, x: t.pow(x.int(), 2)])
def test_what_is_cast_on_the_way_has_lost_its_gaps(call, strides):
    ours, theirs = (call(t, t.zeros(200, dtype=t.bool).as_strided((3, 5, 1, 1), strides)) for t in (weir, torch))
    assert ours.stride() == theirs.stride()


@pytest.mark.parametrize("strides", [(4, 1, 2, 2, 1), (1, 1, 2, 4, 4), (8, 3, 4, 1, 2), (0, 1, 2, 2, 1), (8, 8, 4, 4, 2)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_mantissas_and_exponents_lie_as_the_numbers(dtype, strides):
    results = [t.frexp(t.arange(40.0).to(getattr(t, dtype)).as_strided((2, 1, 2, 1, 2), strides)) for t in (weir, torch)]
    assert [r.stride() for r in results[0]] == [r.stride() for r in results[1]]
