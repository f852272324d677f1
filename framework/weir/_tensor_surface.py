"""Methods of Tensor that programs touch beside those that compute. They join the C type when the package is imported."""
import copyreg
import math
from warnings import warn as _warn

import _weir
from _weir import Tensor, _add_method

from ._arguments import Number, checked
from ._removed import functions as _gone


def cuda(self, device=None, non_blocking=False, memory_format=None):
    """AssertionError: there is no CUDA back end."""
    raise AssertionError("Torch not compiled with CUDA enabled")


def is_nonzero(self):
    """bool(self) of a tensor with one element; RuntimeError for others."""
    return bool(self)


def _refuse_gradients(name, *tensors):
    if any(t.requires_grad for t in tensors):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


def apply_(self, callable):
    """Each element becomes callable(element), in place."""
    from . import tensor
    _refuse_gradients("apply_", self)
    return self.copy_(tensor([_number_of(callable(x), self.dtype) for x in self.reshape(-1).tolist()]).reshape(self.shape).to(self.dtype))


def _number_of(value, dtype):
    if not isinstance(value, (int, float, complex, Tensor)):
        raise TypeError(f"apply_: expected a number of {dtype}, got {type(value).__name__}")
    return value


def map_(self, tensor, callable):
    """Each element becomes callable(element, the other's element), in place."""
    from . import tensor as make
    _refuse_gradients("map_", self, tensor)
    if self.dtype is not tensor.dtype:
        raise TypeError(f"map_: expected {self.type()} for 'other' (got {tensor.type()})")
    other = tensor.expand(self.shape).reshape(-1).tolist()
    return self.copy_(make([callable(a, b) for a, b in zip(self.reshape(-1).tolist(), other)]).reshape(self.shape).to(self.dtype))


def map2_(self, x, y, callable):
    """Each element becomes callable(element, x's, y's), in place."""
    from . import tensor as make
    _refuse_gradients("map2_", self, x, y)
    for name, t in (("x", x), ("y", y)):
        if self.dtype is not t.dtype:
            raise TypeError(f"map2_: expected {self.type()} for argument '{name}' (got {t.type()})")
    rows = zip(*(t.expand(self.shape).reshape(-1).tolist() for t in (self, x, y)))
    return self.copy_(make([callable(*row) for row in rows]).reshape(self.shape).to(self.dtype))


@checked
def fill_diagonal_(self, fill_value: Number, wrap: bool = False):
    """fill_value on the main diagonal, in place. With wrap, again after each square of a tall matrix."""
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if _weir.is_grad_enabled() and self.requires_grad and self.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    height, width = self.shape[0], self.shape[-1]
    if not self.numel():
        return self.fill_(fill_value)
    if self.dim() > 2:
        self.as_strided((height,), (sum(self.stride()),), self.storage_offset()).fill_(fill_value)
        return self
    if wrap and height > width + 1 and self.is_contiguous():  # the squares' diagonals are one line through the rows
        line, square = self.view(-1), width * (width + 1)
        for part in line[:square:width + 1], line[square::width + 1]:
            part.fill_(fill_value)
        return self
    for start in range(0, height if wrap else 1, width + 1):
        self[start:start + width].diagonal().fill_(fill_value)
    return self


def new(self, *args, **kwargs):
    """A tensor of self's dtype: of sizes (`size=` too) uninitialised, of a sequence its numbers."""
    from . import _tensor_types as kinds
    kind = self.type().removeprefix("torch.")
    return getattr(kinds, kind)(*args, **kwargs)


def storage_type(self):
    """The class of self's storage."""
    from . import storage
    return storage.TypedStorage


def _storage(self):
    from . import storage
    return storage.storage(self)


def _untyped_storage(self):
    from . import storage
    return storage.untyped_storage(self)


def as_subclass(self, cls):
    """self as an instance of a subclass of Tensor, over the same memory."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError("as_subclass: expected a subclass of Tensor, got " + repr(cls))
    return _weir._as_subclass(cls, self)


def _make_subclass(cls, data, require_grad=False, **options):
    """data as an instance of cls, over the same memory and without its history."""
    return _weir._make_subclass(cls, data, require_grad)


def _make_wrapper_subclass(cls, *args, **kwargs):
    """NotImplementedError: every tensor has memory of its own kind."""
    raise NotImplementedError("_make_wrapper_subclass: weir has no tensors without memory")


def dim_order(self, *, ambiguity_check=False):
    """The dims from the one with the largest stride to the one with the smallest. With `ambiguity_check`, RuntimeError where several orders are
    right; where it lists memory formats, only if the tensor is in none, or in more than one, of them."""
    import weir
    strides, formats = self.stride(), ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, (bool, list)) or not all(isinstance(f, weir.memory_format) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    several = 1 in self.shape or any(a == b for a, b in zip(strides, strides[1:]))
    if ambiguity_check is not False and several and sum(self.is_contiguous(memory_format=f) for f in formats) != 1:
        raise RuntimeError("The tensor does not have unique dim order, or cannot map to exact one of the given memory formats.")
    return tuple(sorted(range(self.dim()), key=lambda d: (-strides[d], d)))


def resize(self, *sizes):
    """A tensor of self's numbers in other sizes, numbers of which the product must be self's. Source: Tensor.resize, which PyTorch
    deprecates."""
    _warn("non-inplace resize is deprecated", stacklevel=2)
    if math.prod(sizes) != self.numel():  # arrays and tensors among the sizes say themselves whether that is one truth
        raise RuntimeError(f"requested resize to {sizes}, but the given tensor has a size of {tuple(self.shape)} ({self.numel()} elements). "
                           "autograd's resize can only change the shape of a given tensor, while preserving the number of elements.")
    return self.contiguous().view(*sizes)


def const_data_ptr(self):
    """data_ptr, for readers."""
    return self.data_ptr()


def is_set_to(self, tensor):
    """Do both show the same memory in the same way? What is marked as a conjugate or negative shows numbers that lie nowhere."""
    marked = any(x.is_conj() or x.is_neg() for x in (self, tensor))
    return (not marked and _weir._same_storage(self, tensor) and self.storage_offset() == tensor.storage_offset()
            and self.shape == tensor.shape and self.stride() == tensor.stride())


@checked
def to_dense(self, dtype=None, *, masked_grad: "bool | None" = None):
    """self, which is dense. RuntimeError for a dtype, as PyTorch takes none here."""
    return self if dtype is None else self.to(dtype)


def _sparse(name):
    def method(self, *args, **kwargs):
        from .sparse._rules import call
        return call(name, (self, *args), kwargs)
    method.__name__, method.__doc__ = name, f"{name} of sparse tensors."
    return method


def _refuse_quantised(name):
    def method(self, *args, **kwargs):
        raise NotImplementedError(f"{name}: weir has no quantised tensors")
    method.__name__, method.__doc__ = name, "NotImplementedError: weir has no quantised tensors."
    return method


def _refuse_device(kind):
    def method(self, device=None, non_blocking=False, memory_format=None):
        raise AssertionError(f"Torch not compiled with {kind} enabled")
    method.__doc__ = "AssertionError: there is no such back end."
    return method


def reinforce(self, reward):
    """RuntimeError: gone from PyTorch too; torch.distributions does it."""
    raise RuntimeError("reinforce() was removed. Use torch.distributions instead.")


def record_stream(self, stream):
    """NotImplementedError: there are no streams on the CPU."""
    raise NotImplementedError("record_stream: there are no streams on the CPU")


def prelu(self, weight):
    """self where positive, weight * self elsewhere."""
    from .nn.functional import prelu as function
    return function(self, weight)


def module_load(self, other, assign=False):
    """other in self's place, for load_state_dict: copied, or itself with `assign`."""
    return other.detach() if assign else self.copy_(other).detach()


def resize_as(self, tensor):
    """resize to the other's sizes."""
    if tensor.shape.numel() != self.numel():
        return resize(self, *tensor.shape)  # which refuses
    _warn("non-inplace resize_as is deprecated", stacklevel=2)
    return self.contiguous().view(*tensor.shape)


def __reversed__(self):
    """self with its first dim reversed."""
    return self.flip(0) if self.dim() else self


def __torch_function__(cls, func, types, args=(), kwargs=None):
    """func(*args, **kwargs), its results as instances of the subclass."""
    from .overrides import default_rule
    return default_rule(cls, func, types, args, kwargs)


def __init_subclass__(cls, **kwargs):
    """A subclass is made: its methods shall go through its `__torch_function__`, its operators take the left operand first."""
    _weir._keep_operators(cls)
    if not cls.__module__.startswith("weir."):
        from .overrides import subclassed
        subclassed(cls)


def _always(value):
    return property(lambda self: value)


_methods = dict(
    cuda=cuda, xpu=_refuse_device("XPU"), ipu=_refuse_device("IPU"), mtia=_refuse_device("MTIA"), is_nonzero=is_nonzero,
    apply_=apply_, map_=map_, map2_=map2_, fill_diagonal_=fill_diagonal_, new=new, storage=_storage,
    untyped_storage=_untyped_storage, storage_type=storage_type, as_subclass=as_subclass, dim_order=dim_order,
    _make_subclass=staticmethod(_make_subclass), _make_wrapper_subclass=staticmethod(_make_wrapper_subclass),
    resize=resize, const_data_ptr=const_data_ptr,
    is_set_to=is_set_to, to_dense=to_dense, reinforce=reinforce, record_stream=record_stream, prelu=prelu,
    module_load=module_load, resize_as=resize_as,
    is_distributed=lambda self: False, __reversed__=__reversed__, __torch_function__=classmethod(__torch_function__),
    __init_subclass__=classmethod(__init_subclass__),
    _typed_storage=_storage, sparse_dim=lambda self: 0, dense_dim=lambda self: self.dim(),
    __nonzero__=is_nonzero, __div__=Tensor.__truediv__, __idiv__=Tensor.__itruediv__, __long__=Tensor.__int__,
    __iter__=lambda self: _iterate(self), volatile=_always(False), name=_always(None),
)
for _name in ("cpu",):
    _methods["is_" + _name] = property(lambda self: self.device.type == "cpu")
for _name in "nested sparse_csr mkldnn xla ipu xpu maia mtia vulkan".split():
    _methods["is_" + _name] = _always(False)
for _name in ("to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc to_padded_tensor coalesce is_coalesced "
              "indices values crow_indices col_indices ccol_indices row_indices sparse_mask sparse_resize_ _nnz _indices _values "
              "sparse_resize_and_clear_ resize_as_sparse_ smm sspaddmm to_mkldnn").split():
    _methods[_name] = _sparse(_name)
for _name in ("dequantize int_repr q_scale q_zero_point q_per_channel_axis q_per_channel_scales q_per_channel_zero_points "
              "qscheme").split():
    _methods[_name] = _refuse_quantised(_name)
_methods.update(_gone)


def _iterate(t):
    from ._tensor import iterate
    return iterate(t)


def install():
    """Adds the methods that the C type has not yet, and lets a device be a scope."""
    for name, method in _methods.items():
        if name not in Tensor.__dict__:
            _add_method(name, method)
    _add_method("layout", property(lambda self: _strided()))
    for name in ("share_memory_", "is_shared"):
        _add_method(name, _shared(name))
    for op in (_weir.ops["torch"]["add"], Tensor.add):
        copyreg.pickle(type(op), _reduce_op)
    for made in Tensor.__subclasses__():  # before this module could hear of them
        _weir._keep_operators(made)
    device = _weir.device
    device.__enter__, device.__exit__, device.__call__ = _enter, _leave, _decorate


def _reduce_op(op):
    """An op of the core travels, and is copied, as its name."""
    for module, table in _weir.ops.items():
        for name, value in table.items():
            if value is op:
                return op_named, (module, name)
    if getattr(Tensor, op.__name__, None) is op:  # one that has another name as a method
        return getattr, (Tensor, op.__name__)
    raise TypeError(f"cannot pickle {op!r}: it is no op of the core")


def op_named(module, name):
    """An op of the core, as files name it."""
    return _weir.ops[module][name]


def _shared(name):
    def method(self):
        from .multiprocessing import shared  # which puts its own method in this one's place
        return getattr(shared, name)(self)
    method.__name__ = name
    return method


def _strided():
    import weir
    return weir.strided


def _enter(device):
    from ._default_device import enter
    return enter(device)


def _leave(device, *exc):
    from ._default_device import leave
    return leave(device, *exc)


def _decorate(device, function):
    from ._default_device import decorate
    return decorate(device, function)
