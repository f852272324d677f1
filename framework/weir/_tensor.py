"""Tensor methods written in Python. They join the C type, so `Tensor` stays one type without a Python subclass."""
import copy
import copyreg
import types

from _weir import (Tensor, _add_hook, _add_method, _add_post_accumulate_hook, _add_slots, _backward,
                   _keep_in_place, _make_subclass, _mark_truths, _numpy, _remove_hook, _resize, _warn_once, bool as _bool, dtype as DType, ops)

from . import _types as T

_torch, _hidden = ops["torch"], ops["hidden"]
_copy, _to_dtype = ops["method"]["copy"], _hidden["to_dtype"]


type_of = __builtins__["type"] if isinstance(__builtins__, dict) else __builtins__.type


class RemovableHandle:
    """Handle of a hook; `remove()` takes it off."""

    def __init__(self, remove):
        self._remove = remove

    def remove(self):
        if self._remove:
            self._remove()
            self._remove = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


def type(self, dtype=None, non_blocking=False):
    """The type's name, or self cast to dtype."""
    if dtype is None:
        name = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long",
                "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
                "complex128": "ComplexDouble", "complex32": "ComplexHalf", "uint16": "UInt16", "uint32": "UInt32",
                "uint64": "UInt64"}.get(self.dtype.name, self.dtype.name.capitalize())  # Float8_e5m2
        return f"torch.{name}Tensor"
    if isinstance(dtype, (str, type_of)):
        from ._tensor_types import dtype_of
        try:
            dtype = dtype_of(dtype)
        except TypeError:
            raise ValueError(f"invalid type: '{getattr(dtype, '__name__', dtype)}'") from None
    return self.to(dtype)


def numpy(self, *, force=False):
    """A NumPy array over the same memory. RuntimeError when it requires grad or is marked as a conjugate or a negative (with
    `force` it is resolved), TypeError for dtypes that NumPy lacks."""
    if not isinstance(self, Tensor):
        raise TypeError(f"numpy(): expected a Tensor, got {type_of(self).__name__}")
    if force:
        return _shown(self.detach().resolve_conj().resolve_neg(), True)
    for mark in ("conjugate", "negative"):
        if self.is_conj() if mark == "conjugate" else self.is_neg():
            resolve = "resolve_conj" if mark == "conjugate" else "resolve_neg"
            raise RuntimeError(f"Can't call numpy() on Tensor that has {mark} bit set. Use tensor.{resolve}().numpy() instead.")
    return _shown(self, force)


def _shown(tensor, force):
    array = _numpy(tensor, force)
    _keep_in_place(tensor)
    return array


def __array__(self, dtype=None):
    """The numbers, in place where the dtype lets them be. Without `copy`, as PyTorch's: NumPy then makes the copies that are asked for."""
    a = self.numpy()
    return a if dtype is None else a.astype(dtype, copy=False)


def __array_wrap__(self, array):
    """What NumPy's functions make of a tensor is a tensor; of bools, whole numbers. Source: Tensor.__array_wrap__ of PyTorch,
    whose parameters these are: NumPy 2 warns that it will want more of them."""
    from ._factories import from_numpy
    return from_numpy(array.astype("uint8") if array.dtype == "bool" else array)


def requires_grad_(self, requires_grad=True):
    """Sets requires_grad in place."""
    self.requires_grad = requires_grad
    return self


def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Gradients of self with respect to the leaves of its graph, added into their `.grad`."""
    from .autograd import backward as run
    run(self, gradient, retain_graph, create_graph, inputs=inputs)


def register_hook(self, hook):
    """hook(grad) runs whenever a gradient for self is computed; it may return a replacement."""
    number = _add_hook(self, hook)
    return _handle(self, number, hook, "gradient") if self.is_leaf else RemovableHandle(lambda: _remove_hook(self, number))


def _handle(leaf, number, hook, kind):
    """Takes the hook off again. What is kept here is for gradients that the engine does not bring: sparse ones of tables."""
    hooks = vars(leaf).setdefault("_leaf_hooks", {})
    hooks[number] = (kind, hook)

    def remove():
        _remove_hook(leaf, number)
        hooks.pop(number, None)
    return RemovableHandle(remove)


def register_post_accumulate_grad_hook(self, hook):
    """hook(self) runs after a gradient was added into self.grad."""
    return _handle(self, _add_post_accumulate_hook(self, hook), hook, "accumulated")


def resize_(self, *size, memory_format=None):
    """Changes the shape in place, and the strides to a memory format's; elements beyond the old ones are undefined."""
    if len(size) == 1 and isinstance(size[0], Tensor) and size[0].numel() != 1:
        raise TypeError("resize_(): argument 'size' (position 1) must be tuple of ints, not Tensor")
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    return _resize(self, size, None, memory_format)


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """self shows source's memory from now on: a tensor's in its geometry, or, given sizes, whatever part of a storage they say.

    A storage that is too small for a part of another geometry grows.
    """
    if getattr(source, "dtype", self.dtype) is not self.dtype:
        raise RuntimeError(f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}")
    if source is not None and source.device != self.device:
        raise RuntimeError(f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on different device "{source.device}".  '
                           "This is no longer allowed; the devices must match.")
    if source is None or isinstance(source, Tensor) and size is None:
        self.data = source if source is not None else self.new_empty(0)
        return self
    from .storage import TypedStorage, numbers_in, untyped_storage
    owner = untyped_storage(source) if isinstance(source, Tensor) else source.untyped() if isinstance(source, TypedStorage) else source
    whole = numbers_in(owner, self.dtype)
    size = (max(whole.numel() - storage_offset, 0),) if size is None else (size,) if isinstance(size, int) else tuple(size)
    if stride is None or stride == ():
        stride, step = [], 1
        for n in reversed(size):
            stride.insert(0, step)
            step *= max(n, 1)
    needed = storage_offset + 1 + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else 0
    if needed > whole.numel() and size == tuple(self.shape) and tuple(stride) == self.stride():  # PyTorch grows where the geometry changes only
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {storage_offset}, and itemsize {self.itemsize} requiring "
                           f"a storage size of {needed * self.itemsize} are out of bounds for storage of size {owner.nbytes()}")
    if needed > whole.numel():
        owner._flat.resize_(needed * self.itemsize)
        whole = numbers_in(owner, self.dtype)
    self.data = whole.as_strided(size, tuple(stride), storage_offset)
    return self


def iterate(self):
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(_torch["unbind"](self, 0))


def T_(self):
    if self.dim() != 2:
        _warn_once("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future "
                   "release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the "
                   "dimensions of a tensor.")
    return self.permute(*range(self.dim() - 1, -1, -1)) if self.dim() else self.view(())


def mT(self):
    """The transposes of matrices; a 0-d tensor itself."""
    if self.dim() == 0:
        _warn_once("Tensor.mT is deprecated on 0-D tensors, of which it is the identity.")
        return self
    if self.dim() < 2:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. "
                           f"Got {self.dim()}-D tensor.")
    return self.transpose(-2, -1)


def H(self):
    """The conjugate transpose of a matrix; a 0-d tensor's conjugate, which is the tensor itself where it is real."""
    if self.dim() not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.dim()}-D tensor.")
    if self.dim() == 0:
        _warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
    return self.t().conj() if self.dim() else self.conj()


def set_real(self, value):
    """Writes the real parts."""
    _torch["real"](self).copy_(value)


def set_imag(self, value):
    """Writes the imaginary parts."""
    _torch["imag"](self).copy_(value)


def where(self, condition, other):
    """self where condition holds, other elsewhere."""
    import weir
    return weir.where(condition, self, other)  # asks the types of both for rules


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """A tensor of data's numbers, of self's dtype and device unless it says others."""
    from ._factories import tensor
    return tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)


def _copy_over_memory(self, memo):
    """A copy in self's geometry; tensors that share memory share its copy."""
    if self.is_meta or self.is_conj() or self.is_neg():
        return self.detach().clone()
    from .storage import copied_memory, numbers_in, untyped_storage
    whole = _mark_truths(numbers_in(copied_memory(untyped_storage(self), memo), self.dtype))
    return whole.as_strided(self.shape, self.stride(), self.storage_offset()).detach()


def of_class(kind, t, requires_grad):
    """A new leaf over t's memory of the class `kind`; t itself where that is Tensor."""
    return t.requires_grad_(requires_grad) if kind is Tensor else _make_subclass(kind, t, requires_grad)


def __deepcopy__(self, memo):
    if not self.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
                           "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
                           "https://github.com/pytorch/pytorch/pull/103001")
    if id(self) in memo:
        return memo[id(self)]
    r = _copy_over_memory(self, memo)
    r = of_class(type_of(self), r, self.requires_grad)
    if self.grad is not None:
        r.grad = _copy_over_memory(self.grad, memo)
    if self.__dict__:
        r.__dict__.update(copy.deepcopy(self.__dict__, memo))
    memo[id(self)] = r
    return r


def __reduce_ex__(self, protocol):
    """By its whole storage, which `copy.copy` shares. Each tensor of a pickle holds a storage of its own, as PyTorch's; `weir.save` keeps
    views of one memory together."""
    if self.is_meta:
        made = _rebuild_meta, (self.dtype, tuple(self.shape), self.stride(), self.requires_grad)
    else:
        from .storage import untyped_storage
        made = _rebuild, (untyped_storage(self), self.dtype, self.storage_offset(), tuple(self.shape), self.stride(), self.requires_grad,
                          self.is_conj(), self.is_neg())
    state = written_on(self)
    return made if type_of(self) is Tensor and not state else (_rebuild_with_state, (*made, type_of(self), state))


def written_on(self):
    """What the program wrote on a tensor: its attributes, beside them those in slots, as copyreg has them."""
    slots = {name: getattr(self, name) for name in copyreg._slotnames(type_of(self)) if hasattr(self, name)}
    return (self.__dict__, slots) if slots else self.__dict__


def _rebuild(storage, dtype, offset, size, stride, requires_grad, conj, neg):
    t = Tensor().to(dtype).set_(storage, offset, size, stride)
    t = _torch["_conj"](t) if conj else t
    t = _torch["_neg_view"](t) if neg else t
    return t.detach().requires_grad_(requires_grad)


def _rebuild_from_type_v2(make, kind, args, state):
    """What PyTorch pickles a tensor with attributes, or of a subclass, by."""
    from ._rebuilt import _rebuild_from_type_v2 as rebuild
    return rebuild(make, kind, args, state)


def _rebuild_meta(dtype, size, stride, requires_grad):
    from ._factories import empty_strided
    return empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def _rebuild_with_state(make, args, kind, state):
    t = make(*args)
    t = of_class(kind, t, t.requires_grad)
    if hasattr(kind, "__setstate__"):
        t.__setstate__(state)
    else:
        set_state(t, state)
    return t


def set_state(t, state):
    """Writes on a tensor what `written_on` told."""
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    t.__dict__.update(attributes or {})
    for name, value in slots.items():
        setattr(t, name, value)


def __contains__(self, element):
    if isinstance(element, Tensor) or isinstance(element, (int, float, complex)):
        return (self == element).any().item()
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type_of(element)}.")


def __format__(self, spec):
    return self.item().__format__(spec) if self.dim() == 0 and not self.is_meta else object.__format__(self, spec) if spec else repr(self)


def _cast(dtype):
    def cast(self, memory_format=None):
        if memory_format is None and type_of(self) is Tensor:  # sparse tensors have a to() of their own
            return self if self.dtype is dtype else _to_dtype(self, dtype)
        return self.to(dtype, memory_format=memory_format)
    return cast


def _rsub(self, other):
    return _torch["sub"](other, self)


def data_of(name):
    def method(self, *args, **kwargs):
        return _torch[name](self, *args, **kwargs)
    method.__name__ = name
    return method


def _reversed(name):
    f = _torch[name]

    def method(self, other):
        try:
            return f(other, self)
        except TypeError:
            return NotImplemented  # Python asks the other operand, and raises in the end
    return method


def _number_first(f):
    """A method of f(n, input)."""
    return lambda self, n: f(n, self)


_methods = dict(
    polygamma=_number_first(_torch["polygamma"]), polygamma_=_number_first(Tensor.polygamma_),
    type=type, numpy=numpy, __array__=__array__, __array_wrap__=__array_wrap__,
    requires_grad_=requires_grad_, backward=backward, register_hook=register_hook,
    register_post_accumulate_grad_hook=register_post_accumulate_grad_hook, resize_=resize_,
    set_=set_, T=property(T_), mT=property(mT), H=property(H), mH=property(lambda self: self.adjoint()), where=where,
    new_tensor=new_tensor,
    __deepcopy__=__deepcopy__, __reduce_ex__=__reduce_ex__, __format__=__format__,
    float=_cast(T.float32), double=_cast(T.float64), half=_cast(T.float16), bfloat16=_cast(T.bfloat16),
    long=_cast(T.int64), int=_cast(T.int32), short=_cast(T.int16), char=_cast(T.int8), byte=_cast(T.uint8),
    bool=_cast(_bool), chalf=_cast(T.complex32), cfloat=_cast(T.complex64), cdouble=_cast(T.complex128), cpu=lambda self, memory_format=None: self.to("cpu", memory_format=memory_format), is_cuda=property(lambda self: False),
    is_sparse=property(lambda self: False), is_meta=property(lambda self: self.device.type == "meta"),
    is_quantized=property(lambda self: False), is_mps=property(lambda self: False), layout=property(lambda self: "strided"),
    itemsize=property(lambda self: self.dtype.itemsize),
    nbytes=property(lambda self: self.numel() * self.dtype.itemsize),
    real=property(_torch["real"], set_real), imag=property(_torch["imag"], set_imag),
    is_signed=lambda self: self.dtype.is_signed,
    is_same_size=lambda self, other: self.shape == other.shape, get_device=lambda self: -1,
    __array_priority__=1000, __rsub__=_reversed("sub"), __rdiv__=lambda self, other: self.reciprocal() * other, pin_memory=lambda self: self, is_pinned=lambda self: False,
    share_memory_=lambda self: self, is_shared=lambda self: False,
)


def install(repr_of):
    """Adds the methods above to the C type; called once, when the package is imported."""
    from ._interchange import __dlpack__, __dlpack_device__
    for name, value in (_methods | {"__dlpack__": __dlpack__, "__dlpack_device__": __dlpack_device__}).items():
        if isinstance(value, types.FunctionType):
            value.__name__ = name  # by which rules of types know it
        _add_method(name, value)
    _add_slots(repr_of, repr_of, iterate)
    Tensor.__contains__ = __contains__  # assigned, which fills the slot that `in` looks at
