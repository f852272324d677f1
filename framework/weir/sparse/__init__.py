"""Sparse tensors: COO, CSR and CSC. `torch.sparse_coo_tensor` and its kin make them. Source: torch.sparse's documentation."""
from weir._absent import absent_names as _absent_names
from weir._lazy import lazy_attributes as _lazy_attributes

_later = _lazy_attributes("weir.sparse", {
    "mm": "_public", "addmm": "_public", "sum": "_public", "softmax": "_public", "log_softmax": "_public", "sampled_addmm": "_public",
    "spdiags": "_build", **dict.fromkeys("FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor CharTensor "
                                         "ByteTensor".split(), "_legacy"),
    "check_sparse_tensor_invariants": "_build", "as_sparse_gradcheck": "_public"})
__getattr__ = _absent_names("weir.sparse", "spsolve SparseSemiStructuredTensor SparseSemiStructuredTensorCUTLASS "
                            "SparseSemiStructuredTensorCUSPARSELT to_sparse_semi_structured", "weir does not have it", _later)
