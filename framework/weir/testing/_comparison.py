"""assert_close: nested values that should be nearly equal."""
import cmath
import math
import sys
from collections.abc import Mapping, Sequence

import weir
from weir import Tensor

_RTOL = {"float16": 1e-3, "bfloat16": 1.6e-2, "float32": 1.3e-6, "float64": 1e-7, "complex32": 1e-3, "complex64": 1.3e-6,
         "complex128": 1e-7}
_ATOL = {"float16": 1e-5, "bfloat16": 1e-5, "float32": 1e-5, "float64": 1e-7, "complex32": 1e-5, "complex64": 1e-5,
         "complex128": 1e-7}


def default_tolerances(*dtypes):
    """(rtol, atol), the larger ones of the dtypes."""
    names = [getattr(d, "name", str(d)) for d in (x.dtype if isinstance(x, Tensor) else x for x in dtypes)]
    return max(_RTOL.get(n, 0.0) for n in names), max(_ATOL.get(n, 0.0) for n in names)


class _Check:
    """The options of one comparison; a failure raises AssertionError with the way to the item."""

    def __init__(self, **options):
        self.__dict__.update(options)

    def fail(self, text, path, kind=AssertionError):
        if path:
            text += f"\n\nThe failure occurred for item {''.join(f'[{p!r}]' for p in path)}"
        if self.msg is not None and kind is AssertionError:
            text = self.msg(text) if callable(self.msg) else self.msg
        raise kind(text)

    def values(self, a, b, path=()):
        if a is None or b is None:
            if a is not b:
                self.fail(f"None mismatch: {a} is not {b}", path)
            return
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            if set(a) != set(b):
                self.fail(f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {sorted(set(b) - set(a))}\n"
                          f"Additional keys in the actual mapping: {sorted(set(a) - set(b))}", path)
            for key in a:
                self.values(a[key], b[key], (*path, key))
            return
        if _sequence(a) and _sequence(b):
            if len(a) != len(b):
                self.fail(f"The length of the sequences mismatch: {len(a)} != {len(b)}", path)
            for i, (x, y) in enumerate(zip(a, b)):
                self.values(x, y, (*path, i))
            return
        x, y = _plain(a), _plain(b)
        if isinstance(x, (int, float, complex)) and isinstance(y, (int, float, complex)):
            return self.numbers(x, y, path)
        # An array is compared with arrays only, so that no tensor passes for what a program did not make.
        related = isinstance(a, type(b)) or isinstance(b, type(a)) if self.allow_subclasses else type(a) is type(b)
        if not related:
            self.unsupported(a, b, path)
        if isinstance(a, Tensor):
            return self.tensors(a, b, path)
        try:
            x, y = weir.as_tensor(a), weir.as_tensor(b)
        except Exception:
            self.unsupported(a, b, path)
        self.tensors(x, y, path)

    def unsupported(self, a, b, path):
        self.fail(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.", path, TypeError)

    def numbers(self, a, b, path):
        if isinstance(a, bool) and isinstance(b, bool):
            return a is b or self.fail(f"Booleans mismatch: {a} is not {b}", path)
        if self.check_dtype and type(a) is not type(b):
            self.fail(f"The (d)types do not match: {type(a)} != {type(b)}.", path)
        rtol, atol = self.rtol, self.atol
        if rtol is None:
            floating = any(isinstance(x, (float, complex)) for x in (a, b))
            rtol, atol = (1e-7, 1e-7) if floating else (0, 0)
        if a == b or (self.equal_nan and cmath.isnan(a) and cmath.isnan(b)):
            return
        difference = abs(a - b)
        if cmath.isfinite(difference) and difference <= atol + rtol * abs(b):
            return
        exact = rtol == 0 and atol == 0
        if exact:
            self.fail(f"Scalars are not equal!\n\nExpected {b} but got {a}.\nAbsolute difference: {difference}\n"
                      f"Relative difference: {difference / abs(b) if b else math.inf}", path)
        self.fail(f"Scalars are not close!\n\nExpected {b} but got {a}.\nAbsolute difference: {difference} (up to {atol} allowed)\n"
                  f"Relative difference: {difference / abs(b) if b else math.inf} (up to {rtol} allowed)", path)

    def tensors(self, a, b, path):
        a, b = a.detach(), b.detach()
        if a.shape != b.shape:
            self.fail(f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}.", path)
        if self.check_device and a.device != b.device:
            self.fail(f"The values for attribute 'device' do not match: {a.device} != {b.device}.", path)
        if self.check_dtype and a.dtype != b.dtype:
            self.fail(f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}.", path)
        if self.check_stride and a.stride() != b.stride():
            self.fail(f"The values for attribute 'stride()' do not match: {a.stride()} != {b.stride()}.", path)
        if a.layout != weir.strided or b.layout != weir.strided:
            return self.layouts(a, b, path)
        rtol, atol = (self.rtol, self.atol) if self.rtol is not None else default_tolerances(a.dtype, b.dtype)
        if a.device.type == "meta" or not a.numel():
            return
        if a.dtype != b.dtype:
            common = weir.promote_types(a.dtype, b.dtype)
            a, b = a.to(common), b.to(common)
        close = weir.isclose(a, b, rtol=rtol, atol=atol, equal_nan=self.equal_nan) if a.dtype is not weir.bool else a == b
        if bool(close.all()):
            return
        self.fail(_report(a, b, close, rtol, atol), path)


    def layouts(self, a, b, path):
        """Sparse tensors, by their coalesced parts; as dense ones where layouts differ and may."""
        if a.layout != b.layout:
            if self.check_layout:
                self.fail(f"The values for attribute 'layout' do not match: {a.layout} != {b.layout}.", path)
            return self.tensors(a.to_dense(), b.to_dense(), path)
        if a.layout == weir.sparse_coo and a.is_coalesced() != b.is_coalesced():
            a, b = a.coalesce(), b.coalesce()
        if a._nnz() != b._nnz():
            kind = str(a.layout).rpartition("_")[2].upper()
            self.fail(f"The number of specified values in sparse {kind} tensors does not match: {a._nnz()} != {b._nnz()}", path)
        for x, y in zip(a._parts(), b._parts()):
            if isinstance(x, Tensor):
                self.tensors(x, y, path)


def _plain(x):
    """A NumPy scalar as the number of Python's that it holds: it compares with those."""
    numpy = sys.modules.get("numpy")
    return x.item() if numpy and isinstance(x, (numpy.number, numpy.bool_)) else x


def _sequence(x):
    return isinstance(x, Sequence) and not isinstance(x, (str, bytes))


def _report(a, b, close, rtol, atol):
    wrong = ~close
    count, total = int(wrong.sum()), a.numel()
    x, y = (t.double() if not t.dtype.is_complex else t for t in (a, b))
    difference = (x - y).abs()
    difference = weir.where(wrong, difference, weir.zeros_like(difference))
    relative = difference / y.abs()
    relative = weir.where(wrong, relative, weir.zeros_like(relative))
    exact = rtol == 0 and atol == 0
    name = "Tensor-likes" if a.dim() else "Scalars"

    def where(t):
        flat = int(t.reshape(-1).argmax())
        index = []
        for size in reversed(t.shape):
            index.insert(0, flat % size)
            flat //= size
        return tuple(index)
    if not a.dim():
        allowed = "" if exact else f" (up to {atol} allowed)", "" if exact else f" (up to {rtol} allowed)"
        return (f"{name} are not {'equal' if exact else 'close'}!\n\nExpected {b.item()} but got {a.item()}.\n"
                f"Absolute difference: {difference.item()}{allowed[0]}\nRelative difference: {relative.item()}{allowed[1]}")
    allowed = "" if exact else f" (up to {atol} allowed)", "" if exact else f" (up to {rtol} allowed)"
    return (f"{name} are not {'equal' if exact else 'close'}!\n\nMismatched elements: {count} / {total} ({count / total:.1%})\n"
            f"Greatest absolute difference: {difference.max().item()} at index {where(difference)}{allowed[0]}\n"
            f"Greatest relative difference: {relative.max().item()} at index {where(relative)}{allowed[1]}")


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """AssertionError unless |actual - expected| <= atol + rtol |expected|, in nested sequences and mappings of tensors,
    arrays and numbers. Tolerances follow the dtype unless both are given; ValueError when only one is."""
    if (rtol is None) != (atol is None):
        given, missing = ("rtol", "atol") if rtol is not None else ("atol", "rtol")
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, but got no {missing} and {given}="
                         f"{rtol if rtol is not None else atol}.")
    _Check(allow_subclasses=allow_subclasses, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=check_device,
           check_dtype=check_dtype, check_layout=check_layout, check_stride=check_stride, msg=msg).values(actual, expected)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """assert_close without checks of device, dtype and stride. Deprecated in PyTorch."""
    actual, expected = (x if isinstance(x, Tensor) else weir.tensor(x) for x in (actual, expected))
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(actual, expected)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=False, check_dtype=False, msg=msg or None)
