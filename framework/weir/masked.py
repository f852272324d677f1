"""torch.masked: reductions and normalisations of the elements where a boolean mask holds, which are ops of the core.

Without `mask` all elements count. A mask broadcasts to input's shape. Masked-out elements are replaced by the identity of
the operation, which then runs as usual; what no element reaches holds that identity (or NaN). Where a function lists no
shape, it is that of the unmasked function of the same name. Source: https://pytorch.org/docs/stable/masked.html
"""
import weir
from weir._absent import absent_names

globals().update({name: weir._C.ops["hidden"][f"masked_{name}"] for name in (
    "amax amin argmax argmin cumprod cumsum log_softmax logaddexp logsumexp mean median norm normalize prod softmax softmin std sum var").split()})

__getattr__ = absent_names("weir.masked", "MaskedTensor masked_tensor as_masked_tensor is_masked_tensor", "weir has no masked tensors")

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
