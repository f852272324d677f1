"""Which precision autocast runs functions in, given low-precision inputs: PyTorch's answer is asked, not remembered."""

import pytest
import torch
import weir


def x(t, *size):
    return (t.arange(1, 1 + torch.Size(size).numel()).reshape(*size).float() / 50).clamp(0.05, 0.95).bfloat16()


def unpooled(t, rank):
    places = t.arange(2**rank).reshape(1, 1, *(2,) * rank).expand(1, 2, *(2,) * rank)
    return getattr(t.nn.functional, f"max_unpool{rank}d")(x(t, 1, 2, *(2,) * rank), places, 2)


def padded(t, rank, mode):
    return t.nn.functional.pad(x(t, 1, 2, *(3,) * rank), (1, 1) * rank, mode=mode)


LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
          "kl_div", "poisson_nll_loss", "hinge_embedding_loss", "soft_margin_loss", "cross_entropy", "multilabel_soft_margin_loss")
POOLS = [f"{kind}_pool{rank}d" for kind in ("avg", "max", "adaptive_avg", "adaptive_max") for rank in (1, 2, 3)]
CALLS = {
    **{name: lambda t, name=name: getattr(t.nn.functional, name)(x(t, 3, 4), x(t, 3, 4)) for name in LOSSES},
    **{name: lambda t, name=name: getattr(t.nn.functional, name)(x(t, 1, 2, *(4,) * int(name[-2])), 2) for name in POOLS},
    **{f"max_unpool{rank}d": lambda t, rank=rank: unpooled(t, rank) for rank in (1, 2, 3)},
    **{f"pad {mode} {rank}": lambda t, mode=mode, rank=rank: padded(t, rank, mode)
       for mode in ("constant", "reflect", "replicate", "circular") for rank in (1, 2, 3)},
    "nll_loss": lambda t: t.nn.functional.nll_loss(x(t, 3, 4), t.zeros(3, dtype=t.int64)),
    "multi_margin_loss": lambda t: t.nn.functional.multi_margin_loss(x(t, 3, 4), t.zeros(3, dtype=t.int64)),
    "multilabel_margin_loss": lambda t: t.nn.functional.multilabel_margin_loss(x(t, 3, 4), t.zeros(3, 4, dtype=t.int64)),
    "margin_ranking_loss": lambda t: t.nn.functional.margin_ranking_loss(x(t, 3), x(t, 3), x(t, 3)),
    "cosine_embedding_loss": lambda t: t.nn.functional.cosine_embedding_loss(x(t, 3, 4), x(t, 3, 4), t.ones(3).bfloat16()),
    "triplet_margin_loss": lambda t: t.nn.functional.triplet_margin_loss(x(t, 3, 4), x(t, 3, 4), x(t, 3, 4)),
    "grid_sample": lambda t: t.nn.functional.grid_sample(x(t, 1, 1, 3, 3), x(t, 1, 2, 2, 2), align_corners=False),
    "prod": lambda t: x(t, 3, 4).prod(),
    "prod over an axis": lambda t: x(t, 3, 4).prod(0),
    "trace": lambda t: t.trace(x(t, 3, 3)),
    "cdist": lambda t: t.cdist(x(t, 3, 4), x(t, 3, 4)),
    "quantile": lambda t: t.quantile(x(t, 3, 4), 0.5),
    "cholesky": lambda t: t.cholesky(t.eye(3).bfloat16()),
    "cross": lambda t: t.linalg.cross(x(t, 3, 3), x(t, 3, 3)),
    "block_diag": lambda t: t.block_diag(x(t, 2, 2), x(t, 2, 2).float()),
    "addbmm": lambda t: t.addbmm(x(t, 3, 3).float(), x(t, 2, 3, 3), x(t, 2, 3, 3)),
    "softmax": lambda t: t.nn.functional.softmax(x(t, 3, 3), 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_autocast_chooses_pytorchs_precision(name):
    def dtype(t):
        with t.autocast("cpu", dtype=t.bfloat16):
            return str(CALLS[name](t).dtype)

    assert dtype(weir) == dtype(torch)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("view", [False, True])
def test_casts_of_leaves_are_shared_as_pytorch_shares_them(dtype, view):
    numbers = [0.2988, -0.2741, -0.8906, -0.4545, -0.9917, 0.0601, 1.3398, -0.4921, -0.6206]

    def gradient(t):
        leaf = t.tensor([0.0, *numbers], dtype=getattr(t, dtype)).as_strided((3, 3), (3, 1), 1)
        leaf = (leaf if view else leaf.clone()).requires_grad_()
        with t.autocast("cpu", dtype=t.bfloat16):
            y = t.matmul(leaf, leaf)
        return t.autograd.grad(y, leaf, t.ones_like(y))[0].tolist()

    assert gradient(weir) == gradient(torch)


def test_norms_of_half_precision_do_not_overflow_on_the_way():
    for dtype in ("float16", "bfloat16"):
        expected, actual = (float(t.linalg.vector_norm(t.full((4,), 100.0, dtype=getattr(t, dtype)), 3)) for t in (torch, weir))
        assert actual == expected


def test_layer_norm_of_a_whole_tensor_is_differentiated_twice():
    def second(t):
        v = t.arange(6.0).reshape(1, 2, 3).requires_grad_()
        w = t.ones(1, 2, 3, requires_grad=True)
        y = t.nn.functional.layer_norm(v, (1, 2, 3), w)
        g, = t.autograd.grad((y * y * y).sum(), v, create_graph=True)
        return [r.tolist() for r in t.autograd.grad((g * g).sum(), (v, w))]

    for e, a in zip(second(torch), second(weir)):
        assert weir.allclose(weir.tensor(a), weir.tensor(e), rtol=1e-3, atol=1e-4)
