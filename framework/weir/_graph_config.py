"""How an nn.Graph is run. Source of the names: OneFlow's GraphConfig."""

import weir


class GraphConfig:
    """How a graph is run. Every setter takes True or False unless it says more."""

    def __init__(self):
        self.amp = False
        self.amp_dtype = weir.bfloat16
        self.gradient_accumulation_steps = 1
        self.fusions = {"model_update_ops": True, "add_to_output": True, "cast_scale": True}
        self.frozen_weights = False
        self.memory_budget = "auto"

    def enable_amp(self, mode=True, *, dtype=None):
        """build runs under autocast, in bfloat16 or `dtype`."""
        self.amp = bool(mode)
        self.amp_dtype = self.amp_dtype if dtype is None else dtype

    def set_gradient_accumulation_steps(self, value):
        """Arguments are split along dim 0 into `value` parts; build runs on each, gradients are averaged, results joined."""
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"set_gradient_accumulation_steps: expected a positive integer, got {value!r}")
        self.gradient_accumulation_steps = value

    def allow_fuse_model_update_ops(self, mode=True):
        """One node updates all parameters of a group; without it there is one for each."""
        self.fusions["model_update_ops"] = bool(mode)

    def allow_fuse_add_to_output(self, mode=True):
        """Batch norm takes what is added to its output, and the ReLU behind it, into its own pass over memory; with frozen weights a convolution
        takes all three."""
        self.fusions["add_to_output"] = bool(mode)

    def allow_fuse_cast_scale(self, mode=True):
        """Casts and scalings, and other element-wise ops, run tile by tile with their neighbours."""
        self.fusions["cast_scale"] = bool(mode)

    def freeze_weights(self, mode=True):
        """For inference: what depends on weights alone is computed once and kept beside them: casts (autocast's too), and for
        convolutions the layout that their kernels work in. A write that moves a weight's version (`w.mul_(2)`, an optimizer,
        `load_state_dict`) makes a new plan; one that does not (through `w.data` or a NumPy array) is not seen. Graphs with optimizers
        leave it aside.

        Pictures lie channels last between convolutions, and the batch norm, addition and ReLU behind one run in its own pass over memory:
        numbers are eager mode's but for roundings (docs/graph.md)."""
        self.frozen_weights = bool(mode)

    def set_memory_budget(self, value):
        """While a step's temporaries and results need more than `value` bytes at once, what is cheap to compute (element-wise ops and
        normalisations) is computed again in the backward pass instead of kept for it. "auto": as much of it as costs next to no time, of steps that
        need 256 MiB or more; None: nothing is. No number changes."""
        if value not in (None, "auto") and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise ValueError(f"set_memory_budget: expected a number of bytes, 'auto' or None, got {value!r}")
        self.memory_budget = value

    def _key(self):
        return self.amp, self.amp_dtype, self.gradient_accumulation_steps, tuple(self.fusions.items()), self.frozen_weights, self.memory_budget

    def __repr__(self):
        return (f"GraphConfig(amp={self.amp_dtype if self.amp else False}, "
                f"gradient_accumulation_steps={self.gradient_accumulation_steps}, fusions={self.fusions}, frozen_weights={self.frozen_weights}, memory_budget={self.memory_budget})")
