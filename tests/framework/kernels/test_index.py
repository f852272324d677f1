"""Indexing kernels against PyTorch: every dim, strided tensors, indices of one column, refused indices."""

import numpy as np
import pytest
import torch
import weir
from twins import assert_close, to_weir

SHAPES = [(6, 5, 4), (1, 5, 1), (3, 1, 7)]


def problem(shape, dim, transposed):
    torch.manual_seed(0)
    index_shape = [max(1, n - (d != dim)) for d, n in enumerate(shape)]
    index = torch.randint(shape[dim], index_shape)
    x, src = torch.randn(shape), torch.randn(index_shape)
    if transposed:
        x, index, src = (t.transpose(0, 2).contiguous().transpose(0, 2) for t in (x, index, src))
    return x, index, src


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_gather_and_scatter(shape, dim, transposed):
    x, index, src = problem(shape, dim, transposed)
    ours = [to_weir(t) if not transposed else to_weir(t.transpose(0, 2)).transpose(0, 2) for t in (x, index, src)]
    assert_close(weir.gather(ours[0], dim, ours[1]), torch.gather(x, dim, index))
    assert_close(weir.scatter_add(ours[0], dim, ours[1], ours[2]), torch.scatter_add(x, dim, index, src))
    assert_close(weir.scatter(ours[0], dim, ours[1], 2.5), torch.scatter(x, dim, index, 2.5))
    distinct = torch.arange(x.shape[dim]).reshape([-1 if d == dim else 1 for d in range(3)]).expand(index.shape)
    assert_close(weir.scatter(ours[0], dim, to_weir(distinct), ours[2]), torch.scatter(x, dim, distinct, src))


@pytest.mark.parametrize("bad", [-1, 5, 2**40])
def test_an_index_outside_raises(bad):
    with pytest.raises(RuntimeError, match=f"index {bad} is out of bounds for dimension 0 with size 5"):
        weir.gather(weir.zeros(5), 0, weir.tensor([0, 1, bad, 4]))


def test_scalars():
    assert weir.gather(weir.tensor(3.0), 0, weir.tensor(0)).item() == 3
    assert weir.scatter_add(weir.tensor(3.0), 0, weir.tensor(0), weir.tensor(2.0)).item() == 5


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.bfloat16, torch.int64])
def test_index_by_one_and_two_tensors(dtype):
    x = torch.randint(0, 100, (40, 30)).to(dtype)
    i, j = torch.randint(-40, 40, (700,)), torch.randint(-30, 30, (700,))
    ours = to_weir(x)
    assert_close(ours[to_weir(i), to_weir(j)], x[i, j])
    assert_close(ours[:, 0][to_weir(i)], x[:, 0][i])
    assert_close(ours[to_weir(i)], x[i])
    assert_close(ours.t()[to_weir(j)], x.t()[j])


def test_indexing_outside_raises():
    with pytest.raises(IndexError, match="index -41 is out of bounds for dimension 0 with size 40"):
        weir.zeros(40)[weir.tensor([3] * 300 + [-41])]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bfloat16])
@pytest.mark.parametrize("n", [1, 9, 255, 1000])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable(dtype, n, descending):
    torch.manual_seed(0)
    x = (torch.randn(3, n, 2) * 10).to(dtype)  # rounded: with ties
    if dtype.is_floating_point and n > 8:
        x[0, ::4], x[1, ::3], x[1, 1::3], x[2, 2], x[2, 5] = float("nan"), 0.0, -0.0, float("inf"), -float("inf")
    ours, theirs = weir.sort(to_weir(x), dim=1, stable=True, descending=descending), torch.sort(x, dim=1, stable=True, descending=descending)
    assert ours[1].tolist() == theirs[1].tolist()
    assert_close(ours[0], theirs[0])


@pytest.mark.parametrize("extremes", [[2**63 - 1, -(2**63), 0, -1, 1, 2**40, -(2**40)] * 100])
def test_sort_of_all_64_bits(extremes):
    assert weir.sort(weir.tensor(extremes))[0].tolist() == sorted(extremes)


@pytest.mark.parametrize("n, k", [(1, 1), (4, 2), (8, 2), (20, 5), (64, 1), (70, 70), (200, 2), (200, 3), (1000, 15), (1000, 16), (1000, 900)])
@pytest.mark.parametrize("kinds", [1, 2, 40])
def test_topk_takes_the_same_of_equal_numbers_as_pytorch(n, k, kinds):
    numbers = torch.randint(kinds, (5, n), generator=torch.manual_seed(n)).float()
    numbers[1, n // 2] = numbers[1, 0] = float("nan")
    for x in (numbers, -0.0 * numbers, numbers.bfloat16(), numbers[0].int(), numbers.double().t().contiguous().t()):
        for largest in (True, False):
            for ordered in (True, False):
                ours, theirs = (t.topk(y, k, largest=largest, sorted=ordered) for t, y in ((weir, to_weir(x)), (torch, x)))
                assert ours.indices.tolist() == theirs.indices.tolist()


@pytest.mark.parametrize("k", [0, 1, 5, 400, 1000])
@pytest.mark.parametrize("largest", [False, True])
def test_topk(k, largest):
    x = torch.randperm(3000).reshape(3, 1000).float() - 1500
    x[1, 7] = float("nan")
    x[2] = x[2].sort().values  # each number is better than all before it, or worse
    ours, theirs = weir.topk(to_weir(x), k, largest=largest), torch.topk(x, k, largest=largest)
    assert ours[1].tolist() == theirs[1].tolist()
    assert_close(ours[0], theirs[0])


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int16, torch.int64, torch.float32])
@pytest.mark.parametrize("n", [5, 300, 2000])
def test_sorting_numbers_of_few_digits(n, dtype):
    x = torch.randint(-3, 60, (3, n), generator=torch.manual_seed(n)).to(dtype)
    x = x - 2**40 if dtype == torch.int64 else x
    results = []
    for F, t in ((torch, x), (weir, to_weir(x))):
        values, places = F.sort(t, dim=1, stable=True)
        results.append([values, places, *F.unique(t, return_inverse=True, return_counts=True)])
        if dtype != torch.bool:
            results[-1] += [F.topk(t.float(), 4).values, F.topk(t.float(), 4, largest=False).values]
    for expected, got in zip(*results):
        np.testing.assert_array_equal(got.numpy(), expected.numpy())


@pytest.mark.parametrize("shape", [(40, 5, 7), (3, 33, 2), (300, 2, 20)])
def test_the_last_axis_of_what_is_permuted(shape):
    """Numbers that are neighbours in memory are read together."""
    x = torch.randn(shape, generator=torch.manual_seed(0))
    i = torch.randint(-shape[0], shape[0], (300,), generator=torch.manual_seed(1))
    for order in ((1, 2, 0), (2, 1, 0)):
        for of in (lambda i: i, lambda i: i[:6].reshape(2, 3), lambda i: i[:6].reshape(2, 3).t(), lambda i: i[::2]):
            theirs, ours = x.permute(order)[..., of(i)], to_weir(x).permute(order)[..., of(to_weir(i))]
            assert_close(ours, theirs)
            assert tuple(ours.stride()) == tuple(theirs.stride())
    with pytest.raises(IndexError):
        to_weir(x).permute(1, 2, 0)[..., to_weir(i + shape[0])]


@pytest.mark.parametrize("dtype", ["bool", "float16", "float32", "complex128"])
def test_a_few_places_of_everything_that_repeats(dtype):
    x = np.random.default_rng(0).integers(0, 9, (5, 6, 4, 3)).astype(dtype)
    for theirs, ours in ((torch.from_numpy(x), weir.from_numpy(x)),
                         (torch.from_numpy(x).transpose(0, 3), weir.from_numpy(x).transpose(0, 3)),
                         (torch.from_numpy(x)[1:, ::2], weir.from_numpy(x)[1:, ::2]),
                         (torch.from_numpy(x[:1]).expand(7, 6, 4, 3), weir.from_numpy(x[:1]).expand(7, 6, 4, 3))):
        for index in ((..., [2, 1, 0, -1]), (slice(None), [0, 2]), (slice(None), slice(None), [[3], [1]]), (slice(None), [0, 1], [1, 2]), (..., [0, 1], [[1], [2]])):
            a, b = theirs[index], ours[index]
            assert a.stride() == b.stride() and a.tolist() == b.tolist()
    with pytest.raises(IndexError, match="index 9 is out of bounds for dimension 0 with size 6"):
        weir.from_numpy(x)[:, [0, 9]]
