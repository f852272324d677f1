"""Ops under the names of PyTorch's kernels against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

G = torch.Generator().manual_seed(0)
X = torch.randn(2, 4, 5, generator=G, requires_grad=True)
W, B = torch.rand(4, generator=G, requires_grad=True), torch.randn(4, generator=G, requires_grad=True)
CALLS = {
    "group": lambda t, x, w, b: t.native_group_norm(x, w, b, 2, 4, 5, 2, 1e-5)[0],
    "group alone": lambda t, x, w, b: t.native_group_norm(x, None, None, 2, 4, 5, 4, 1e-5)[0],
    "layer": lambda t, x, w, b: t.native_layer_norm(x.transpose(1, 2), (4,), w, b, 1e-5),
    "batch": lambda t, x, w, b: t.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5),
    "legit": lambda t, x, w, b: t._native_batch_norm_legit(x, w, b, t.zeros(4), t.ones(4), True, 0.1, 1e-5),
    "legit evaluation": lambda t, x, w, b: t._native_batch_norm_legit(x, w, b, t.zeros(4), t.ones(4), False, 0.1, 1e-5),
    "no stats": lambda t, x, w, b: t._native_batch_norm_legit(x, w, b, True, 0.1, 1e-5),
    "update": lambda t, x, w, b: t.ops.aten._batch_norm_with_update(x, w, b, t.zeros(4), t.ones(4), 0.1, 1e-5),
    "softmax": lambda t, x, w, b: t._softmax_backward_data(x, x.softmax(1), 1, t.float32),
    "softmax of double precision": lambda t, x, w, b: t._softmax_backward_data(x.double(), x.softmax(1).double(), 1, t.float32),
    "softmax of halves": lambda t, x, w, b: t._softmax_backward_data(x.detach().bfloat16(), x.detach().softmax(1).bfloat16(), 1, t.float32),
    "no softmax to halves": lambda t, x, w, b: t._softmax_backward_data(x, x.softmax(1), 1, t.float16),
    "safe softmax": lambda t, x, w, b: t.ops.aten._safe_softmax(x.masked_fill(x > 0.5, -float("inf")), 2),
    "dropout": lambda t, x, w, b: t.ops.aten.native_dropout_backward(x, x > 0, 2.0),
    "resized": lambda t, x, w, b: t.ops.aten._upsample_bilinear2d_aa(x[None], [3, 2], False), "larger": lambda t, x, w, b: t.ops.aten._upsample_bilinear2d_aa(x[None], [9, 7], True),
    "all dropped": lambda t, x, w, b: t.native_dropout(x, 1.0, True), "kept": lambda t, x, w, b: t.native_dropout(x, 0.0, None), "evaluation": lambda t, x, w, b: t.native_dropout(x, 0.5, False),
    "nothing dropped": lambda t, x, w, b: t.native_dropout(x[:0], 0.5, True), "complex": lambda t, x, w, b: t.native_dropout(t.complex(x, x), 0.5, True),
    "chunks": lambda t, x, w, b: t._chunk_cat([x, x[:, :3]], 1, 2), "no chunks": lambda t, x, w, b: t._chunk_cat([x], 0, 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    assert_same(CALLS[name], X, W, B, order=1, what=name)


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.bfloat16))
@pytest.mark.parametrize("given", (False, True))
def test_equal_numbers_without_eps_are_normalised_to_zeros(dtype, given):
    x = torch.full((2, 4, 5), 0.5, dtype=dtype).requires_grad_()
    stats = (lambda t: (t.ones(4, dtype=getattr(t, str(dtype)[6:])),) * 2) if given else lambda t: (None, None)
    assert_same(lambda t, x: t.batch_norm(x, None, None, *stats(t), not given, 0.1, 0.0, False), x, order=1)


def test_statistics_are_of_the_parameters_type():
    x, w, b = X.detach().bfloat16(), W.detach(), B.detach()
    for call in (CALLS["layer"], lambda t, x, w, b: t.native_group_norm(x, w, b, 2, 4, 5, 2, 1e-5)):
        assert_same(call, x, w.bfloat16(), b.bfloat16(), rtol=2e-2, atol=2e-2)
        assert_same(call, x, w, b, rtol=2e-2, atol=2e-2)


def test_max_pool_backward():
    def pooled(t, x):
        y, index = t.nn.functional.max_pool2d(x, 2, return_indices=True)
        return t.ops.aten.max_pool2d_with_indices_backward(y * 2, x, [2, 2], [2, 2], [0, 0], [1, 1], False, index)

    assert_same(pooled, torch.randn(2, 3, 6, 4, generator=G))
    assert_same(pooled, torch.randn(3, 6, 4, generator=G))

    def of_constants(t, x):
        y, index = t.nn.functional.max_pool2d(x.detach(), 2, return_indices=True)
        return t.ops.aten.max_pool2d_with_indices_backward(y * 2, x, [2, 2], [2, 2], [0, 0], [1, 1], False, index)

    assert_same(of_constants, torch.randn(2, 3, 6, 4, generator=G).requires_grad_())  # the input's gradient is zeros, not none


@pytest.mark.parametrize("size, dtype", [((1,), "int64"), ((7, 3, 2), "int64"), ((2, 3, 3, 2), "int64"), ((3, 3, 2), "float32")])
def test_max_pool_backward_of_what_is_no_gradient_of_its_input(size, dtype):
    def refused(t):
        grad, x, index = t.ones(size), t.ones(3, 6, 4), t.zeros(size, dtype=getattr(t, dtype))
        with pytest.raises(RuntimeError, match="(?i)expected"):
            t.ops.aten.max_pool2d_with_indices_backward(grad, x, [2, 2], [2, 2], [0, 0], [1, 1], False, index)
    refused(torch), refused(weir)


def test_running_statistics_are_written():
    mean, var = weir.zeros(4), weir.ones(4)
    weir._native_batch_norm_legit(weir.ones(2, 4), None, None, mean, var, True, 0.5, 1e-5)
    assert mean.tolist() == [0.5] * 4 and var.tolist() == [0.5] * 4


@pytest.mark.parametrize("dtype, size", [("int64", 0), ("float64", 2), ("float32", 1)])
def test_statistics_of_nothing_leave_their_out_alone(dtype, size):
    seen = []
    for t in (torch, weir):
        x, w, saved = t.ones(0, 2, 3), t.ones(2), t.full((size,), 7, dtype=getattr(t, dtype))
        t.native_batch_norm(x, w, None, t.zeros(2), w, False, 0.5, 1e-3, out=(t.empty(0, 2, 3), saved, t.empty(0)))
        seen.append((str(saved.dtype).split(".")[1], saved.tolist()))
    assert seen[0] == seen[1] == (dtype, [7] * size)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("place", [1, 2])
@pytest.mark.parametrize("dtype, size", [("float32", 0), *((dtype, size) for dtype in ("float32", "float64", "bfloat16", "int64", "bool") for size in (2, 3))])
@pytest.mark.filterwarnings("ignore")
def test_statistics_that_are_not_taken_leave_an_out_of_their_dtype_alone(dtype, size, place, training):
    def saved(t, x):
        out = [t.empty(0), t.empty(0), t.empty(0)]
        out[place] = t.ones(size, dtype=getattr(t, dtype))
        t.native_batch_norm(x, None, None, t.zeros(4), t.ones(4), training, 0.5, 1e-3, out=tuple(out))
        return out

    assert_same(saved, X.detach())


def test_dropout_of_no_conjugate_numbers_is_another_tensor():
    for t in (torch, weir):
        x = t.ones(0, dtype=t.complex64)
        assert t.native_dropout(x, 0.5, True)[0] is x and t.native_dropout(x.conj(), 0.5, True)[0].is_conj() is False


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shapes", [((6,), (4,), (4,), (4,)), ((4,), (4, 2), (4,), (4,)), ((5,), (7,), (9,), (6,)), ((4,), (3,), (4,), (4,))])
def test_parameters_of_more_channels_than_there_are(shapes, training):
    if shapes[1] == (3,):  # PyTorch reads what lies behind them
        with pytest.raises(RuntimeError):
            weir.native_batch_norm(weir.ones(2, 4, 5), *map(weir.ones, shapes), training, 0.5, 1e-5)
        return

    def normalised(t, x, *parameters):
        statistics = [p.detach().clone() for p in parameters[2:]]
        return *t.native_batch_norm(x, *parameters[:2], *statistics, training, 0.5, 1e-5)[:1 + 2 * training], *statistics

    assert_same(normalised, X, *(torch.rand(s, generator=G, requires_grad=i < 2) for i, s in enumerate(shapes)), order=1)


LAYOUTS = {"rows": lambda t, x: x, "channels last": lambda t, x: x[..., None].to(memory_format=t.channels_last), "steps": lambda t, x: x[..., ::2],
           "permuted": lambda t, x: x.transpose(0, 1).contiguous().transpose(0, 1), "repeated": lambda t, x: x[:1].expand(2, 4, 5)}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("weight, mean", [(4, 4), (6, 4), (4, 6)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_more_parameters_than_channels_are_refused_beside_memory_that_is_not_dense(layout, weight, mean, training):
    def normalised(t, x):
        return t.native_batch_norm(LAYOUTS[layout](t, x), t.ones(weight), None, t.zeros(mean), t.ones(mean), training, 0.5, 1e-5)[0]

    assert_same(normalised, X.detach(), what=layout)


@pytest.mark.parametrize("given", ["weight", "bias", "mean", "var"])
@pytest.mark.parametrize("size", [4, 6])
def test_more_parameters_than_channels_are_refused_where_these_are_not_dense(given, size):
    def normalised(t, x):
        parameters = {name: t.ones(2 * size)[::2] if name == given else t.ones(4) for name in ("weight", "bias", "mean", "var")}
        return t.native_batch_norm(x, *parameters.values(), False, 0.5, 1e-5)[0]

    assert_same(normalised, X.detach(), what=given)
