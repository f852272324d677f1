"""A loop whose end depends on a value."""
import weir


def while_loop(cond_fn, body_fn, carried_inputs):
    """carried_inputs after body_fn(*carried_inputs) was applied for as long as cond_fn(*carried_inputs) holds.

    cond_fn gives a bool or a bool tensor of one element (RuntimeError otherwise), body_fn as many values as it is given.
    """
    carried = tuple(carried_inputs)
    while True:
        more = cond_fn(*carried)
        if not isinstance(more, bool) and not (isinstance(more, weir.Tensor) and more.dtype is weir.bool and more.numel() == 1):
            raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {more}")
        if not more:
            return carried
        made = body_fn(*carried)
        made = tuple(made) if isinstance(made, (tuple, list)) else (made,)
        if len(made) != len(carried):
            raise RuntimeError(f"body_fn should return the same number of elements as carried_inputs: {len(made)} and {len(carried)}")
        carried = made
