"""framework/ops/einsum.cpp: equations as text and as lists of axes, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

X, Y, Z = (torch.randn(*shape, generator=torch.manual_seed(i), requires_grad=True) for i, shape in enumerate(((2, 3, 4), (2, 4, 3), (3, 3))))

EQUATIONS = {
    "batches": lambda t, x, y, z: t.einsum("bij,bjk->bik", x, y), "three": lambda t, x, y, z: t.einsum("bij,bjk,kl->bl", x, y, z),
    "trace": lambda t, x, y, z: t.einsum("ii", z), "diagonal": lambda t, x, y, z: t.einsum("ii->i", z), "outer": lambda t, x, y, z: t.einsum("i,j", z[0], z[1]),
    "ellipsis": lambda t, x, y, z: t.einsum("...ij,jk->...k", y, z), "ellipses of two lengths": lambda t, x, y, z: t.einsum("...i,...i->...", y, z[0]),
    "transposed": lambda t, x, y, z: t.einsum("ijk->kji", x), "spaces": lambda t, x, y, z: t.einsum(" i j , j k -> i k ", z, z),
    "broadcast": lambda t, x, y, z: t.einsum("ij,jk->ik", z, z[:, :1]), "summed": lambda t, x, y, z: t.einsum("ijk->", x),
    "implicit order": lambda t, x, y, z: t.einsum("bA,Ac", z, z), "lists": lambda t, x, y, z: t.einsum(x, [0, 1, 2], y, [0, 2, 51], [51, 0]),
    "lists with an ellipsis": lambda t, x, y, z: t.einsum(x, [..., 1, 2], y, [0, 2, 1]), "empty list first": lambda t, x, y, z: t.einsum(z[0, 0], [], z, [0, 1]),
    "one list of operands": lambda t, x, y, z: t.einsum("ij,jk", [z, z]), "long": lambda t, x, y, z: t.einsum(",".join(["ij"] * 12) + "->ij", *[z] * 12),
    "integers": lambda t, x, y, z: t.einsum("ij,j->i", t.arange(6).reshape(2, 3), t.arange(3)),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_values_and_gradients(name):
    assert_same(EQUATIONS[name], X, Y, Z)


@pytest.mark.parametrize("call", [
    lambda t, z: t.einsum("ij,jk", z), lambda t, z: t.einsum("i", z), lambda t, z: t.einsum("i.j", z), lambda t, z: t.einsum("i1", z), lambda t, z: t.einsum("ij->kk", z),
    lambda t, z: t.einsum("ij->ii", z), lambda t, z: t.einsum("ij->i->j", z), lambda t, z: t.einsum("......ij", z), lambda t, z: t.einsum("ij,jk->ik", z, z[:2]),
    lambda t, z: t.einsum("ii", z[:2]), lambda t, z: t.einsum(z, [0, 52]), lambda t, z: t.einsum(z), lambda t, z: t.einsum("", []), lambda t, z: t.einsum(". ..", z), lambda t, z: t.einsum("ij"), lambda t, z: t.einsum("ij,ij->i", z)])
def test_refusals(call):
    errors = []
    for t, z in ((torch, Z.detach()), (weir, weir.tensor(Z.tolist()))):
        with pytest.raises(Exception) as raised:
            call(t, z)
        errors.append(raised.type)
    assert errors[0] is errors[1]


@pytest.mark.parametrize("equation", ["fd,bd->bf", "e,c->ce", "cb,cde->ec", "ad,d,eacb->ba", "bc,ab->ca", "ab,cb->", "cbda,eac,edbc->eabd", "c,dca->cda", "abc->ca", "ab,bc,cd->da"])
@pytest.mark.parametrize("sizes", [{}, {"d": 1, "a": 1}])
def test_layouts(equation, sizes):
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "f": 7, **sizes}
    theirs, ours = (t.einsum(equation, *[t.ones([sizes[c] for c in part]) for part in equation.split("->")[0].split(",")]) for t in (torch, weir))
    assert ours.shape == theirs.shape
    assert [n for n, size in zip(ours.stride(), ours.shape) if size != 1] == [n for n, size in zip(theirs.stride(), theirs.shape) if size != 1]


def test_a_permutation_is_a_view():
    x = weir.ones(2, 3)
    weir.einsum("ij->ji", x)[0] = 5
    assert x[:, 0].tolist() == [5, 5]


def test_a_product_is_a_view_of_nothing():
    x = weir.ones(2, 3, 3)  # as all composites here; PyTorch's is one of the product that it made
    assert weir.einsum("bij,bjk->bik", x, x)._base is None


def test_einsum_of_one_number_is_a_view():
    for t in (torch, weir):
        x = t.ones(())
        assert t.einsum("", x) is not x and t.einsum("->", x)._base is x
