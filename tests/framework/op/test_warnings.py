"""Warnings that calls give, with set_warn_always: as many of different texts as PyTorch's, of the same classes."""

import warnings

import numpy as np
import pytest
import torch
import weir

CALLS = """
np.ones(3)/f(3) | f(3).__rtruediv__(np.array(2.)) | np.sqrt(f(3)) | f(3)+np.ones(3) | np.float64(2)/f(3)
t.tensor([2.0,np.array(1)]) | t.tensor([np.array([1,2]),np.array([1,2])]) | t.tensor([np.int64(1),2]) | t.tensor([2.0,f(())])
E(1,3).expand(2,3).index_put_([t.tensor([0,1])],f(3)) | E(2,3).index_put_([t.tensor([0,1])],f(3)) | E(1,3).expand(2,3).__setitem__(t.tensor([0,1]),f(3))
E(1,3).expand(2,3).index_put([t.tensor([0,1])],f(3))
t.complex(f(2).half(),f(2).half()) | f(2).half()==1j | f(2).half()<1 | f(2).half()+1j
f(2).half()==t.tensor(1j) | f(2).half()!=t.tensor([1j]) | f(()).half()==t.tensor(1j) | f(2).half()==np.array(1j)
t.masked.var(f(3),correction=f(()).requires_grad_()) | t.masked.std(f(3),correction=f(())) | float(f(()).requires_grad_())
t.nn.functional.multi_head_attention_forward(f(5,4),f(3,4),f(3,4),4,2,f(12,4),None,None,None,False,0.,f(4,4),None,key_padding_mask=f(3)>0,attn_mask=f(5,3))
t.nn.functional.multi_head_attention_forward(f(5,4),f(3,4),f(3,4),4,2,f(12,4),None,None,None,False,0.,f(4,4),None,key_padding_mask=f(3)>0,attn_mask=f(5,3)>0)
t.eq(f(2).cfloat(),f(2),out=E(2).double()) | t.eq(f(2).cfloat(),f(2),out=E(2).bool()) | t.eq(f(2).cfloat(),f(2),out=E(2).cfloat()) | f(2).logical_and_(f(2).cfloat())
t.logical_or(f(2).cfloat(),f(2).cfloat(),out=E(2).double()) | t.logical_not(f(2).cfloat(),out=E(2).double())
t.linalg.matrix_rank(f(2,2),rtol=f(2,2)) | t.linalg.matrix_rank(f(2,2),rtol=f(())) | t.linalg.matrix_rank(f(2,2),rtol=f(1)) | t.linalg.matrix_rank(f(2,2,2),rtol=f(2))
t.diagonal_scatter(f(5,3),f(1).cfloat(),2) | t.select_scatter(f(2,3),f(3).cfloat(),0,1) | t.slice_scatter(f(2,3),f(2,3).cfloat()) | t.as_strided_scatter(f(3),f(2).cfloat(),(2,),(1,))
t.searchsorted(f(4,2).T,f(4,2).T) | t.searchsorted(f(2,4),f(4,2).T) | t.ger(f(3),f(2),out=E(3,2)) | t.ger(f(3),f(2)) | t.outer(f(3),f(2),out=E(3,2))
t.linalg.vector_norm(f(2).cfloat(),0.) | t.linalg.vector_norm(f(1).cfloat(),0.) | t.linalg.vector_norm(f(2).cfloat(),2.) | t.cholesky(f(1,1),out=E(1,1)) | t.sub(f(2),t.tensor(1),2)
E(1).expand(3).__setitem__(f(3)>0,2) | E(1).expand(3).__setitem__(f(3)>0,f(3)) | E(1,1).expand(3,3).__setitem__((f(3)>0,0),2) | E(1).expand(3).index_put_((f(3)>0,),t.tensor(1.))
t.bernoulli(f(3).sigmoid(),out=E(2)) | t.multinomial(f(2,3).exp(),2,out=E(2).long()) | t.normal(f(3),f(3).exp(),out=E(2)) | t.rand(3,out=E(2)) | t.randperm(3,out=E(2).long())
t.rms_norm(f(3).cfloat(),(3,),f(3)) | t.rms_norm(f(3),(3,),f(3).double()) | f(4).masked_fill(f(4)>0,t.tensor(1+0j)) | f(4).fill_(1+0j) | t.logsumexp(f(3,2).cfloat(),1,out=f(3))
"""


def _shown(t, text):
    t.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            eval(text, {"t": t, "f": t.ones, "E": t.zeros, "np": np})
    finally:
        t.set_warn_always(False)
    return sorted(kind for kind, _ in {(w.category.__name__, str(w.message).split(" (Triggered internally at ")[0]) for w in shown})


@pytest.mark.parametrize("text", [call.strip() for call in CALLS.replace("\n", "|").split("|") if call.strip()])
def test_a_call_warns_as_pytorch_does(text):
    assert _shown(weir, text) == _shown(torch, text)


def test_a_result_in_given_memory_makes_no_complex32():
    out = {t: t.empty(2, dtype=t.complex32) for t in (torch, weir)}
    seen = []
    for t in (torch, weir):
        t.set_warn_always(True)
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            t.complex(t.ones(2).half(), t.ones(2).half(), out=out[t])
        t.set_warn_always(False)
        seen.append(len(shown))
    assert seen[0] == seen[1]
