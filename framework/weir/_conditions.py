"""`torch._assert` and `torch._check*`: conditions of a program's own, with the error that each stands for."""
import weir
from weir import Tensor


def _assert(condition, message):
    """AssertionError unless the condition holds. A call of it with a value of a trace is part of the trace."""
    if type(condition) not in (bool, Tensor):
        from .overrides import handle_torch_function, has_torch_function
        if has_torch_function((condition,)):
            return handle_torch_function(_assert, (condition,), condition, message)
    assert condition, message


def _check_with(error_type, cond, message):
    """error_type unless cond holds. `message` is a function that gives the text, or None."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type("Expected cond to be True, but got False. (Could this error message be improved?)" if message is None else str(message()))


def _of(name, error):
    def check(cond, message=None):
        _check_with(error, cond, message)
    check.__name__, check.__doc__ = name, f"{error.__name__} unless cond holds."
    return check


_check, _check_index, _check_value, _check_type, _check_not_implemented = (_of(name, error) for name, error in (
    ("_check", RuntimeError), ("_check_index", IndexError), ("_check_value", ValueError), ("_check_type", TypeError),
    ("_check_not_implemented", NotImplementedError)))


def _check_is_size(i, message=None, *, max=None):
    """RuntimeError unless i is a size, of at most `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type, cond, message=None):
    """error_type unless the tensor of bools is True everywhere."""
    if not (isinstance(cond, weir.Tensor) and cond.dtype is weir.bool):
        raise TypeError(f"cond must be a tensor with dtype torch.bool, but got {getattr(cond, 'dtype', type(cond))}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond, message=None):
    """RuntimeError unless the tensor of bools is True everywhere."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _is_all_true(input):
    """A 0-d tensor: are all bools True?"""
    return input.all()


def _is_any_true(input):
    """A 0-d tensor: is one of the bools True?"""
    return input.any()


def _shape_as_tensor(input):
    """The sizes as a tensor of int64."""
    return weir.tensor(tuple(input.shape), dtype=weir.int64)


def _has_compatible_shallow_copy_type(input, from_):
    """Whether `input.data = from_` keeps the tensor's kind: modules ask it of the parameters that they convert."""
    return input.device.type == from_.device.type and input.layout == from_.layout
