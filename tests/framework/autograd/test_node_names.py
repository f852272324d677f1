"""node_names.h: nodes that programs print have PyTorch's names."""
import pytest
import torch
import weir


@pytest.mark.parametrize("call", [
    "F.linear(x, w, b)", "F.linear(x, w)", "F.linear(x[None], w, b)", "F.linear(x[None], w)", "x[t.tensor([0])]", "x.norm()", "F.layer_norm(x, (3,))", "t.log1p(x)",
    "t.fft.rfft(x)", "t.fft.fft(x * 1j)", "F.mse_loss(x, x * 2, reduction='none')", "F.max_pool2d(x[None, None], 1)", "F.logsigmoid(x)", "t.deg2rad(x)",
    "F.adaptive_avg_pool2d(x[None, None], 2)", "F.batch_norm(x, None, None, training=True)", "t.linalg.svdvals(x)", "F.group_norm(x, 1)", "F.conv1d(x[None], w[:2, :2, None])",
    "F.nll_loss(x[:, :, None, None], t.zeros(2, 1, 1, dtype=t.int64))", "t.nn.Sequential(t.nn.Linear(3, 2), t.nn.ReLU())(x)", "t.linalg.solve_triangular(x[:, :2], x, upper=True)"])
def test_names(call):
    def name(t):
        return eval(call, {"t": t, "F": t.nn.functional, "x": t.ones(2, 3, requires_grad=True), "w": t.ones(4, 3), "b": t.ones(4)}).grad_fn.name()
    assert name(weir) == name(torch)
