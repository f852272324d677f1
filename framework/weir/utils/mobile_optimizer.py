"""Optimisation for phones, which weir does not do."""
from weir._absent import absent as _absent

optimize_for_mobile = _absent("utils.mobile_optimizer.optimize_for_mobile", "weir has no TorchScript")
