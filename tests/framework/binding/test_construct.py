"""Tensors from Python data, as PyTorch makes them: each expression is evaluated with both frameworks."""

import warnings

import numpy as np
import pytest
import torch
import weir

EXPRESSIONS = """
t.Tensor(2, 3).shape
t.Tensor([1., 2.])
t.tensor(None, dtype=t.bool)
t.tensor([True, None], dtype=t.bool)
t.as_tensor([None], dtype=t.bool)
t.Tensor([[1, 2], [3, 4]])
t.Tensor(np.ones(3))
t.Tensor(t.ones(3, dtype=t.float64))
t.Tensor()
t.Tensor(3).shape
t.Tensor(2.5)
t.Tensor(t.Size([2, 3])).shape
t.Tensor((2, 3))
t.Tensor(True)
t.Tensor([2, 3], device='cpu')
t.Tensor(size=(2, 3)).shape
t.Tensor(data=[1., 2.])
t.Tensor(2, 3).new(2, 2).shape
t.FloatTensor(2, 3).shape
t.LongTensor([1.5, 2])
t.LongTensor(2).shape
t.ByteTensor([300])
t.tensor(1j)
t.tensor([1, 1j])
t.tensor([2**63])
t.tensor(2**64)
t.tensor(-2**63 - 1)
t.tensor(-2**63)
t.tensor(2**63, dtype=t.float32)
t.tensor(300, dtype=t.uint8)
t.tensor(-1, dtype=t.uint8)
t.tensor(-256, dtype=t.uint8)
t.tensor(200, dtype=t.int8)
t.tensor(float('nan'), dtype=t.int64)
t.tensor([float('nan')], dtype=t.int64)
t.tensor([float('inf')], dtype=t.int32)
t.tensor(1e30, dtype=t.int64)
t.tensor(1.7, dtype=t.int64)
t.tensor([1e300], dtype=t.float32)
t.tensor(70000, dtype=t.float16)
t.as_tensor(0.1, dtype=t.float64).item()
t.tensor([np.float64(1)])
t.tensor(np.float64(1))
t.tensor([np.float32(1)])
t.tensor([np.int32(1)])
t.tensor(np.int32(1))
t.tensor([np.array([1, 2]), np.array([3, 4])])
t.tensor([np.ones(2), [3, 4]])
t.tensor([t.tensor(1), 2])
t.tensor([t.tensor([1, 2]), t.tensor([3, 4])])
t.tensor([t.tensor(1., dtype=t.float64), 2])
t.tensor([True, 1])
t.tensor([True, 1.5])
t.tensor([])
t.tensor([[], []])
t.tensor([[1], []])
t.tensor([1, [2]])
t.tensor([[1], 2])
t.tensor(["a"])
t.tensor([None])
t.tensor(None)
t.tensor({1: 2})
t.tensor(range(3))
t.tensor(np.array(['a']))
t.tensor(np.array([1, 2], dtype='>i4'))
t.tensor(np.array([1, 2])[::-1])
t.tensor(b"ab")
t.tensor(bytearray(b"ab"))
t.tensor(1, dtype=float)
t.tensor([1, 0, 2], dtype=bool)
t.tensor([1j], dtype=t.float32)
t.tensor([t.ones(1)])
t.tensor([t.ones(2, requires_grad=True).sum()])
t.tensor(t.ones(2), dtype=t.int32)
t.tensor(1, dtype=3)
t.tensor(1, 2)
t.tensor([1, 2], requires_grad=True)
t.tensor([1.], requires_grad=True)
t.tensor(1.5, requires_grad=1)
t.as_tensor([1, 2], dtype=t.float32)
t.as_tensor(np.ones(2))
t.asarray(np.ones(2), copy=True)
t.asarray([1, 2], copy=False)
t.asarray(t.ones(2, requires_grad=True)).requires_grad
t.asarray(t.ones(2, requires_grad=True), dtype=t.float64).requires_grad
t.asarray(t.ones(2), requires_grad=True).requires_grad
t.frombuffer(bytearray(b"abcdefgh"), dtype=t.int32)
t.frombuffer(bytearray(b"abcdefgh"), dtype=t.int32, count=1, offset=4)
t.frombuffer(bytearray(b"abcdefg"), dtype=t.int32)
t.frombuffer(bytearray(b"abcdefgh"), dtype=t.int32, offset=8)
t.frombuffer(bytearray(b"abcdefgh"), dtype=t.int32, count=3)
t.eye(2, out=t.empty(0))
t.eye(2.5)
t.zeros(size=(2, 3)).shape
t.zeros(2, dtype=float)
t.full((2,), 1j)
t.full((2,), 300, dtype=t.uint8)
t.ones(2, dtype=t.int64).fill_(2.7)
t.ones(2, dtype=t.uint8).fill_(300)
t.ones(2, dtype=t.int64).fill_(float('nan'))
t.ones(2) + np.ones(2)
t.ones(2) * np.float64(2)
1 in t.ones(2)
t.arange(6).resize(3, 2)
t.arange(6).resize(4)
t.arange(6).resize_as(t.ones(2, 3))
t.ones(2).eig()
t.ones(2).const_data_ptr() > 0
t.view_as_real_copy(t.ones(2, dtype=t.complex64))
t.empty(0).set_(t.arange(6.0).untyped_storage(), 1, (2, 2), (2, 1))
t.empty(0).set_(t.arange(6.0).untyped_storage(), 0, t.Size([2, 3]))
t.empty(0).set_(t.arange(6.0).storage())
t.empty(0).set_(t.arange(6.0), 2, (3,), (1,))
t.empty(0).set_(t.arange(6.0)[2:])
t.empty(0, dtype=t.int64).set_(t.arange(6.0).storage())
t._assert_async(t.tensor(1))
t._assert_async(t.tensor(0), "zero")
t.asarray(t.arange(3, dtype=t.uint8).untyped_storage(), dtype=t.uint8)
4 in t.arange(6).view(2, 3)
"x" in t.ones(2)
np.add(t.ones(2), 1)
np.greater(t.arange(3), 1)
np.cumsum(t.arange(3.0))
np.clip(t.arange(3.0), 0, 1)
np.exp(t.tensor(1.0))
repr([t.finfo(d) for d in (t.float16, t.bfloat16, t.float32, t.float64)])
repr([t.iinfo(d) for d in (t.uint8, t.int32, t.int64)])
t.finfo(t.float32) == t.finfo(t.float32), t.iinfo(t.int8) == t.iinfo(t.int16), len({t.finfo(t.half), t.finfo(t.float16)})
t.arange(6)[np.array([1, 2])]
t.arange(6)[range(2)]
t.arange(6).view(2, 3)[[[0, 1], [1, 2]]]
t.arange(6).view(2, 3)[[0, 1], [1, 2]]
t.arange(6)[np.int64(2)]
t.arange(6)[np.array(2)]
t.arange(6)[[True, False, True, False, True, False]]
t.arange(6)[1.0]
t.clamp(t.arange(3), min=.5)
t.empty([1] * 20).dim()
t.ones(2).type('torch.DoubleTensor')
t.ones(2).type(t.LongTensor)
t.zeros(3).untyped_storage().nbytes()
"""


def outcome(framework, expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = eval(expression, {"t": framework, "np": np})
        except Exception as error:
            return "raised", type(error).__name__
    if isinstance(value, framework.Tensor):
        return str(value.dtype), list(value.shape), value.requires_grad, value.detach().numpy().tolist()
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_as_pytorch(expression):
    assert outcome(weir, expression) == outcome(torch, expression)


@pytest.mark.parametrize("fill", ["arange(5, out=v)", "linspace(0, 1, 5, out=v)", "zeros(5, out=v)", "arange(2., out=v)", "eye(1, out=v)",
                                  "ones(1, out=v)", "logspace(0, 1, 2, out=v)", "full((2,), 3., out=v)"])
@pytest.mark.parametrize("view", ["base[2:4]", "base[::3][:2]"])
def test_out_in_a_part_of_larger_memory(fill, view):
    seen = []
    for t in (weir, torch):
        base = t.full((10,), -1.0)
        v = eval(view)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval(f"t.{fill}")
        seen.append((base.tolist(), list(v.shape), v.stride(), v.storage_offset()))
    assert seen[0] == seen[1]


def test_a_list_that_changes_while_it_is_read():
    items = []

    class Shrinks:
        def __index__(self):
            items.clear()
            return 1

    items.extend([Shrinks(), 2, 3])
    with pytest.raises((ValueError, TypeError, RuntimeError, IndexError)):
        weir.tensor(items, dtype=weir.int64)
