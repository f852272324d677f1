"""Tensors without memory for PyTorch's compiler: names only; the device "meta" gives shapes."""
from weir._absent import absent as _absent

FakeTensor = _absent("_subclasses.FakeTensor", "weir has no fake tensors; use device 'meta'")
FakeTensorMode = _absent("_subclasses.FakeTensorMode", "weir has no fake tensors; use device 'meta'")
