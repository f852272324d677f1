"""Operands that lie in another order than the result, which are copied first, against PyTorch. Source: framework/kernels/cpu/loops.cpp."""

import pytest
import torch
import weir
from twins import assert_same, to_weir

SIZES = [(64, 32), (8, 33), (40, 100), (100, 40), (257, 31), (33, 1025), (3, 500), (1, 64), (32, 64)]
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool, torch.complex64]


def numbers(*sizes, dtype=torch.float32, seed=0):
    x = torch.randn(sizes, generator=torch.manual_seed(seed)) * 20
    return x > 0 if dtype == torch.bool else x.abs().to(dtype)


def check(call, *tensors):
    assert_same(call(weir, *map(to_weir, tensors)), call(torch, *tensors))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows, columns", SIZES)
def test_a_matrix_beside_a_transposed_one(rows, columns, dtype):
    x, y = numbers(rows, columns, dtype=dtype), numbers(columns, rows, dtype=dtype, seed=1)
    check(lambda F, a, b: (a + b.t(), b.t() * a, a.t().contiguous() + b, a == b.t()), x, y)
    check(lambda F, a, b: a.t() + b, x, y)  # the first decides the order of the result
    check(lambda F, a, b: F.where(b.t() == b[0, 0], a, b.t()), x, y)
    check(lambda F, a, b: a.clone().mul_(b.t()), x, y)


@pytest.mark.parametrize("dtypes", [(torch.float32, torch.bfloat16), (torch.int64, torch.float32), (torch.uint8, torch.int32), (torch.bool, torch.float64)])
def test_of_two_dtypes(dtypes):
    check(lambda F, a, b: a + b.t(), numbers(70, 90, dtype=dtypes[0]), numbers(90, 70, dtype=dtypes[1]))


def test_more_axes_steps_and_broadcasts():
    x, y = numbers(3, 40, 5, 70), numbers(70, 5, 40, 3, seed=1)
    check(lambda F, a, b: a - b.permute(3, 2, 1, 0), x, y)
    check(lambda F, a, b: a - b.permute(3, 2, 1, 0)[:1], x, y)
    check(lambda F, a, b: a[..., ::2] * b.permute(3, 2, 1, 0)[..., ::2], x, y)
    check(lambda F, a, b: a - b.permute(3, 2, 1, 0).flip(3), x, y)
    check(lambda F, a, b: F.addcmul(a[0, :, 0], b[:, 0, :, 0].t(), a[0, :, :1, 0], value=0.5), x, y)
    check(lambda F, a, b: F.lerp(a.transpose(1, 3), b.permute(3, 0, 1, 2), 0.25), x, y)
    check(lambda F, a, b: a.clamp(b.permute(3, 2, 1, 0), a + 3), x, y)


def test_in_plans():
    x, y = numbers(90, 70), numbers(70, 90, seed=1)
    program = weir.compile(lambda a, b: (a + b.t()).abs() * b.t() - a)
    assert_same(program(to_weir(x), to_weir(y)), (x + y.t()).abs() * y.t() - x)
