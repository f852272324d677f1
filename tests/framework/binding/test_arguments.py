"""Arguments given oddly, to functions written in Python and to ops: PyTorch says which of them are taken, and with what result."""

import numpy as np
import pytest
import torch
import weir
from twins import assert_same

#: Calls as text of `t`, the framework; NumPy is `np`, a shorthand `f` makes ones.
CALLS = """
t.sub(f(2),f(2),alpha=2**63) | t.sub(f(2),f(2),alpha=2**64) | F.hardtanh(f(2),2**63,2**63+9) | t.clamp(f(2),min=2**63) | t.full((2,),2**63,dtype=t.int64)
t.randint(2.0,(2,)) | t.randint(True,(2,)) | t.randint(2,3) | t.randint(1,t.tensor([2])) | t.randint(np.int64(1),[np.int64(3)]) | t.randint(t.tensor(1),(2,))
t.randint_like(f(2),True) | t.randint_like(f(2),2.0) | t.randint_like(f(2),None) | t.randint_like(f(2),t.tensor([1])) | t.randint_like(f(2),t.tensor(1))
t.randint_like(f(2),2**70,5) | t.rand(2,requires_grad=2) | t.rand_like(f(2),pin_memory=2) | t.arange(2.,requires_grad=np.True_) | t.arange(2,pin_memory=None)
t.tensor(2.,requires_grad=np.False_) | t.tensor(2.,requires_grad=1) | t.asarray(f(2),requires_grad=2) | t.asarray(f(2),requires_grad=None)
t.fft.fftfreq(True) | t.fft.fftfreq(2,True) | t.fft.fftfreq(t.tensor(2)) | t.fft.fftfreq(t.tensor([2])) | t.fft.rfftfreq(2**70) | t.fft.fftfreq(np.int64(2),np.float32(2))
t.empty_permuted((True,),(0,)) | t.empty_permuted((2,),(nan,)) | t.empty_permuted(2,(0,)) | t.empty_permuted((2,),(0,),out=f(2))
t.native_dropout(f(2),0.,t.tensor(True)) | t.native_dropout(f(2),0,None) | t.native_dropout(f(2),t.tensor(0.).requires_grad_(),True) | t.native_dropout(f(2),np.float32(0),True)
t.norm_except_dim(f(2,2),2.0) | t.norm_except_dim(f(2,2),np.int64(2),t.tensor(0)) | t.norm_except_dim(f(2,2),2,t.tensor([0]))
t.nuclear_norm(f(2,2),1) | t.nuclear_norm(f(2,2),[0,1],2) | t.nuclear_norm(f(2,2),(0,t.tensor(1))) | t.nuclear_norm(f(2,2),None) | t.nuclear_norm(f(()),2)
t.nuclear_norm(f(3,2,2).requires_grad_(),False,out=f(3)) | t.frobenius_norm(f(2,2),True) | t.frobenius_norm(f(2,2),[0,1],2) | t.frobenius_norm(f(2,2),1)
t.triplet_margin_loss(f(2,2),f(2,2),f(2,2),swap=None) | t.triplet_margin_loss(f(2,2),f(2),f(2,2),swap=1) | t.triplet_margin_loss(f(2,2),f(2,2),f(2,2),p=t.tensor(2.),reduction=np.int64(1))
t.rrelu(f(2),0.1,2,1) | t.rrelu(f(2),True,t.tensor(1.)) | t.rrelu(f(2),upper=t.tensor(0.5,requires_grad=True))
t.ctc_loss(f(5,2,4),t.ones(2,2).long(),(5,5),(2,2),0,1.0) | t.ctc_loss(f(5,2,4),t.ones(2,2).long(),(5,5),(2,nan)) | t.ctc_loss(f(5,2,4),t.ones(2,2).long(),(5,5),(2,2),0,1,2)
t.matrix_power(f(2,2),t.tensor([2])) | t.matrix_power(f(2,2),True) | t.matrix_power(f(2,2),np.int64(2))
f(2,2).fill_diagonal_(t.tensor([3])) | f(2,2).fill_diagonal_(t.tensor(3.)) | f(2,2).requires_grad_().fill_diagonal_(2,None)
t.tensordot(f(2,2),f(2,2),dims=[np.int64(1),0]) | t.tensordot(f(2,2),f(2,2),dims=np.int64(1)) | t.tensordot(f(2,2),f(2,2),dims=t.tensor([1])) | t.tensordot(f(2,2),f(2,2),([True],[0]))
F.adaptive_avg_pool2d(f(1,4,4),True) | F.adaptive_avg_pool2d(f(1,4,4),np.array([2,2])) | F.adaptive_avg_pool2d(f(1,4,4),t.tensor([2,2])) | F.adaptive_avg_pool2d(f(1,4,4),[nan])
F.adaptive_avg_pool2d(f(1,4,4),2**70) | F.adaptive_avg_pool2d(f(1,4,4),(None,2)) | F.adaptive_avg_pool2d(f(4),(1,1)) | F.adaptive_max_pool2d(f(1,4,4),np.int64(2))
F.adaptive_avg_pool1d(f(1,4),t.tensor(2)) | F.adaptive_avg_pool1d(f(1,4),np.array([2])) | F.adaptive_max_pool1d(f(1,4),None) | F.adaptive_avg_pool3d(f(1,4,4,4),t.tensor([2,2,2]))
t.lstm(f(1,1,1),[f(1,1,1)],[f(4,1)],1,1,0.,True,True,True) | t.gru(f(1,1,1),f(1,1,1),[f(3,1)],True,1,0.,True,False,None) | t.rnn_tanh(f(1,1,1),f(1,1,1),[f(1,1)],True,t.tensor([1]),0.,True,False,False)
f(2).backward(create_graph=None) | f(2).backward(retain_graph=np.False_) | f(2).requires_grad_().sum().backward(retain_graph=2)
f(2,2).size(t.tensor([1])) | f(2,2).size(True) | f(2,2).size(2**70) | f(2,2).stride(1.0) | f(2,2).stride(None)
t.movedim(f(2,3),t.tensor([1]),0) | t.movedim(f(2,3),t.tensor(1),0) | t.flip(f(2,2),t.tensor([1])) | t.permute(f(2),t.tensor([0])) | t.sum(f(2,2),dim=t.tensor(True)) | t.var(f(2,2),t.tensor(True))
t.permute(f(2,3),[t.tensor(True),0]) | t.sum(f(2,2),[0,t.tensor([True])]) | t.sum(f(2,2),[0,t.tensor(1.)]) | t.sum(f(2,2),[0,t.tensor([True,True])])
t.histogramdd(f(2,2),[t.tensor(True),2]) | t.histogramdd(f(()),[t.tensor(3),t.tensor(True)]) | t.histogramdd(f(2,2),[t.tensor(2.),2])
t.sub(t.tensor([1,2]),t.tensor(1),2) | t.sub(t.tensor([1,2]),t.tensor([1]),2) | t.subtract(f(2),f(()),2) | t.sub(f(2),f(()).requires_grad_(),2)
t.gradient(f(2,2),spacing=[1.0,t.tensor(1.0)]) | t.tensor([3,f(())],dtype=t.bool) | t.tensor([3,t.tensor(2)],dtype=t.bool) | t.tensor([2,np.array(2.)],dtype=t.bool)
t.norm(f(2,0),nan,[1]) | t.grid_sampler(f(0,1,6,6),f(0,5,5,2),0,-2,True)
t.tril_indices(2,2,out=t.empty(2,3).long()) | t.nonzero(f(2),as_tuple=2) | t.nonzero(f(2),as_tuple=True) | f(2).to_dense(masked_grad=0)
f(2).new_empty_strided(t.tensor([1]),[0]) | t.split_with_sizes_copy(f(2,2),np.array([1,1])) | t.split_with_sizes_copy(f(2,2),[1,1],np.int64(1))
t.normal(0.,1.,t.tensor([2])) | t.normal(0.,1.,(2,),dtype=t.bfloat16,out=f(2).double()) | t.normal(f(0),f(0),out=f(0).long()) | t.bernoulli(f(3).requires_grad_(),out=f(3).long())
t.subtract(f(2),1,2,out=f(2)) | t.sub(f(2),1,2,out=f(2)) | t.subtract(f(2),1,2) | f(2).half().fill_diagonal_(2**63) | f(2,2).fill_diagonal_(2**63)
F.max_unpool2d(f(1,1,1),t.zeros(1,1,1).long(),[True,2]) | F.max_unpool2d(f(1,1,1),t.zeros(2,1,1).long(),[True,2]) | F.max_unpool2d(f(1,1,1),t.zeros(1,1,1).long(),[2,nan])
f(2).requires_grad_().backward(retain_graph=np.True_) | f(()).requires_grad_().clone().backward(retain_graph=np.True_)
t.full((2,),2**63) | t.full((2,),2**64-1,dtype=t.float64) | t.clamp(t.tensor([1]),max=2**63) | t.arange(2**63,2**63+2) | t.add(t.tensor([1]),1,alpha=2**63) | t.full((2,),2**63,dtype=t.uint64)
t.lt(f(2),2**63) | t.bitwise_and(t.tensor([1,-1]),2**63) | t.tensor([1,-1])+2**63 | t.mul(t.tensor([1,-1],dtype=t.uint8),2**63) | t.add(t.tensor(True),2**63) | f(2)*2**64
f(2).copy_(2**63) | t.float_power(2**63,f(2)) | 2**63/f(2).half() | t.lerp(f(2),f(2),2**63) | t.special.xlog1py(f(2),2**64-1) | f(2)<2**63 | f(2).masked_fill(f(2)>0,2**63)
"""


def _ask(t, text):
    return eval(text, {"t": t, "f": t.ones, "F": t.nn.functional, "np": np, "nan": float("nan")})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [call.strip() for call in CALLS.replace("\n", "|").split("|") if call.strip()])
def test_an_odd_argument_is_taken_where_pytorch_takes_it(text):
    try:
        expected = _ask(torch, text)
    except Exception as error:
        with pytest.raises(type(error) if type(error).__module__ == "builtins" else Exception):
            _ask(weir, text)
        return
    actual = _ask(weir, text)
    if "randint" in text:
        assert actual.shape == expected.shape and str(actual.dtype) == str(expected.dtype)
    else:
        assert_same(actual, expected)
