"""Bags of embeddings, rows scaled to a norm and one-hot rows against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

W = torch.randn(5, 3, generator=torch.manual_seed(0), requires_grad=True)
I, O = torch.tensor([0, 1, 1, 3, 4, 1]), torch.tensor([0, 2, 2, 6])
P = torch.rand(6, generator=torch.manual_seed(1), requires_grad=True)


@pytest.mark.parametrize("mode", [0, 1, 2, 3, -1])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("padding", [None, 1, -2, 7])
@pytest.mark.parametrize("by_frequency", [False, True])
def test_embedding_bag(mode, last, padding, by_frequency):
    order = 0 if last else 1  # PyTorch's gradient reads beyond its memory there
    for dtype in (torch.float32, torch.float64, torch.int64):
        w = W.detach().to(dtype)
        w = w.requires_grad_() if dtype.is_floating_point else w
        assert_same(lambda t, w, i, o: t.embedding_bag(w, i, o, by_frequency, mode, False, None, last, padding), w, I, O, order=order)
    assert_same(lambda t, w, i, o, p: t.embedding_bag(w, i, o, by_frequency, mode, False, p, last, padding), W, I, O, P, order=order)


@pytest.mark.parametrize("size", [(3, 0), (0, 3), (0, 0)])
def test_bags_of_no_length_are_refused(size):
    assert_same(lambda t, w: t.nn.functional.embedding_bag(t.zeros(size, dtype=t.int64), w), W.detach())


@pytest.mark.parametrize("mode", ["sum", "mean", "max", "least"])
def test_functional(mode):
    for options in ({}, {"padding_idx": 1}, {"max_norm": 0.5}):
        assert_same(lambda t, w, i: t.nn.functional.embedding_bag(i.view(2, 3), w, mode=mode, **options), W.detach(), I)
        assert_same(lambda t, w, i, o: t.nn.functional.embedding_bag(i, w, o[:3], mode=mode, **options), W.detach(), I, O)


@pytest.mark.parametrize("offsets", [[1, 2], [0, 9], [], [[0]]])
def test_offsets(offsets):
    assert_same(lambda t, w, i: t.embedding_bag(w, i, t.tensor(offsets, dtype=t.int64)), W.detach(), I)


def test_offsets_that_fall_are_refused():
    with pytest.raises(RuntimeError, match="offsets must not fall"):  # PyTorch answers with memory that nobody wrote
        weir.embedding_bag(weir.ones(3, 2), weir.tensor([0, 1, 2]), weir.tensor([0, 3, 2]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("offsets", [[0, 2], [0, 0], [0], [0, -2], [0, -1, 3]])
@pytest.mark.parametrize("last", [False, True])
def test_indices_and_offsets_that_no_bag_holds(dtype, mode, offsets, last):
    if last and offsets in ([0], [0, -2]):
        pytest.skip("PyTorch answers with memory that nobody wrote")
    # Of the results PyTorch writes the first one whole.
    assert_same(lambda t, w: t.embedding_bag(w.to(getattr(t, dtype)), t.tensor([0, 1, -2]), t.tensor(offsets), False, mode, False, None, last)[0], torch.arange(9.0).reshape(3, 3))


def test_a_row_that_is_not_there_has_no_gradient():
    w = weir.ones(3, 2, requires_grad=True)
    for scale in (False, True):  # by how often each row comes
        sums = weir.embedding_bag(w, weir.tensor([0, 1, 7]), weir.tensor([0, 2]), scale, include_last_offset=True)[0]
        if scale:
            with pytest.raises(IndexError, match="index 7"):
                sums.sum().backward()
        else:
            sums.sum().backward()
            assert w.grad.tolist() == [[1, 1], [1, 1], [0, 0]]


def test_indices_out_of_range_raise():
    for i in ([0, 5], [-1]):
        assert_same(lambda t, w: t.embedding_bag(w, t.tensor(i), t.tensor([0])), W)
    with pytest.raises(IndexError):
        weir.embedding_renorm_(weir.ones(2, 2), weir.tensor([2]), 1.0, 2.0)


@pytest.mark.parametrize("norm", [2.0, 1.0, 3.5, float("inf")])
def test_renorm_writes_in_place(norm):
    assert_same(lambda t, w, i: (t.embedding_renorm_(w, i - 2, 0.5, norm), w), W.detach(), I)  # counted from the end
    assert_same(lambda t, w, i: (t.embedding_renorm_(w, i, 0.5, norm), w), W.detach(), I)
    assert_same(lambda t, w, i: (t.embedding_renorm_(w[:, ::2], i, 0.5, norm), w), W.detach(), I)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128, torch.int64, torch.bool, torch.float64])
def test_renorm_of_other_numbers(dtype):
    w = torch.tensor([[3, 4, 0], [1, 0, 0], [5, 5, 7]]).to(dtype) * (1j - 2 if dtype.is_complex else 1)
    for i in ([0, 2, 2], []):  # whole numbers have no norm, which is not asked where nothing is looked up
        for norm in (1.0, 2.0, 3.0, float("inf")):
            assert_same(lambda t, w, i, norm=norm: (t.nn.functional.embedding(i, w, max_norm=1.5, norm_type=norm), w), w, torch.tensor(i, dtype=torch.int64))


@pytest.mark.parametrize("padding_idx", [0, 1, -1, -4])
@pytest.mark.parametrize("rows", [0, 3])
def test_a_padding_beside_few_rows(rows, padding_idx):
    assert_same(lambda t, w: t.nn.functional.embedding(t.zeros(0, 2, dtype=t.int64), w, padding_idx=padding_idx), torch.ones(rows, 5))


@pytest.mark.parametrize("classes", [-1, 0, 5, 3, -2])
def test_one_hot(classes):
    for x in (I, I.view(2, 3), I[:0], I[0], torch.tensor([-1]), I.int()):
        assert_same(lambda t, x: t.nn.functional.one_hot(x, classes), x)


def test_the_old_order_of_arguments_is_taken_with_a_warning():
    with pytest.warns(UserWarning, match="Argument order of nn.functional.embedding_bag was changed"):
        assert_same(lambda t, w, i, p: t.nn.functional.embedding_bag(w, i.view(2, 3), mode="sum", per_sample_weights=p.view(2, 3)), W.detach(), I, P)


@pytest.mark.parametrize("dtypes", [(torch.int64, torch.int8), (torch.uint8, torch.int64), (torch.int16, torch.int32), (torch.int32, torch.int64), (torch.int16, torch.int16),
                                    (torch.int16, torch.int8), (torch.int64, torch.float32), (torch.uint16, torch.int64)])
def test_bags_of_narrow_places(dtypes):
    indices, offsets = dtypes
    assert_same(lambda t, w: t.embedding_bag(w, t.as_tensor([0, 2, 1]).to(getattr(t, str(indices)[6:])), t.as_tensor([0, 1]).to(getattr(t, str(offsets)[6:]))), W)
