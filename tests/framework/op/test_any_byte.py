"""Truths that are bytes of another dtype: any byte but 0 is true, to every op and through every door, as in PyTorch."""

import copy
import io

import numpy as np
import pytest
import torch
import weir

BYTES = [2, 0, 255, 1, 0, 128]


def truths(w, rows=1):
    return w.tensor(BYTES * rows, dtype=w.uint8).view(w.bool).reshape(rows, -1)


def numbers(result):
    return [numbers(r) for r in result] if isinstance(result, (tuple, list)) else result.tolist() if hasattr(result, "tolist") else result


CALLS = {
    "sum": lambda w, t, x: t.sum(),
    "mean of a mask": lambda w, t, x: t.float().mean(),
    "any along an axis": lambda w, t, x: (t.any(0), t.all(1)),
    "arithmetic": lambda w, t, x: (t + t, t * t, t + 1, x * t),
    "bits": lambda w, t, x: (~t, t & True, t | False, t ^ t.logical_not()),
    "comparison": lambda w, t, x: (t == True, t != t.clone(), t > False),  # noqa: E712
    "where": lambda w, t, x: w.where(t, x, -x),
    "masks": lambda w, t, x: (x[t], x.masked_fill(t, 9), w.masked_select(x, t), x.clone().masked_scatter_(t, -x)),
    "places": lambda w, t, x: (t.nonzero(), w.count_nonzero(t), t.int().argmax(), t.int().cumsum(1), t.cumsum(1)),
    "order": lambda w, t, x: (w.unique(t), w.unique(t, return_counts=True), t.sort(stable=True)),
    "joined": lambda w, t, x: (w.cat([t, t]), w.stack([t, t]), t.repeat(2, 1), w.nn.functional.pad(t, (1, 1), value=True)),
    "views": lambda w, t, x: (t.t().sum(0), t[:, ::2].long(), t[0, 1:].flip(0), t.unsqueeze(1).expand(1, 2, 6).sum()),
    "another dtype": lambda w, t, x: [t.to(d) for d in (w.float32, w.int64, w.bfloat16, w.uint8, w.complex64)],
    "written to": lambda w, t, x: (t.logical_not_(), t, t.logical_and_(x > 0), t.fill_(True), t.masked_fill_(x > 0, False), t),
    "out=": lambda w, t, x: (w.logical_xor(x, x, out=t), t, w.eq(x, x, out=t[:, ::2].resize_(1, 6))),
    "all at once": lambda w, t, x: (t.expand(3, 6).fill_(1), t),
    "a view of itself": lambda w, t, x: (t[:, 1:].logical_or_(t[:, :1].clone()), t),
    "copied": lambda w, t, x: (t.clone(), copy.deepcopy(t), w.empty_like(t).copy_(t), t.contiguous()),
    "Python": lambda w, t, x: (t[0, 0].item(), bool(t[0, 1]), int(t[0, 2]), t.tolist(), repr(t).replace("weir", "torch")),
    "vmap": lambda w, t, x: w.func.vmap(lambda row: row.sum() + row.logical_not().sum())(t),
    "attention": lambda w, t, x: w.nn.functional.scaled_dot_product_attention(x.t(), x.t(), x.t(), attn_mask=t.expand(6, 6)).isnan(),
    "gradient": lambda w, t, x: w.func.grad(lambda x: w.where(t, x * x, x.exp()).sum() + x.masked_fill(t, 0).sum())(x),
    "prod": lambda w, t, x: (t.prod(), t.amax(1), t.max(), t.aminmax(dim=0)),
    "scatter": lambda w, t, x: (w.zeros(1, 6, dtype=w.bool).scatter(1, w.arange(6)[None], t), t.gather(1, w.tensor([[2, 0]])), t.index_select(1, w.tensor([5, 1]))),
    "loops": lambda w, t, x: (w.einsum("ij->i", t.long()), t.float() @ t.float().t(), w.bincount(t[0].long(), weights=t[0].float())),
}


@pytest.mark.parametrize("name", CALLS)
def test_any_byte_is_true(name):
    def asked(w):
        return numbers(CALLS[name](w, truths(w), w.arange(1.0, 7.0).reshape(1, 6)))
    assert asked(weir) == asked(torch)


def test_the_bytes_themselves_stay():
    bytes_ = weir.tensor(BYTES, dtype=weir.uint8)
    seen = bytes_.view(weir.bool)
    assert seen.view(weir.uint8).tolist() == BYTES and seen.view(weir.int8).sum().item() == torch.tensor(BYTES, dtype=torch.uint8).view(torch.int8).sum().item()
    bytes_.fill_(7)
    assert seen.sum().item() == 6
    seen.logical_not_()
    assert bytes_.tolist() == [0] * 6


def test_a_warning_of_gaps_in_memory_is_given_of_truths_too(recwarn):
    """PyTorch's search wants lines without gaps."""
    for t in (torch, weir):
        line = t.tensor(BYTES, dtype=t.uint8).view(t.bool)[::2]
        t.set_warn_always(True)
        try:
            t.bucketize(0, line)
        finally:
            t.set_warn_always(False)
    assert len(recwarn) == 2


def test_from_memory_of_others():
    array = np.array(BYTES, np.uint8).view(bool)
    assert weir.from_numpy(array).sum().item() == 4
    assert weir.tensor(array).long().tolist() == [1, 0, 1, 1, 0, 1]
    assert weir.frombuffer(bytearray(BYTES), dtype=weir.bool).sum().item() == 4
    assert weir.from_dlpack(torch.tensor(BYTES, dtype=torch.uint8).view(torch.bool)).sum().item() == 4


def test_from_files(tmp_path):
    theirs, ours = io.BytesIO(), io.BytesIO()
    torch.save({"t": truths(torch)}, theirs)
    weir.save({"t": truths(weir)}, ours)
    for file in (theirs, ours):
        file.seek(0)
        assert weir.load(file)["t"].sum().item() == 4


def test_as_arguments_of_a_plan():
    def step(t, x):
        return x.masked_fill(t, 0).sum(), (t + t).sum()
    compiled = weir.compile(step)
    x = weir.arange(1.0, 7.0).reshape(1, 6)
    for t in (truths(weir), truths(weir).clone(), weir.ones(1, 6, dtype=weir.bool)):
        assert numbers(compiled(t, x)) == numbers(step(t, x))

    def shown(bytes_):
        return (bytes_.view(weir.bool) + bytes_.view(weir.bool)).sum()
    assert weir.compile(shown)(weir.tensor(BYTES, dtype=weir.uint8)).item() == 4
