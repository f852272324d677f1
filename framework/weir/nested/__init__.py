"""Nested tensors, which weir has not."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.nested", "nested_tensor as_nested_tensor to_padded_tensor narrow nested_tensor_from_jagged "
                            "masked_select", "weir has no nested tensors")
