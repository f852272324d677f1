"""torch.masked: reductions and normalisations of the elements where a boolean mask holds, which are ops of the core.

Without `mask` all elements count. A mask broadcasts to input's shape. Masked-out elements are replaced by the identity of
the operation, which then runs as usual; what no element reaches holds that identity (or NaN). Where a function lists no
shape, it is that of the unmasked function of the same name. Source: https://pytorch.org/docs/stable/masked.html
"""
import weir
from weir._absent import absent_names
from weir._C import Tensor

_ops = {name: weir._C.ops["hidden"][f"masked_{name}"] for name in (
    "amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm normalize prod softmax softmin std sum var").split()}
globals().update(_ops)


def median(input: Tensor, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower median along dim; NaN where nothing counts, which is a ValueError for integers."""
    result = _ops["median"](input, dim, keepdim=keepdim, mask=mask)
    if input.is_floating_point():
        return result
    if bool(weir.isnan(result).any()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return result.to(dtype or input.dtype)


__getattr__ = absent_names("weir.masked", "MaskedTensor masked_tensor as_masked_tensor is_masked_tensor", "weir has no masked tensors")

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
