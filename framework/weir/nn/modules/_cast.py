"""Moving and casting a whole module tree."""

import warnings

import weir
from weir import Tensor
from weir.nn.parameter import is_lazy


class CastMixin:
    """`to`, `half`, `cuda`, `apply` and their kind, of Module."""

    def _apply(self, fn, recurse: bool = True):
        if recurse:
            for child in self.children():
                child._apply(fn)
        with weir.no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    _apply_to_parameter(fn, parameter)
        for name, buffer in self._buffers.items():  # recorded, as in PyTorch
            if is_lazy(buffer):  # which stays one
                buffer.data = fn(buffer.data)
            elif buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def apply(self, fn):
        """Calls `fn` on every module of the tree, children first. Returns self."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def to(self, *args, **kwargs):
        """Moves and casts all parameters and buffers; integers keep their dtype.

        Forms: to(device, dtype=None), to(dtype), to(tensor), to(memory_format=channels_last), which takes 4-d
        tensors only. Raises TypeError for an integer dtype. Returns self.
        """
        device, dtype, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                            f"dtype={dtype}")
        if dtype is not None and dtype.is_complex:
            warnings.warn("Complex modules are a new feature under active development whose design may change, and some modules might not work as "
                          "expected when using complex tensors as parameters or buffers.", stacklevel=2)
        layouts = {weir.channels_last: 4, weir.channels_last_3d: 5}

        def convert(t):
            options = {}
            if memory_format is not None and t.dim() == layouts.get(memory_format, t.dim()):
                options["memory_format"] = memory_format
            if dtype is not None and (t.is_floating_point() or t.is_complex()):
                options["dtype"] = dtype
            if device is not None:
                options["device"] = device
            return t.to(**options) if options else t

        return self._apply(convert)

    def to_empty(self, *, device, recurse: bool = True):
        """Moves to `device` with uninitialised values."""
        return self._apply(lambda t: weir.empty_like(t, device=device), recurse)

    def cuda(self, device=None):
        """Moves to a GPU, the current one unless told."""
        return self._apply(lambda t: t.to("cuda" if device is None else device))

    def cpu(self):
        """Moves to the CPU."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type):
        """Casts all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Casts floating-point parameters and buffers to float32."""
        return self._cast(weir.float32)

    def double(self):
        """Casts floating-point parameters and buffers to float64."""
        return self._cast(weir.float64)

    def half(self):
        """Casts floating-point parameters and buffers to float16."""
        return self._cast(weir.float16)

    def bfloat16(self):
        """Casts floating-point parameters and buffers to bfloat16."""
        return self._cast(weir.bfloat16)

    def _cast(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)


def _apply_to_parameter(fn, parameter):
    grad = parameter.grad
    # Itself, as in PyTorch, so that writing into it is seen; one without a shape refuses all functions.
    parameter.data = fn(parameter.data if is_lazy(parameter) else parameter)
    if grad is not None:
        grad.data = fn(grad)


def _parse_to(*args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None):
    """(device, dtype, memory_format) of the forms (device, dtype), (dtype) and (tensor), each before `non_blocking` and `copy`."""
    switches = args[1:]
    if args and isinstance(args[0], Tensor):
        device, dtype = args[0].device, args[0].dtype
    elif args and isinstance(args[0], weir.dtype):
        dtype = args[0]
    elif args:
        if not (args[0] is None or isinstance(args[0], (str, int, weir.device)) and not isinstance(args[0], bool)):
            raise TypeError(f"to() received an invalid argument of type {type(args[0]).__name__}")
        device = None if args[0] is None else weir.device(args[0])
        if switches and not (switches[0] is None or isinstance(switches[0], weir.dtype)):
            raise TypeError(f"to() expected a dtype after the device, got {type(switches[0]).__name__}")
        dtype, switches = (switches[0], switches[1:]) if switches else (dtype, switches)
    if len(switches) > 2 or not all(isinstance(s, bool) for s in switches):
        raise TypeError("to() received an invalid combination of arguments")
    if copy or switches[1:] == (True,):
        raise RuntimeError(".to() does not accept copy argument")
    return weir.device(device) if isinstance(device, str) else device, dtype, memory_format
