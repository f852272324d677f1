"""Sparse tensors, which weir has not."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.sparse", "addmm sampled_addmm mm sum softmax spsolve log_softmax SparseSemiStructuredTensor "
                            "SparseSemiStructuredTensorCUTLASS SparseSemiStructuredTensorCUSPARSELT to_sparse_semi_structured "
                            "as_sparse_gradcheck check_sparse_tensor_invariants", "weir has no sparse tensors")
