"""`torch._foreach_*`: an op for each tensor of a list. Optimizers and averages of weights of public programs are written with them.

The names are private in PyTorch, and the overloads one kind here: what is no list counts for every tensor.
Source: torch/_foreach_*'s schemas.
"""
import weir
from weir import Tensor

_ONE = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid
    sign sin sinh sqrt tan tanh trunc""".split()
_TWO = "add sub mul div pow maximum minimum clamp_min clamp_max addcmul addcdiv lerp".split()
_ALONE = "clone copy_ zero_ norm max mm".split()
#: What an op of two tensors is called where the other is a number.
_WITH_NUMBER = {"maximum": "clamp_min", "minimum": "clamp_max"}
_WITH_TENSOR = {"clamp_min": "maximum", "clamp_max": "minimum"}

#: Keywords of the operands after the first list, in the order of the schemas.
_OPERANDS = "tensor1 tensors1 tensor2 tensors2 other tensor src exponent scalar scalars weight weights".split()

NAMES = [f"_foreach_{n}{end}" for n in _ONE + _TWO for end in ("", "_")] + [f"_foreach_{n}" for n in _ALONE]


def _spread(arguments, count):
    """The arguments of each call. RuntimeError for a list of another length, and for no tensors at all."""
    if count == 0:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for a in arguments:
        if isinstance(a, (list, tuple)) and len(a) != count:
            raise RuntimeError(f"Tensor lists must have the same number of tensors, got {count} and {len(a)}")
    return zip(*(a if isinstance(a, (list, tuple)) else [a] * count for a in arguments))


def _call(name, inplace, args, alpha=None):
    """The op's result, in the memory of the first argument where it is asked for."""
    if name in _WITH_NUMBER and not isinstance(args[1], Tensor):
        name = _WITH_NUMBER[name]
    elif name in _WITH_TENSOR and isinstance(args[1], Tensor):
        name = _WITH_TENSOR[name]
    options = {} if alpha is None else {"alpha": alpha}
    if inplace and hasattr(Tensor, name + "_"):
        return getattr(args[0], name + "_")(*args[1:], **options)
    result = getattr(weir, name)(*args, **options)
    return args[0].copy_(result) if inplace else result


def _made(name):
    base = name.rstrip("_")
    inplace = name != base

    def each(self, *args, value=1, alpha=None, ord=2, dtype=None, **named):
        args += tuple(named.pop(word) for word in _OPERANDS if word in named)
        if named:
            raise TypeError(f"{each.__name__}() got an unexpected keyword argument '{next(iter(named))}'")
        if base == "norm":
            results = [weir.linalg.vector_norm(x, *args[:1] or (ord,), dtype=dtype) for x, in _spread((self,), len(self))]
        elif base == "max":
            results = [x.max() for x, in _spread((self,), len(self))]
        elif base in ("addcmul", "addcdiv"):
            values = args[2] if len(args) > 2 else value
            values = values.tolist() if isinstance(values, Tensor) else values
            function = getattr(Tensor, name)
            results = [function(x, a, b, value=v) for x, a, b, v in _spread((self, *args[:2], values), len(self))]
        else:
            count = len(self if isinstance(self, (list, tuple)) else args[0])  # a number to the power of each
            results = [_call(base, inplace, a, alpha) for a in _spread((self, *args), count)]
        return self if inplace else results
    each.__name__ = f"_foreach_{name}"
    each.__doc__ = f"{base} of each tensor of a list" + (", in place." if inplace else ": a list.")
    return each


def __getattr__(name):
    if name not in NAMES:
        raise AttributeError(f"module 'weir._foreach' has no attribute '{name}'")
    globals()[name] = _made(name.removeprefix("_foreach_"))
    return globals()[name]
