"""Dropout of channels against PyTorch: the same draws, values, gradients and refusals."""

import pytest
import torch
import weir
from twins import assert_same

X = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
CALLS = """feature_dropout(x, 0.5, True)|feature_dropout(x, 1.0, True)|feature_dropout(x, 2.0, True)|feature_dropout(x[0, 0], 0.5, True)|feature_dropout_(x.clone(), 0.5, True)
alpha_dropout(x, 0.5, True)|alpha_dropout(x, 0.3, False)|alpha_dropout_(x.clone(), 0.4, True)|feature_alpha_dropout(x, 0.4, True)|feature_alpha_dropout_(x.clone(), 0.4, True)
nn.functional.dropout1d(x[0], 0.4)|nn.functional.dropout1d(x.clone(), 0.4, True, True)|nn.functional.dropout2d(x[..., None], 0.4)|nn.functional.dropout3d(x[..., None], 0.4)
nn.functional.alpha_dropout(x, 0.4, True)|nn.functional.feature_alpha_dropout(x, 0.4, True)|nn.functional.dropout2d(x[..., None], 1.0)|nn.functional.dropout2d(x, -1)
nn.functional.alpha_dropout(x, 1.5)|nn.functional.dropout1d(x, 0.4, True, True)|nn.functional.dropout1d(x[0].clone(), 0.4, True, True)|alpha_dropout(x.transpose(0, 1), 0.5, True)
feature_dropout(x.transpose(0, 1), 0.5, True)|feature_dropout(x.bfloat16(), 0.4, True)|alpha_dropout(x[:0], 0.4, True)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    def call(t, x):
        t.manual_seed(3)
        return eval(f"t.{text}", {"t": t, "x": x})

    assert_same(call, X, what=text)


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout"])
def test_whole_numbers_are_not_shifted(t, name):
    with pytest.raises(RuntimeError, match="can't be cast"):
        getattr(t, name)(t.ones(2, 4, dtype=t.int64), 0.5, True)
