"""The `reduction` of losses as PyTorch's numbers, and from the arguments of old."""
import warnings


def get_enum(reduction):
    if reduction not in ("none", "mean", "sum", "elementwise_mean"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    result = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{result}' instead.")
    return result


def legacy_get_enum(size_average, reduce, emit_warning=True):
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
