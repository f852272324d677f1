"""A branch that depends on a value."""
import weir


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) where pred holds, else false_fn(*operands).

    pred is a bool or a tensor of one element. RuntimeError for another pred or operands, and where a branch is no function.
    """
    if not isinstance(pred, (bool, int, weir.Tensor)) or (isinstance(pred, weir.Tensor) and pred.numel() != 1):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, "
                           f"but got {operands}.")
    return true_fn(*operands) if pred else false_fn(*operands)
