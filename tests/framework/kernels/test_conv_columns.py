"""Convolutions in double precision, by columns and by loops, against PyTorch. Source: framework/kernels/cpu/conv_columns.h, conv_reference.h."""

import pytest
import torch
import weir
from twins import assert_same

# input, weight, arguments: lines, pictures, volumes; more windows than are written out at once; groups; a picture that the windows miss in part.
CALLS = [((2, 6, 30), (8, 6, 3), {"padding": 1}), ((2, 6, 9, 8), (4, 6, 3, 2), {"stride": 2, "padding": (1, 0)}), ((2, 8, 7, 9), (12, 4, 3, 3), {"groups": 2, "dilation": 2}),
         ((1, 3, 6, 5, 4), (4, 3, 2, 3, 2), {"padding": 1, "stride": (1, 2, 1)}), ((1, 64, 40, 33), (8, 64, 3, 3), {"padding": 1}), ((1, 8, 4000), (4, 8, 7), {"padding": 9, "stride": 3}),
         ((2, 6, 5, 5), (6, 1, 3, 3), {"groups": 6, "padding": 1}), ((1, 4, 3, 3), (4, 4, 3, 3), {"padding": 4, "stride": 5}), ((3, 16, 5, 5), (8, 16, 1, 1), {}),
         ((1, 2, 6, 5, 4), (2, 2, 1, 1, 1), {}), ((2, 6, 20, 20), (4, 3, 1, 1), {"groups": 2}), ((2, 3, 3, 3), (4, 3, 1, 1), {"padding": 1, "stride": 2})]


@pytest.mark.parametrize("size, weight, options", CALLS, ids=str)
@pytest.mark.parametrize("last", [False, True])
def test_values_and_gradients(size, weight, options, last):
    draw = torch.manual_seed(0)
    x, w, b = (torch.randn(s, generator=draw, dtype=torch.float64) for s in (size, weight, weight[:1]))
    if last and x.dim() in (4, 5):
        x, w = (t.to(memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d) for t in (x, w))
    x, w, b = (t.requires_grad_() for t in (x, w, b))
    name = f"conv{len(size) - 2}d"
    # Cosines of sums of hundreds, twice: another order of summing moves second derivatives by up to 9e-10.
    assert_same(lambda t, x, w, b: getattr(t.nn.functional, name)(x, w, b, **options), x, w, b, order=2, strides=False, rtol=1e-10, atol=2e-9)


def test_windows_of_one_place_over_several_parts_of_a_picture():
    draw = torch.manual_seed(0)
    x, w = (torch.randn(size, generator=draw, dtype=torch.float64) for size in ((2, 6, 160, 150), (4, 3, 1, 1)))
    assert_same(lambda t, x, w: t.nn.functional.conv2d(x, w, groups=2), x, w, rtol=1e-12)


def test_padding_is_multiplied_by_infinities():
    x, w = torch.ones(1, 4, 5, 5, dtype=torch.float64), torch.ones(4, 4, 3, 3, dtype=torch.float64)
    w[0, 0, 0, 0], w[1, 0, 2, 2] = float("inf"), float("nan")
    assert_same(lambda t, x, w: t.nn.functional.conv2d(x, w, padding=1), x, w, order=0)


def test_transposed():
    x, w = (torch.randn(s, generator=torch.manual_seed(1), dtype=torch.float64).requires_grad_() for s in ((2, 6, 5, 4), (6, 4, 3, 3)))
    assert_same(lambda t, x, w: t.nn.functional.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1), x, w, order=2, strides=False, rtol=1e-10, atol=1e-10)


def test_complex_numbers_are_four_of_them():
    x, w = (torch.randn(s, generator=torch.manual_seed(2), dtype=torch.complex128) for s in ((1, 6, 8), (4, 6, 3)))
    assert weir.allclose(weir.nn.functional.conv1d(weir.from_numpy(x.numpy()), weir.from_numpy(w.numpy())), weir.from_numpy(torch.nn.functional.conv1d(x, w).numpy()))


@pytest.mark.parametrize("size, weight, options", CALLS, ids=str)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_whole_numbers(size, weight, options, dtype):
    x, w = (torch.randint(-9, 9, s, generator=torch.manual_seed(3)).to(dtype) for s in (size, weight))
    assert_same(lambda t, x, w: getattr(t.nn.functional, f"conv{len(size) - 2}d")(x, w, **options), x, w, order=0, strides=False)
