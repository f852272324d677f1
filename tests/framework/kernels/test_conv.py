"""framework/kernels/cpu/conv.cpp: gradients whatever layout oneDNN is given, and its blocks of weights (weight_blocks.h), against PyTorch."""

import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir

SHAPES = {  # input, weight, stride, groups
    "3x3, many products": ((2, 96, 9, 7), (80, 96, 3, 3), 1, 1),
    "3x3, few": ((2, 8, 9, 7), (8, 8, 3, 3), 1, 1),
    "strided": ((2, 64, 9, 8), (48, 64, 3, 3), 2, 1),
    "grouped": ((2, 64, 6, 6), (64, 16, 3, 3), 1, 4),
    "depthwise": ((2, 32, 6, 6), (32, 1, 3, 3), 1, 32),
    "1x1, many products": ((2, 300, 5, 5), (300, 300, 1, 1), 1, 1),
    "1x1, few": ((2, 32, 5, 5), (24, 32, 1, 1), 1, 1),
    "1x1, strided": ((2, 32, 6, 6), (24, 32, 1, 1), 2, 1),
    "odd channels": ((2, 37, 6, 6), (131, 37, 3, 3), 1, 1),
    "pictures": ((2, 3, 20, 20), (16, 3, 7, 7), 2, 1),
}
LAYOUTS = ("contiguous_format", "channels_last")


@pytest.mark.parametrize("weight_layout", LAYOUTS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SHAPES)
def test_gradients_in_every_layout(name, layout, weight_layout):
    shape, weight, stride, groups = SHAPES[name]
    torch.manual_seed(0)
    x, w = torch.randn(shape), torch.randn(weight)
    dy = torch.randn_like(torch.conv2d(x, w, None, stride, weight[2] // 2, 1, groups))

    def run(framework, x, w, dy):
        x, w, dy = (t.contiguous(memory_format=getattr(framework, f)) for t, f in ((x, layout), (w, weight_layout), (dy, layout)))
        x, w = x.requires_grad_(), w.requires_grad_()
        y = framework.conv2d(x, w, None, stride, weight[2] // 2, 1, groups)
        return y, framework.autograd.grad(y, (x, w), dy)

    (y, grads), (y2, grads2) = run(torch, x, w, dy), run(weir, *to_weir((x, w, dy)))
    for got, expected in zip((y2, *grads2), (y, *grads)):
        assert_close(got, expected, rtol=1e-4, atol=2e-3)
    assert y2.stride() == y.stride() and grads2[0].stride() == grads[0].stride()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("taps", [1, 3])
@pytest.mark.parametrize("channels", [(16, 64), (64, 16), (48, 80), (80, 112), (144, 32), (96, 64), (112, 40), (72, 48)], ids=str)
def test_weights_in_blocks_of_every_size(channels, taps, layout, dtype):
    torch.manual_seed(0)
    x, w = torch.randn(2, channels[1], 9, 8), torch.randn(*channels, taps, taps)
    x, w = (t.to(dtype).contiguous(memory_format=f) for t, f in ((x, torch.channels_last), (w, getattr(torch, layout))))
    exact = torch.conv2d(x.double(), w.double(), padding=taps // 2)
    dy = torch.randn_like(exact).to(dtype)
    given = [t.double().requires_grad_() for t in (x, w)]
    expected = [exact, *torch.autograd.grad(torch.conv2d(*given, padding=taps // 2), given, dy.double())]
    a, b = (to_weir(t).contiguous(memory_format=getattr(weir, f)).requires_grad_() for t, f in ((x, "channels_last"), (w, layout)))
    y = weir.conv2d(a, b, padding=taps // 2)
    for got, of in zip([y, *weir.autograd.grad(y, (a, b), to_weir(dy))], expected):
        error = (torch.tensor(got.detach().float().numpy()).double() - of).abs().max()
        assert error <= of.abs().max() * (1e-5 if dtype == torch.float32 else 2**-7), error


@pytest.mark.parametrize("name", ["3x3, many products", "3x3, few", "depthwise", "1x1, few", "1x1, strided", "grouped"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_part_of_the_channels(name, layout):
    shape, weight, stride, groups = SHAPES[name]
    torch.manual_seed(0)
    wide, w = torch.randn(shape[0], 3 * shape[1], *shape[2:]), torch.randn(weight)

    def run(t, wide, w):
        x = wide.contiguous(memory_format=getattr(t, layout))[:, shape[1]:2 * shape[1]].requires_grad_()
        w = w.requires_grad_()
        y = t.conv2d(x, w, None, stride, weight[2] // 2, 1, groups)
        return y, *t.autograd.grad(y.square().sum(), (x, w))
    for got, expected in zip(run(weir, *to_weir((wide, w))), run(torch, wide, w)):
        assert_close(got, expected, rtol=1e-3, atol=2e-2)
        assert got.stride() == expected.stride()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_bias_with_steps_between_its_numbers(dtype):
    torch.manual_seed(0)
    x, w = (torch.randn(shape).to(getattr(torch, dtype)) for shape in ((3, 5, 7, 5), (2, 5, 2, 2)))
    x2, w2 = to_weir((x, w))
    for b2 in (to_weir(torch.randn(4).to(x.dtype)) for _ in range(6)):  # into memory that was used before
        assert_close(weir.conv2d(x2, w2, b2[::2]), torch.conv2d(x, w, torch.tensor(b2.tolist(), dtype=x.dtype)[::2]), rtol=2e-2, atol=1e-2)


@pytest.mark.parametrize("stride, padding, dilation", [(1, 0, 1), (2, 3, 1), (1, 4, 2)])
@pytest.mark.parametrize("channels, multiplier", [(32, 1), (24, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_lines_of_channels_by_themselves(channels, multiplier, stride, padding, dilation, dtype):
    torch.manual_seed(0)
    x, w, b = torch.randn(3, channels, 60, dtype=dtype), torch.randn(channels * multiplier, 1, 5, dtype=dtype), torch.randn(channels * multiplier, dtype=dtype)
    results = []
    for F, (x, w, b) in ((torch, [t.clone().requires_grad_() for t in (x, w, b)]), (weir, [to_weir(t).requires_grad_() for t in (x, w, b)])):
        y = F.nn.functional.conv1d(x, w, b, stride, padding, dilation, channels)
        y.square().sum().backward()
        up = F.nn.functional.conv_transpose1d(y, w, None, stride, padding, 0, channels, dilation)
        results.append([y, x.grad, w.grad, b.grad, up, F.nn.functional.conv1d(x.transpose(0, 2).contiguous().transpose(0, 2), w, groups=channels)])
    for expected, got in zip(*results):
        scale = expected.detach().abs().max().item()
        assert_close(got, expected, **(dict(rtol=2e-2, atol=2e-2 * scale) if dtype == torch.bfloat16 else dict(rtol=1e-4, atol=1e-5 * scale)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.complex128])
@pytest.mark.parametrize("padding", [1, (1, 0), "same"])
def test_padding_is_multiplied_where_pytorch_has_loops(dtype, padding):
    """An infinite weight makes NaN of it, however many products there are."""
    x, w = torch.ones(2, 3, 9, 9, dtype=dtype), torch.ones(4, 3, 3, 2, dtype=dtype)
    w[1, 2, 0, 0] = float("inf")
    results = [t.conv2d(a, b, padding=padding) for t, a, b in ((torch, x, w), (weir, to_weir(x), to_weir(w)))]
    kinds = [[y.isfinite().tolist(), dtype.is_complex or y.isnan().tolist()] for y in results]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize("bias", [torch.int32, torch.float64])
@pytest.mark.parametrize("padding", [2, 3])
def test_a_bias_of_another_dtype_is_cast_where_output_padding_reaches_the_stride(bias, padding):
    """On every CPU: oneDNN, which compares dtypes, is not asked then."""
    x, w = torch.randn(1, 2, 4, generator=torch.manual_seed(0)).bfloat16(), torch.randn(2, 2, 2, generator=torch.manual_seed(1)).bfloat16()
    call = lambda t, x, w, b: t.conv_transpose1d(x, w, b, stride=2, output_padding=padding, dilation=4)  # noqa: E731
    assert_same(call, x, w, torch.tensor([3, -2], dtype=bias), rtol=2e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("stride, extra, dilation", [(1, 1, 2), (2, 1, 1), (2, 2, 3), (1, 0, 2)])
def test_volumes_beyond_the_last_stride_are_row_major(stride, extra, dilation, dtype):
    """oneDNN, which keeps channels_last, takes no output padding of a stride or more."""
    x, w = (torch.randn(size).to(dtype).to(memory_format=torch.channels_last_3d) for size in ((2, 3, 4, 3, 3), (3, 2, 2, 2, 2)))

    def strides(t, x, w):
        x, w = (given.to(memory_format=t.channels_last_3d) for given in (x, w))
        return t.conv_transpose3d(x, w, None, stride, 0, (extra, 0, 0), 1, dilation).stride()

    assert strides(weir, *to_weir((x, w))) == strides(torch, x, w)
