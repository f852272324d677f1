"""oneDNN, which runs products and convolutions of this build."""
from . import switches as _switches

enabled, deterministic, allow_tf32, fp32_precision = True, False, True, "none"
flags = _switches(globals(), enabled=False, deterministic=False, allow_tf32=True)
VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2


def is_available():
    return True


class verbose:
    """oneDNN's own log. Switching it on after the start is not possible here: set ONEDNN_VERBOSE=1 in the environment."""

    def __init__(self, level):
        self.level = level

    def __enter__(self):
        if self.level != VERBOSE_OFF:
            raise NotImplementedError("mkldnn.verbose: set ONEDNN_VERBOSE=1 in the environment instead")
        return self

    def __exit__(self, *exc):
        return False
