"""Inputs inside scripted programs, which weir does not have."""
from weir._absent import absent as _absent

augment_model_with_bundled_inputs = _absent("utils.bundled_inputs.augment_model_with_bundled_inputs", "weir has no TorchScript")
