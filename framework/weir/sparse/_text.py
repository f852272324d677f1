"""Sparse tensors as text, as PyTorch prints them."""
import weir
from weir import _tensor_str

from ._tensor import CooTensor

_INDENT = len("tensor(")


def _named(name, t, size=None):
    prefix = f"{name}=tensor("
    body = "[]" if t.numel() == 0 else _tensor_str._body(t, _INDENT + len(prefix))
    return prefix + body + (f", size={tuple(t.shape)}" if t.numel() == 0 else "") + ")"


def _suffixes(s):
    yield f"size={tuple(s.shape)}"
    yield f"nnz={s._nnz()}"
    default = weir.get_default_dtype()
    if s.dtype not in (default, weir.int64, weir.bool, weir.promote_types(default, weir.complex64)):
        yield f"dtype={s.dtype}"
    yield f"layout={s.layout}"
    if s.grad_fn is not None:
        yield f"grad_fn=<{_tensor_str._node_name(s.grad_fn)}>"
    elif s.requires_grad:
        yield "requires_grad=True"


def text(s):
    """tensor(indices=..., values=..., size=..., nnz=..., layout=...)."""
    if isinstance(s, CooTensor):
        parts, on_new_line = [("indices", s._i)], True
    else:
        names = ("ccol_indices", "row_indices") if s._axis else ("crow_indices", "col_indices")
        parts, on_new_line = list(zip(names, (s._starts, s._places))), False
    parts.append(("values", s._v.detach()))
    result = "tensor(" + (",\n" + " " * _INDENT).join(_named(name, t) for name, t in parts)
    return _tensor_str._add_suffixes(result, _suffixes(s), _INDENT, on_new_line)
