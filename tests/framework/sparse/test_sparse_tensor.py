"""What sparse tensors are, say of themselves and refuse, against PyTorch."""

import copy
import subprocess
import sys

import pytest
import torch
import weir
from both import coo, hybrid, same

BUILT = {
    "coo": lambda t: t.sparse_coo_tensor([[0, 1], [1, 0]], [1, 2]),
    "size": lambda t: t.sparse_coo_tensor([[0, 1], [1, 0]], [1., 2.], (3, 4)),
    "empty": lambda t: t.sparse_coo_tensor((2, 3)),
    "empty by name": lambda t: t.sparse_coo_tensor(size=(2, 3)),
    "no entries": lambda t: t.sparse_coo_tensor([[], []], [], (2, 2)),
    "hybrid": hybrid,
    "dtype": lambda t: t.sparse_coo_tensor([[0, 1]], [1, 2], dtype=t.float64),
    "int32 indices": lambda t: t.sparse_coo_tensor(t.tensor([[0, 1]]).int(), t.ones(2)),
    "claimed": lambda t: t.sparse_coo_tensor([[0, 1], [1, 0]], [1., 2.], is_coalesced=True),
    "csr": lambda t: t.sparse_csr_tensor([0, 2, 4], [0, 1, 0, 1], [1., 2, 3, 4]),
    "csr size": lambda t: t.sparse_csr_tensor([0, 2, 4], [0, 1, 0, 1], [1, 2, 3, 4], (2, 10), dtype=t.float64),
    "csr int32": lambda t: t.sparse_csr_tensor(t.tensor([0, 1]).int(), t.tensor([0]).int(), t.ones(1)),
    "csc": lambda t: t.sparse_csc_tensor([0, 2, 4], [0, 1, 0, 1], [1., 2, 3, 4]),
    "compressed": lambda t: t.sparse_compressed_tensor([0, 1], [0], [1.], layout=t.sparse_csc),
    "diagonals": lambda t: t.sparse.spdiags(t.arange(9).reshape(3, 3), t.tensor([0, -1, 2]), (3, 3)),
    "legacy": lambda t: t.sparse.FloatTensor(t.LongTensor([[0, 1], [1, 0]]), t.FloatTensor([1, 2]), t.Size([2, 2])),
    "legacy without size": lambda t: t.sparse.DoubleTensor(t.tensor([[0, 1]]), t.tensor([1., 2.], dtype=t.float64)),
    "legacy dtype": lambda t: t.sparse.FloatTensor(t.tensor([[0, 1]]), t.tensor([1., 2.], dtype=t.float64)),
    "legacy size": lambda t: t.sparse.FloatTensor(2, 3),
    "nnz": lambda t: t.sparse_coo_tensor([[0, 1]], [1.]),
    "rank": lambda t: t.sparse_coo_tensor([[0, 1]], [1., 2.], (2, 3)),
    "dense size": lambda t: t.sparse_coo_tensor([[0, 1]], t.ones(2, 5), (2, 4)),
    "indices of one dim": lambda t: t.sparse_coo_tensor(t.tensor([0, 1]), t.ones(2)),
    "outside": lambda t: t.sparse_coo_tensor([[0, 5]], [1., 2.], (2,), check_invariants=True),
    "negative": lambda t: t.sparse_coo_tensor([[0, -1]], [1., 2.], (2,), check_invariants=True),
    "claimed in vain": lambda t: t.sparse_coo_tensor([[1, 0]], [1., 2.], check_invariants=True, is_coalesced=True),
    "whole numbers": lambda t: t.sparse_coo_tensor([[1, 0]], t.tensor([1, 2]), requires_grad=True),
    "csr start": lambda t: t.sparse_csr_tensor([1, 2], [0], [1.], check_invariants=True),
    "csr end": lambda t: t.sparse_csr_tensor([0, 2], [0], [1.], check_invariants=True),
    "csr column": lambda t: t.sparse_csr_tensor([0, 1], [7], [1.], (1, 2), check_invariants=True),
    "csr order": lambda t: t.sparse_csr_tensor([0, 2], [1, 0], [1., 2.], (1, 2), check_invariants=True),
    "csr rows": lambda t: t.sparse_csr_tensor([0, 1], [0], [1.], (3, 2), check_invariants=True),
}


@pytest.mark.parametrize("name", BUILT)
def test_construction(name):
    same(BUILT[name])


TEXTS = {**{n: BUILT[n] for n in ("coo", "empty", "hybrid", "dtype", "csr", "csr size", "csr int32", "csc")},
         "leaf": lambda t: coo(t, requires_grad=True), "half": lambda t: coo(t).half(), "complex": lambda t: coo(t).to(t.complex64),
         "long": lambda t: t.sparse_coo_tensor(t.arange(2000).repeat(2, 1), t.arange(2000.)), "rows": lambda t: t.eye(40).to_sparse_csr()}


@pytest.mark.parametrize("name", TEXTS)
def test_text(name):
    assert repr(TEXTS[name](weir)) == repr(TEXTS[name](torch))


FACTS = {
    "facts": lambda s: [s.is_sparse, s.is_sparse_csr, s.dim(), s.numel(), s.shape, s.size(0), s.sparse_dim(), s.dense_dim(), s.requires_grad,
                        s.is_leaf, s.grad_fn, s.grad, s.element_size(), s.is_floating_point(), s.ndim, s.is_cuda],
    "coalesced": lambda s: s.is_coalesced(), "indices": lambda s: s.indices(), "values": lambda s: s.values(), "crow": lambda s: s.crow_indices(),
    "row": lambda s: s.row_indices(), "col": lambda s: s.col_indices(), "coalesce": lambda s: s.coalesce(), "dense": lambda s: s.to_dense(),
    "coo": lambda s: s.to_sparse(), "csr": lambda s: s.to_sparse_csr(), "csc": lambda s: s.to_sparse_csc(), "numpy": lambda s: s.numpy(),
    "tolist": lambda s: s.tolist(), "item": lambda s: s.item(), "bool": lambda s: bool(s), "len": lambda s: len(s), "clone": lambda s: s.clone(),
    "detach": lambda s: s.detach(), "double": lambda s: s.double(), "to": lambda s: s.to("cpu", s.dtype), "int": lambda s: s.long(),
    "data": lambda s: s.data, "deepcopy": copy.deepcopy, "storage": lambda s: s.storage(),
}


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize("kind", ["coo", "coalesced", "csr", "csc", "dense"])
def test_facts(name, kind):
    made = {"coo": coo, "coalesced": lambda t: coo(t, True), "csr": lambda t: coo(t).to_sparse_csr(), "csc": lambda t: coo(t).to_sparse_csc(),
            "dense": lambda t: coo(t).to_dense()}[kind]
    if kind == "dense" and name in ("storage", "numpy"):
        return
    same(lambda t: FACTS[name](made(t)))


def test_from_dense_and_back():
    dense = [[0., 1., 2.], [3., 0., 0.]]
    same(lambda t: t.tensor(dense).to_sparse())
    same(lambda t: t.tensor(dense).to_sparse(1))
    same(lambda t: t.tensor(3.).to_sparse())
    same(lambda t: t.tensor(dense).to_sparse(3))
    same(lambda t: t.tensor(dense).to_sparse(0))
    same(lambda t: t.tensor(dense).to_sparse(layout=t.sparse_csr))
    same(lambda t: t.ones(2, 2, 2).to_sparse_csr(dense_dim=1))
    same(lambda t: t.tensor(dense).to_sparse_csc().to_dense())
    same(lambda t: t.tensor([[True, False]]).to_sparse().to_dense())


def test_what_has_no_formula_says_so_with_the_layout():
    for call in (lambda s: s.exp(), lambda s: weir.exp(s), lambda s: s > 0, lambda s: s.reshape(6), lambda s: weir.nn.functional.softmax(s, 1),
                 lambda s: s[0:1], lambda s: s.max(), lambda s: weir.stft(s, 2), lambda s: weir.linalg.inv(s), lambda s: weir.where(s, 1, 0)):
        with pytest.raises(NotImplementedError, match="sparse_coo"):
            call(coo(weir))
        with pytest.raises(NotImplementedError, match="sparse_csr"):
            call(coo(weir).to_sparse_csr())


def test_no_dense_answer_without_a_rule():
    """An op taken before there were sparse tensors meets no numbers to compute with."""
    add = weir._C.ops["torch"]["add"]
    with pytest.raises(RuntimeError):
        add(weir.ones(2, 3), coo(weir))
    assert add(coo(weir), 1).device.type == "meta"


def test_parameters_are_dense():
    with pytest.raises(NotImplementedError, match="sparse_coo"):
        weir.nn.Parameter(coo(weir))


def test_buffers_may_be_sparse():
    module = weir.nn.Module()
    module.register_buffer("adjacency", coo(weir))
    state = module.state_dict()
    assert state["adjacency"].layout is weir.sparse_coo
    module.load_state_dict({"adjacency": coo(weir) * 2})
    assert float(module.adjacency.to_dense()[0, 2]) == 18
    assert module.double().adjacency.dtype is weir.float64


def test_check_invariants_scope():
    for t in (torch, weir):
        check = t.sparse.check_sparse_tensor_invariants
        assert not check.is_enabled()
        with check():
            assert check.is_enabled()
            with pytest.raises(RuntimeError, match="sorted and distinct"):
                t.sparse_csr_tensor([0, 2], [1, 0], [1., 2.], (1, 2))
        assert not check.is_enabled()


def test_programs_without_sparse_tensors_pay_nothing():
    code = ("import weir, sys; from weir._C import Tensor; add = Tensor.add; e = weir.nn.Embedding(3, 2); o = weir.optim.SGD(e.parameters(), 1.); "
            "e(weir.tensor([1])).sum().backward(); o.step(); assert Tensor.add is add and 'weir.sparse._rules' not in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_assert_close():
    weir.testing.assert_close(coo(weir), coo(weir, True))
    with pytest.raises(AssertionError):
        weir.testing.assert_close(coo(weir), coo(weir) * 2)
    with pytest.raises(AssertionError, match="layout"):
        weir.testing.assert_close(coo(weir), coo(weir).to_dense())
