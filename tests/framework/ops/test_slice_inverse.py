"""slice_inverse against PyTorch: the geometry, its memory, gradients beside and in the slice, refusals."""

import pytest
import torch
import weir
from twins import assert_same

SRC = torch.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("name, call", {
    "of a slice": lambda t, b: t.slice_inverse(b[1:], b, 0, 1, 3), "of other memory": lambda t, b: t.slice_inverse(t.arange(20.0)[2:], b[1:]),
    "by its method": lambda t, b: t.arange(12).slice_inverse(b.t(), 1, step=2), "too little": lambda t, b: t.slice_inverse(t.arange(5.0), b),
    "of a number": lambda t, b: t.slice_inverse(t.arange(3.0), b[0, 0]), "of none": lambda t, b: t.slice_inverse(b)}.items())
def test_as_pytorch(name, call):
    assert_same(call, SRC, what=name)


def test_gradients_part_at_the_slice():
    def gradients(t):
        a, b = t.arange(12.0).requires_grad_(), t.arange(12.0).reshape(3, 4).requires_grad_()
        y = t.slice_inverse(a[4:8].reshape(1, 4), b, 0, 1, 2)
        return [g.tolist() for g in t.autograd.grad((y * y).sum(), [a, b])]
    assert gradients(weir) == gradients(torch)


def test_it_is_a_view():
    for t in (torch, weir):
        c = t.arange(20.0)
        v = t.slice_inverse(c[2:6], t.arange(12.0).reshape(3, 4))
        v[0, 0] = 9
        assert c[0] == 9 and v._base is c
