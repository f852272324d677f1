"""Counting of operations, which needs modes that see single ops."""
from weir._absent import absent as _absent

_WHY = "weir has no dispatcher of PyTorch's kind"


class FlopCounterMode:
    """A counter that has counted nothing. Entering it raises NotImplementedError: there is nothing that could count."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        self.depth, self.display = depth, display

    def __enter__(self):
        raise NotImplementedError(f"utils.flop_counter.FlopCounterMode: {_WHY}")

    def __exit__(self, *exc):
        return None

    def get_total_flops(self):
        """0: nothing ran inside."""
        return 0

    def get_flop_counts(self):
        """{}: nothing ran inside."""
        return {}


register_flop_formula = _absent("utils.flop_counter.register_flop_formula", _WHY)
