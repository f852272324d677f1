"""Questions with one answer, against PyTorch: a bool of Python's, or the same refusal."""

import pytest
import torch
import weir
from twins import to_weir

X = torch.arange(12.0).reshape(3, 4)
CALLS = """equal(x, x)|equal(x, x[:1])|equal(x, 1)|equal(x.long(), x)|equal(x * float("nan"), x * float("nan"))|equal(x, other=x)|equal(x[:0], x[:0])|equal(x, x + 1)
allclose(x, x)|allclose(x, x + 1)|allclose(x, x.double())|allclose(x, x[:1])|allclose(x, x + 1, rtol=1)|allclose(x, 3)|equal(x, x, out=x)
allclose(x * float("nan"), x * float("nan"), equal_nan=True)|clone(x).equal(x)|clone(x).allclose(x)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    def answer(t, x):
        try:
            return eval(f"t.{text}", {"t": t, "x": x})
        except Exception as e:
            return type(e)

    expected, actual = answer(torch, X), answer(weir, to_weir(X))
    assert actual is expected, text
