"""Tensors as text, exactly as PyTorch prints them. Source: torch.set_printoptions' documentation and its output."""

import contextlib
import dataclasses
import math

import _weir

from . import _C, _types as T


@dataclasses.dataclass
class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None  # None: decided by the numbers


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=math.inf),
}
PRINT_OPTS = _Options()  # programs read and write it


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Sets how tensors print; `profile` is "default", "short" or "full"."""
    given = dataclasses.asdict(_PROFILES[profile]) if profile is not None else {}
    named = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    given.update((name, value) for name, value in named.items() if value is not None)
    for name, value in {**given, "sci_mode": sci_mode}.items():
        setattr(PRINT_OPTS, name, value)


def get_printoptions() -> dict:
    """The current options by name."""
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**kwargs):
    """A scope with options as set_printoptions takes them."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


class _Formatter:
    """Formats the elements of one tensor to a common width."""

    def __init__(self, values, floating, dtype_is_bool):
        self._floating, self._whole, self._scientific = floating, True, False
        self.width = 1
        if not floating:
            texts = [str(v) for v in values]
            self.width = max([self.width, *map(len, texts)])
            return
        finite = [abs(v) for v in values if math.isfinite(v) and v != 0]
        if finite:
            low, high = min(finite), max(finite)
            self._whole = all(v == math.ceil(v) for v in finite)
            self._scientific = high / low > 1000.0 or high > 1.0e8 or (not self._whole and low < 1.0e-4)
        self._apply_sci_mode()
        # Zeros, inf and nan have no say in the width unless the numbers themselves are integers' texts.
        shown = [v for v in values if math.isfinite(v) and v != 0]
        self.width = max([1, *(len(self._text(v)) for v in shown)])

    def _apply_sci_mode(self):
        if PRINT_OPTS.sci_mode is not None:
            self._scientific = PRINT_OPTS.sci_mode

    def _text(self, value):
        if not self._floating:
            return str(value)
        if self._scientific:
            return f"{value:.{PRINT_OPTS.precision}e}"
        if self._whole:
            text = f"{value:.0f}"
            return text if not math.isfinite(value) else text + "."
        return f"{value:.{PRINT_OPTS.precision}f}"

    def format(self, value):
        return self._text(value).rjust(self.width)


class _ComplexFormatter:
    """Formats complex numbers, real and imaginary parts to a width each."""

    def __init__(self, values):
        self._parts = [_Formatter([getattr(v, part) for v in values], True, False) for part in ("real", "imag")]
        self.width = sum(part.width for part in self._parts) + 1

    def format(self, value):
        real, imag = self._parts[0].format(value.real), self._parts[1].format(value.imag).lstrip() + "j"
        return real + imag if imag[0] in "+-" else f"{real}+{imag}"


def _vector(values, total, indent, formatter, summarize):
    per_line = max(1, int((PRINT_OPTS.linewidth - indent) // (formatter.width + 2)))
    edge = PRINT_OPTS.edgeitems
    texts = [formatter.format(v) for v in values]
    if summarize and total > 2 * edge:
        texts = texts[:edge] + [" ..."] + texts[-edge:]
    lines = [texts[i:i + per_line] for i in range(0, len(texts), per_line)]
    return "[" + ("," + "\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _nested(t, indent, formatter, summarize):
    if t.dim() == 0:
        return formatter.format(t.item())
    if t.dim() == 1:
        edge = PRINT_OPTS.edgeitems
        values = t.tolist() if not (summarize and t.shape[0] > 2 * edge) else t[:edge].tolist() + t[-edge:].tolist()
        return _vector(values, t.shape[0], indent, formatter, summarize)
    size, edge = t.shape[0], PRINT_OPTS.edgeitems
    if summarize and size > 2 * edge:
        rows = [_nested(t[i], indent + 1, formatter, summarize) for i in range(edge)]
        rows += ["..."]
        rows += [_nested(t[i], indent + 1, formatter, summarize) for i in range(size - edge, size)]
    else:
        rows = [_nested(t[i], indent + 1, formatter, summarize) for i in range(size)]
    return "[" + ("," + "\n" * (t.dim() - 1) + " " * (indent + 1)).join(rows) + "]"


def _shown(t):
    """The elements that a summary shows, flat; they alone decide the format."""
    edge = PRINT_OPTS.edgeitems
    for dim in range(t.dim()):
        if t.shape[dim] > 2 * edge:
            ends = [t.narrow(dim, 0, edge), t.narrow(dim, t.shape[dim] - edge, edge)]
            t = _C.ops["torch"]["cat"](ends, dim)
    return t


def _body(t, indent):
    summarize = t.numel() > PRINT_OPTS.threshold
    values = _shown(t) if summarize else t
    numbers = values.reshape(-1).tolist()
    formatter = _ComplexFormatter(numbers) if t.is_complex() else _Formatter(numbers, t.is_floating_point(), t.dtype is T.bool)
    return _nested(t, indent, formatter, summarize)


def _tensor_str(self, indent):
    """The numbers of a tensor alone, as they stand within its text."""
    return _body(self.detach(), indent) if self.numel() else "[]"


def _suffixes(t):
    if t.device.type not in ("cpu", "meta"):
        yield f"device='{t.device}'"
    if t.device.type == "meta":
        yield "device='meta'"
        yield f"size={tuple(t.shape)}"
    elif t.numel() == 0 and t.dim() != 1:
        yield f"size={tuple(t.shape)}"
    usual = (_C.get_default_dtype(), T.int64, T.bool, _C.promote_types(_C.get_default_dtype(), T.complex64))
    if t.dtype not in usual if t.numel() else t.dtype is not _C.get_default_dtype():
        yield f"dtype={t.dtype}"
    try:
        node = t.grad_fn
    except RuntimeError:  # a view made without recording, whose base was changed since
        yield "grad_fn=<Invalid>"
        return
    if node is not None:
        yield f"grad_fn=<{_node_name(node)}>"
    elif t.requires_grad:
        yield "requires_grad=True"
    for _, tangent in _weir._tangents(t):
        yield f"tangent={tangent}"


def _node_name(node):
    name = node.name() if callable(getattr(node, "name", None)) else type(node).__name__
    return name.rpartition("::")[2]


def _add_suffixes(tensor_str, suffixes, indent, force_newline):
    """The text with a list of suffixes and the closing parenthesis, in lines of the width; the first suffix on a new one if so forced."""
    width = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if force_newline or width + len(suffix) + 2 > PRINT_OPTS.linewidth:
            tensor_str += ",\n" + " " * indent + suffix
            width, force_newline = indent + len(suffix), False
        else:
            tensor_str += ", " + suffix
            width += len(suffix) + 2
    return tensor_str + ")"


def tensor_repr(t, *, tensor_contents=None) -> str:
    """tensor([...], dtype=..., grad_fn=...), wrapped at the line width; tensor_contents is a text in the place of the numbers."""
    kind = type(t)
    if axes := _weir._batch_axes(t):
        level, size = axes[-1]
        return f"BatchedTensor(lvl={level}, bdim=0, value={tensor_repr(_weir._out_of_batch(t, 0, level, size))})"
    prefix = "tensor(" if kind is _C.Tensor or kind.__name__ in ("Parameter", "Buffer") and kind.__module__ == "weir.nn.parameter" else kind.__name__ + "("
    indent = len(prefix)
    body = tensor_contents if tensor_contents is not None else "..." if t.device.type == "meta" else _tensor_str(t, indent)
    text = _add_suffixes(prefix + body, _suffixes(t), indent, False)
    return f"Parameter({text})" if getattr(t, "_is_param", False) else text


_str = _str_intern = tensor_repr
