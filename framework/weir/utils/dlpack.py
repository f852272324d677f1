"""Tensors of other libraries. Source: torch.utils.dlpack."""
from weir._interchange import DLDeviceType, from_dlpack, to_dlpack  # noqa: F401
