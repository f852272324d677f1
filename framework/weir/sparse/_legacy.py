"""`torch.sparse.FloatTensor` and its kin, which older programs make sparse tensors with."""
import weir
from weir import _tensor_types as _dense

from ._build import sparse_coo_tensor
from ._tensor import CooTensor


class _SparseType(type):
    """The type of these names: a constructor, and a test for `isinstance`."""

    def __call__(cls, *args):
        """Of indices, values and perhaps a size; of sizes alone without entries; of nothing empty."""
        if not args or all(type(n) is int for n in args):
            return sparse_coo_tensor(args or (0,), dtype=cls.dtype)
        if len(args) == 1 and isinstance(args[0], weir.Size):
            return sparse_coo_tensor(tuple(args[0]), dtype=cls.dtype)
        indices, values, *size = args
        return sparse_coo_tensor(indices, values, *(tuple(s) for s in size))

    def __instancecheck__(cls, obj):
        return isinstance(obj, CooTensor) and obj.dtype is cls.dtype

    def __repr__(cls):
        return f"<class 'torch.sparse.{cls.__name__}'>"


for _name in "FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor CharTensor ByteTensor".split():
    globals()[_name] = _SparseType(_name, (), {"dtype": getattr(_dense, _name).dtype, "__module__": "torch.sparse", "is_sparse": True,
                                               "__doc__": f"sparse_coo_tensor for {getattr(_dense, _name).dtype}."})
