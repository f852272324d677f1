"""Of a call with two mistakes PyTorch names one: which, and what it refuses or takes at all, as a class of error."""

import numpy as np
import pytest
import torch
import weir

CALLS = """
f()[::-1] ; f()[0:1] ; f(3)[2**63] ; f(3).__setitem__(2**70,1) ; f().__setitem__(slice(None,None,-1),1) ; t.zeros(2**70) ; t.zeros(2,2**70) ; t.zeros(2,True) ; t.zeros(True,2)
f(3).view(2**70) ; f(2).view(2,True) ; f(3).permute(2**70) ; t.relu_(5) ; t.Tensor.xlogy_(2**70,f(2))
t.amax(f(2,0),[0,0,1]) ; t.amax(f(2,0),[0,5]) ; t.amax(f(2,2),[0,0]) ; t.amin(f(2,0),[1,5]) ; t.tensordot(f(1,1,1),f(2,1,2),dims=([0,0],[2,9])) ; t.tensordot(f(1,1),f(1,1),dims=([1,1],[0,1]))
t.nansum(f(2,2).cfloat(),[5]) ; t.nansum(f(2,2).cfloat(),[0,0]) ; t.nansum(f(2).cfloat()) ; t.nansum(f(2),dtype=t.complex64)
t.segment_reduce(f(2,3),"amax",axis=5) ; t.segment_reduce(f(2,3),"amax") ; t.segment_reduce(f(2,3),"sum",indices=t.tensor([1]),axis=5) ; t.segment_reduce(f(2,3),"none",lengths=t.tensor([2]))
t.segment_reduce(f(2,3),"sum",offsets=f(2).requires_grad_(),axis=-5)
t.native_batch_norm(f(3,0),None,None,f(1),None,True,.1,1e-5) ; t.native_batch_norm(f(3),None,None,f(3),f(3,3),True,.1,1e-5) ; t.native_batch_norm(f(3).long(),None,None,f(3),None,True,.1,1e-5)
t.native_batch_norm(f(3,0,4).cfloat(),None,None,f(0).cfloat(),f(0).cfloat(),False,.1,1e-5)
t.ormqr(f(4,3),f(),f(3,4)) ; t.ormqr(f(4,3),f(),f(4,4)) ; t.ormqr(f(4,3),f(),f(4,2,2),left=False) ; t.linalg.lu_solve(f(3,3),f().int(),f(3,1)) ; t.linalg.pinv(f(2),rtol=.1) ; t.linalg.pinv(f(2),atol=.1)
t.unflatten(f(),1,[]) ; t.unflatten(f(),0,[]) ; t.unflatten(f(2),5,[]) ; t.bilinear(f(3,2),f(3,2),f(5,5,5),f()) ; t.bilinear(f(3,5),f(3,5),f(5,5,5),f())
t.cumulative_trapezoid(f()>0,f()>0) ; t.cumulative_trapezoid(f(2),f(2)>0,dim=4) ; t.cosine_similarity(f(3),f(3),dim=0,eps=-1.) ; t.cosine_similarity(f(3),f(3),dim=5,eps=-1.)
F.multi_margin_loss(f(5,10),t.ones(5).int()) ; F.multi_margin_loss(f(5,10),t.ones(5).long()) ; F.binary_cross_entropy(f(),f(),f(1)) ; F.binary_cross_entropy(f(2),f(2),f(3,2)) ; F.binary_cross_entropy(f(2),f(2),f(1))
f(2,1).expand(2,3).index_copy_(0,t.tensor([0]),f(2,3)) ; x.index_copy_(0,t.tensor([0,1]),x) ; x.index_copy_(5,t.tensor([0]),x) ; t.index_copy(f(3),0,f(1),f(2)) ; t.index_copy(f(3),0,t.tensor([0]).int(),f(1))
x.put_(t.tensor([0,1]),x) ; x.put_(t.tensor([9,9]),x) ; x.put_(t.tensor([0]),x)
t.unique(f(3),axis=0) ; t.unique(f(3),dim=0) ; t.unique(f(3),sorted=0) ; t.unique_consecutive(f(3),axis=0) ; t.unique_consecutive(f(3),return_counts=None) ; t.unique_consecutive(f(3),return_inverse=np.False_) ; f(3).unique_consecutive(axis=0)
f(3).unique(return_counts=0) ; t.unique_consecutive(f(3),True,False,0) ; t.unique_consecutive(f(3),2) ; t.unique_consecutive(f(3),True,0)
t.unsafe_split(f(3),1,dim=2**70,out=(f(1),)) ; t.asarray(f(3).requires_grad_(),dtype=t.int32) ; t.asarray(f(3).requires_grad_(),dtype=t.int32,requires_grad=False) ; t.asarray(f(3).requires_grad_(),dtype=t.float64)
t.tensor(np.float32(.5),dtype=t.bool) ; t.tensor([np.float32(.5)],dtype=t.bool) ; t.tensor(np.float64(.5),dtype=t.bool) ; t.tensor(np.bool_(True),dtype=t.bool)
t.select_scatter(f(2,3).cfloat().requires_grad_(),f(3).cfloat(),0,0) ; t.select_scatter(f(2,3).cfloat(),f(3).cfloat(),0,0)
F.fractional_max_pool2d(f(1,3,5,5),2,2,_random_samples=f(1,4,2)/2) ; F.fractional_max_pool2d(f(2,5,5),2,2,_random_samples=f(1,2,2)/2)
t.conv_transpose2d(f(0,4,7,3),f(4,0,3,2),f(0),[2,2],[0,1],[1,-1]) ; t.conv_transpose2d(f(0,4,7,3),f(4,0,3,2),f(0),[2,2])
f(2).int().cauchy_(sigma=f().requires_grad_()) ; f(2).int().cauchy_(sigma="a") ; f(2).cfloat().bernoulli_(f()) ; f(2).cauchy_(2.0,1.0)
t.histogramdd(f(3,2),t.tensor([1])) ; t.histogramdd(f(3,2),True) ; t.histogramdd(f(3,2),2**63) ; t.histogramdd(f(3,2),np.int64(2)) ; t.histogramdd(f(3,2),t.tensor(2)) ; t.histogramdd(f(),[f()>0]) ; t.histogramdd(f(3,2),[2,2])
t.native_batch_norm(f(2).int(),f(2).int(),None,f(2).int(),f(2).int(),False,.1,1e-5) ; t.native_batch_norm(f(2),f(2),None,None,f(2),False,.1,1e-5) ; t.native_batch_norm(f(2).int(),f(2).int(),None,f(2).int(),None,True,.1,1e-5)
t.native_batch_norm(f(2),f(2),None,f(2),f(2),False,.1,1e-5) ; t.native_batch_norm(f(2).cfloat(),f(2).cfloat(),None,f(2).cfloat(),f(2).cfloat(),False,.1,1e-5) ; t.native_batch_norm(f(3,2).int(),f(2).int(),None,f(2).int(),None,False,.1,1e-5)
t.index_add(f(2,2,2),1,t.tensor([9]),f(2,1,2)) ; t.index_add(f(2,2,2),2,t.tensor([9]),f(2,2,1)) ; t.index_add(f(2,2,2),-3,t.tensor([9]),f(1,2,2)) ; t.index_add(f(2,2,2),-2,t.tensor([-1]),f(2,1,2)) ; t.index_add(f(2),0,t.tensor([9]),f(1))
t.nn.NLLLoss2d(f(3).requires_grad_())(f(1,3,2,2),-t.ones(1,2,2).long()) ; t.nn.NLLLoss2d(f(3))(f(1,3,2,2),-t.ones(1,2,2).long()) ; F.nll_loss(f(1,3),-t.ones(1).long(),f(3).requires_grad_()) ; F.nll_loss(f(),t.ones(()).long(),f(3).requires_grad_())
A(f(5,4)>0,f(3)>0,None) ; A(f(5,4).int(),f(3)>0,f(5,3).int()) ; A(f(5,4).int(),None,f(5,3)>0) ; A(f(5,4),f(3)>0,f(5,3).int()) ; A(f(5,4),f(3).int(),f(5,3).int()) ; A(f(5,4),f(3).double(),None) ; A(f(5,4),None,f(5,3).double())
t.optim.lr_scheduler.OneCycleLR(t.optim.SGD([f(3).requires_grad_()],lr=1.),1.,epochs=-1,steps_per_epoch=-1)
"""


def _attention(t):
    """Of a query, with two masks, by weights of its dtype."""
    def call(query, padding, mask):
        one = lambda *sizes: t.ones(sizes, dtype=query.dtype)  # noqa: E731
        return t.nn.functional.multi_head_attention_forward(query, one(3, 4), one(3, 4), 4, 2, one(12, 4), None, None, None, False, 0.0, one(4, 4), None,
                                                            key_padding_mask=padding, attn_mask=mask)
    return call


def _kind(t, text):
    names = {"A": _attention(t), "t": t, "F": t.nn.functional, "f": lambda *sizes: t.ones(sizes), "x": t.ones(2), "np": np}
    try:
        eval(text, names)
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("text", [call.strip() for call in CALLS.replace("\n", ";").split(";") if call.strip()])
def test_the_class_of_error_is_pytorchs(text):
    assert _kind(weir, text) == _kind(torch, text)


@pytest.mark.parametrize("reduce", ["amax", "amin", "max"])
def test_segments_by_both_names_of_an_extreme(reduce):
    ours, theirs = (t.segment_reduce(t.tensor([1.0, 5.0, 2.0]), reduce, lengths=t.tensor([2, 1])).tolist() for t in (weir, torch))
    assert ours == theirs


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("own", [True, False])
def test_instance_norm_takes_statistics_of_another_dtype(dtype, own, weighted):
    seen = []
    for t in (torch, weir):
        t.manual_seed(0)
        x, other = t.arange(24.0).reshape(2, 3, 4).to(getattr(t, dtype)), t.float64 if dtype == "float32" else t.float32
        mean, var = t.tensor([1.0, 2.0, 3.0], dtype=other), t.tensor([4.0, 5.0, 6.0], dtype=other)
        weight = t.tensor([1.0, 2.0, 0.5], dtype=x.dtype) if weighted else None
        y = t.nn.functional.instance_norm(x, mean, var, weight, use_input_stats=own)
        seen.append((str(y.dtype), str(mean.dtype), *(torch.tensor(v.tolist(), dtype=torch.float64) for v in (y, mean, var))))
    assert seen[0][:2] == seen[1][:2]
    for a, b in zip(seen[0][2:], seen[1][2:]):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
