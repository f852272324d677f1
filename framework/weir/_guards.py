"""`torch._guards`: what libraries ask of PyTorch's tracers, of which none watches here."""


def active_fake_mode():
    """The mode that makes tensors without memory: none."""
    return None


def detect_fake_mode(inputs=None):
    """The mode that such inputs came from: none."""
    return None


class TracingContext:
    """What a tracer of PyTorch's keeps while it watches. None does."""

    @staticmethod
    def try_get():
        """The context in force: none."""
        return None

    @staticmethod
    def get():
        """RuntimeError: there is none."""
        raise RuntimeError("TracingContext.get() must be called within an ongoing trace.")
