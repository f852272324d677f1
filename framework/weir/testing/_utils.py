"""What test helpers of other packages lean on. Source: torch.testing._utils."""
import contextlib

import weir


def wrapper_set_seed(op, *args, **kwargs):
    """op(*args, **kwargs) with the generator seeded by 42, which stands afterwards where it stood."""
    with freeze_rng_state():
        weir.manual_seed(42)
        return op(*args, **kwargs)


@contextlib.contextmanager
def freeze_rng_state():
    """Within, draws are made as usual; afterwards the default generator stands where it stood."""
    state = weir.get_rng_state()
    try:
        yield
    finally:
        weir.set_rng_state(state)
