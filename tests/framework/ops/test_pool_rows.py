"""Max pools of short rows, whose columns are gone through one by one."""
import itertools
import math

import pytest
import torch

import weir

NUMBERS = [1.0, math.nan, -math.inf, 2.0, -3.0, math.inf, 0.0, -math.inf, 0.5, 2.0, -0.25]


@pytest.mark.parametrize("width", [1, 2, 3, 5, 16, 17])
@pytest.mark.parametrize("kernel, stride, padding, dilation", [(2, 1, 0, 1), (3, 2, 1, 1), (3, 1, 1, 2), (2, 3, 1, 3), (1, 1, 0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_numbers_and_places_are_pytorchs(width, kernel, stride, padding, dilation, dtype):
    words = dict(kernel_size=(1, kernel), stride=(1, stride), padding=(0, padding), dilation=(1, dilation), ceil_mode=True, return_indices=True)
    data = list(itertools.islice(itertools.cycle(NUMBERS), 2 * 3 * width * stride))
    data = [max(-9, min(9, x)) if x == x else 4 for x in data] if dtype == "int64" else data
    results = []
    for t in (torch, weir):
        x = t.tensor(data, dtype=getattr(t, dtype)).reshape(1, 2, 3, width * stride)
        try:
            results.append([r.tolist() for r in t.nn.functional.max_pool2d(x, **words)])
        except RuntimeError:
            results.append("refused")
    assert str(results[0]) == str(results[1])
