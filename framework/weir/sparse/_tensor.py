"""Sparse tensors: values and where they stand, behind the interface of Tensor. Source: torch.sparse's documentation.

A sparse tensor is a Tensor of the meta device, which has a shape and a dtype but no memory: an op that does not know of sparse
tensors can give no dense answer. Its values are an ordinary tensor, whose history is that of the whole. Calls reach it through
`__torch_function__` and the table of `_rules`.
"""
import weir
from weir._C import Tensor, _make_subclass, ops
from weir.overrides import admit

from ._rules import activate, call_function, equip

_empty = ops["torch"]["empty"]


def layout_of(t):
    """The word for t's layout in messages."""
    return t.layout.partition("sparse_")[2].upper() if is_sparse(t) else "strided"


def is_sparse(t):
    """Is t a tensor of any sparse layout?"""
    return isinstance(t, SparseTensor)


def alias(values):
    """values, or where they have a history a view of them, so that a result of an op is no leaf."""
    return values.view(values.shape) if values.requires_grad else values


class SparseTensor(Tensor):
    """What COO and compressed tensors share. Made by the functions of `_build` and by rules, not by its constructor."""

    _v = None  # the values, (nnz, *dense shape); its history is the tensor's

    @classmethod
    def _blank(cls, shape, values):
        activate()
        made = _make_subclass(cls, _empty(tuple(shape), dtype=values.dtype, device="meta"))
        made._v = values
        return made

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return call_function(func, args, kwargs or {})

    # ---- facts ----
    is_sparse_csr = property(lambda self: self.layout == "sparse_csr")
    is_cpu = property(lambda self: True)
    is_meta = property(lambda self: False)
    device = property(lambda self: self._v.device)
    _version = property(lambda self: self._v._version)
    nbytes = property(lambda self: _no_bytes())

    def _nnz(self):
        """How many entries are stored."""
        return self._v.shape[0]

    def dense_dim(self):
        """How many of the last dims every entry holds whole."""
        return self._v.dim() - 1

    def sparse_dim(self):
        """How many of the first dims are given by indices."""
        return self.dim() - self.dense_dim()

    def stride(self, dim=None):
        """Zeros: there is no memory to step through."""
        return (0,) * self.dim() if dim is None else 0

    def is_contiguous(self, *, memory_format=None):
        return False

    def is_pinned(self, device=None):
        return False

    # ---- autograd: that of the values ----
    grad_fn = property(lambda self: self._v.grad_fn)
    is_leaf = property(lambda self: self._v.is_leaf)
    retains_grad = property(lambda self: self._v.retains_grad)

    @property
    def requires_grad(self):
        return self._v.requires_grad

    @requires_grad.setter
    def requires_grad(self, on):
        if on and not self._v.requires_grad:
            if not (self.is_floating_point() or self.is_complex()):
                raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
            self._v = self._v.detach()
        self._v.requires_grad = on

    @property
    def grad(self):
        """The gradient, with the places of self (each once), or None."""
        grad = self._v.grad
        return None if grad is None else self._gradient(grad)

    @grad.setter
    def grad(self, grad):
        if grad is None:
            self._v.grad = None
            return
        if not is_sparse(grad) or grad.layout != self.layout or grad.shape != self.shape or grad._nnz() != self._nnz():
            raise NotImplementedError(f"grad of a sparse tensor: expected None or a {self.layout} tensor with its indices")
        self._v.grad = grad._v

    @property
    def data(self):
        return self.detach()

    @data.setter
    def data(self, other):
        with weir.no_grad():
            self._become(other.detach())

    def requires_grad_(self, requires_grad=True):
        """Sets requires_grad in place."""
        self.requires_grad = requires_grad
        return self

    def retain_grad(self):
        """Keeps .grad of a non-leaf."""
        self._v.retain_grad()

    def register_hook(self, hook):
        """hook(grad) runs whenever a gradient for self is computed; it may return a replacement, a sparse tensor too."""
        def of_values(grad):
            changed = hook(self._with(grad))
            return changed._v if is_sparse(changed) else changed
        return self._v.register_hook(of_values)

    def register_post_accumulate_grad_hook(self, hook):
        """hook(self) runs after a gradient was added into self.grad."""
        return self._v.register_post_accumulate_grad_hook(lambda values: hook(self))

    def detach(self):
        """The same entries without history."""
        return self._with(self._v.detach())

    def detach_(self):
        """Drops the history in place."""
        self._v = self._v.detach()
        return self

    # ---- values that only move ----
    def _with(self, values):
        """self's places with other values, (nnz, *dense shape)."""
        raise NotImplementedError

    def _become(self, other):
        """self shows what other shows, in place. RuntimeError for a leaf that requires grad."""
        if self.requires_grad and self.is_leaf and weir.is_grad_enabled():
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        if other.shape != self.shape or other.dtype is not self.dtype:
            Tensor.data.__set__(self, _empty(tuple(other.shape), dtype=other.dtype, device="meta"))
        for name, value in vars(other).items():
            setattr(self, name, value)
        return self

    def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
        """self in another dtype or device; self itself when nothing changes and copy is False."""
        args = tuple(a._v if is_sparse(a) else a for a in args)
        values = self._v.to(*args, dtype=dtype, device=device, non_blocking=non_blocking, copy=copy)
        return self if values is self._v else self._with(values)

    def cpu(self, memory_format=None):
        return self

    def cuda(self, device=None, non_blocking=False, memory_format=None):
        """AssertionError: there is no CUDA back end."""
        return self._v.cuda(device)

    def values(self):
        """The values, (nnz, *dense shape), differentiable."""
        return alias(self._v)

    def numpy(self, *, force=False):
        """TypeError: only dense tensors have arrays."""
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def tolist(self):
        """RuntimeError: there is no memory to read."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")

    data_ptr = tolist

    def storage(self):
        """NotImplementedError: there is none."""
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")

    untyped_storage = storage_offset = storage

    def item(self):
        """The only element as a Python number."""
        return self.to_dense().item()

    def __array__(self, dtype=None):
        return self.numpy()

    def __bool__(self):
        return bool(self.to_dense()) if self.numel() == 1 else bool(weir.zeros(2))  # which raises PyTorch's error

    __float__, __int__, __complex__ = (lambda self: float(self.to_dense())), (lambda self: int(self.to_dense())), (
        lambda self: complex(self.to_dense()))

    def __iter__(self):
        return iter(self.unbind(0))

    def __repr__(self, *, tensor_contents=None):
        from ._text import text
        return text(self)

    __str__ = __repr__

    def __format__(self, spec):
        return object.__format__(self, spec) if spec else repr(self)

    def __hash__(self):
        return id(self)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            if not self.is_leaf:
                raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
                                   "the moment.")
            memo[id(self)] = self.detach().clone().requires_grad_(self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        from ._build import rebuild
        return rebuild, (str.__str__(self.layout), self._parts())

    def _parts(self):
        """What PyTorch's files hold of it, beside the layout."""
        raise NotImplementedError


def _no_bytes():
    raise RuntimeError("nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the nbytes of "
                       "the indices and values.  If you want the size of the  equivalent dense tensor, multiply numel() by "
                       "element_size()")


class CooTensor(SparseTensor):
    """Entries at coordinates: `_i` int64 (sparse_dim, nnz). Where not `_coalesced`, a place may come twice, and values add up."""

    layout = property(lambda self: weir.sparse_coo)
    is_sparse = property(lambda self: True)
    _i, _coalesced, _pattern = None, False, None

    @classmethod
    def _make(cls, indices, values, shape, coalesced=False, pattern=None):
        made = cls._blank(shape, values)
        made._i, made._coalesced, made._pattern = indices, coalesced or values.shape[0] < 2, pattern
        return made

    def _with(self, values):
        shape = (*self.shape[:self.sparse_dim()], *values.shape[1:])
        return CooTensor._make(self._i, values, shape, self._coalesced, self._pattern)

    def _gradient(self, grad):
        if self._coalesced:
            return self._with(grad)
        places, first = _first_of_each(flat(self._i, self.shape))
        return CooTensor._make(self._i.index_select(1, first), grad.index_select(0, first), self.shape, True)

    def _indices(self):
        """The indices as they are stored, int64 (sparse_dim, nnz)."""
        return self._i

    def _values(self):
        """The values as they are stored, without history."""
        return self._v.detach()

    def _coalesced_(self, coalesced):
        self._coalesced = coalesced
        return self

    def is_coalesced(self):
        """Does every place come once, and in order?"""
        return self._coalesced

    def indices(self):
        """The indices, int64 (sparse_dim, nnz). RuntimeError where self is not coalesced."""
        return self._checked("indices")._i

    def values(self):
        """The values, (nnz, *dense shape), differentiable. RuntimeError where self is not coalesced."""
        return alias(self._checked("values")._v)

    def _checked(self, name):
        if not self._coalesced:
            raise RuntimeError(f"Cannot get {name} on an uncoalesced tensor, please call .coalesce() first")
        return self

    def coalesce(self):
        """self with every place once, in order; values of one place are added. self itself where that holds already."""
        if self._coalesced:
            return self
        numbers = flat(self._i, self.shape)
        places, slot = numbers.unique(return_inverse=True)
        total = weir.zeros((places.shape[0], *self._v.shape[1:]), dtype=self._v.dtype)
        return CooTensor._make(unflat(places, self.shape[:self.sparse_dim()]), add_rows(total, slot, self._v), self.shape, True)

    def _matrix(self):
        """The Pattern of a 2-d tensor without dense dims."""
        if self._pattern is None:
            from ._pattern import Pattern
            self._pattern = Pattern(self._i[0], self._i[1], tuple(self.shape), self._coalesced)
        return self._pattern

    def _parts(self):
        return self._i, self._v.detach(), self.shape, self._coalesced


class CompressedTensor(SparseTensor):
    """CSR (`_axis` 0) or CSC (`_axis` 1): entries sorted by row or column, whose starts are `_starts`, (n + 1,).

    `_places`, (nnz,), says where entries stand along the other axis.
    """

    layout = property(lambda self: weir.sparse_csc if self._axis else weir.sparse_csr)
    is_sparse = property(lambda self: False)
    _axis, _starts, _places, _pattern = 0, None, None, None

    @classmethod
    def _make(cls, axis, starts, places, values, shape, pattern=None):
        made = cls._blank(shape, values)
        made._axis, made._starts, made._places, made._pattern = axis, starts, places, pattern
        return made

    def _with(self, values):
        return CompressedTensor._make(self._axis, self._starts, self._places, values, (*self.shape[:2], *values.shape[1:]), self._pattern)

    _gradient = _with

    def _part(self, axis, attribute, name, kind):
        if self._axis != axis:
            raise RuntimeError(f"{name} expected sparse {kind} compressed tensor layout but got Sparse{layout_of(self).title()}")
        return getattr(self, attribute)

    def crow_indices(self):
        """Where each row's entries begin, (rows + 1,). RuntimeError for CSC."""
        return self._part(0, "_starts", "crow_indices", "row")

    def col_indices(self):
        """The entries' columns, (nnz,). RuntimeError for CSC."""
        return self._part(0, "_places", "col_indices", "row")

    def ccol_indices(self):
        """Where each column's entries begin, (columns + 1,). RuntimeError for CSR."""
        return self._part(1, "_starts", "ccol_indices", "column")

    def row_indices(self):
        """The entries' rows, (nnz,). RuntimeError for CSR."""
        return self._part(1, "_places", "row_indices", "column")

    def _matrix(self):
        if self._pattern is None:
            from ._pattern import Pattern
            starts, places = self._starts.long(), self._places.long()
            count = starts[1:] - starts[:-1]
            along = weir.arange(count.shape[0]).repeat_interleave(count)
            shape = tuple(self.shape[:2])
            if self._axis == 0:
                self._pattern = Pattern(along, places, shape, True, starts)
            else:
                self._pattern = Pattern(places, along, shape)
        return self._pattern

    def _parts(self):
        return self._starts, self._places, self._v.detach(), self.shape


def flat(indices, shape):
    """The number of each place, in the order of coalesced indices: int64 (nnz,)."""
    number = None
    for row, size in zip(indices, shape):
        number = row if number is None else number * size + row
    return weir.zeros(indices.shape[1], dtype=weir.int64) if number is None else number


def unflat(numbers, sizes):
    """The inverse of `flat`: int64 (len(sizes), nnz)."""
    rows = []
    for size in reversed(sizes):
        rows.append(numbers % size)
        numbers = numbers // size
    return weir.stack(rows[::-1]) if rows else weir.zeros(0, numbers.shape[0], dtype=weir.int64)


def add_rows(into, slot, rows):
    """into with rows added at `slot`; "or" for bools."""
    if into.dtype is weir.bool:
        return into.to(weir.uint8).index_add(0, slot, rows.to(weir.uint8)).ne(0)
    return into.index_add(0, slot, rows)


def _first_of_each(numbers):
    """The different numbers in order, and one position of each."""
    places, slot = numbers.unique(return_inverse=True)
    first = weir.zeros_like(places)
    first[slot] = weir.arange(numbers.shape[0])
    return places, first


for _cls in (SparseTensor, CooTensor, CompressedTensor):
    admit(_cls)
equip(SparseTensor)
