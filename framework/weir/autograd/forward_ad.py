"""Forward mode, which weir has not: `torch.func.jvp` gives the same derivatives by the backward pass."""
from weir._absent import absent as _absent

_WHY = "weir has no forward mode; use torch.func.jvp"
for _name in "dual_level make_dual unpack_dual enter_dual_level exit_dual_level UnpackedDualTensor".split():
    globals()[_name] = _absent(f"autograd.forward_ad.{_name}", _WHY)
