"""What test helpers of other packages lean on. Source: torch.testing._utils."""
import contextlib

import weir


@contextlib.contextmanager
def freeze_rng_state():
    """Within, draws are made as usual; afterwards the default generator stands where it stood."""
    state = weir.get_rng_state()
    try:
        yield
    finally:
        weir.set_rng_state(state)
