"""Counting of floating-point operations, from the index notation of the ops that run. Source: torch.utils.flop_counter."""

import warnings
from collections import defaultdict

from _weir import _count_work, _counted_work

from .._absent import absent as _absent
from .module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

#: PyTorch's names of what is counted, where they are others.
_ATEN = {"convolution_input": "convolution_backward", "convolution_weight": "convolution_backward", "linear": "addmm",
         "flash_attention": "_scaled_dot_product_flash_attention_for_cpu",
         "flash_attention_backward": "_scaled_dot_product_flash_attention_for_cpu_backward"}
_SUFFIXES = ["", "K", "M", "B", "T"]
_active: list = []  # the counters that a program is in, outermost first

def _unpack_flash_attention_nested_shapes(*, query, key, value, grad_out=None, cum_seq_q, cum_seq_k, max_q, max_k):
    """Yields the shapes (query, key, value, grad_out or None) of attention over a batch of sequences, or of each sequence where they lie
    one after the other, (total length, heads, depth), between the offsets of cum_seq_q and cum_seq_k.
    """
    if cum_seq_q is None:
        yield query.shape, key.shape, value.shape, grad_out.shape if grad_out is not None else None
        return
    if len(key.shape) != 3 or len(value.shape) != 3 or cum_seq_q.shape != cum_seq_k.shape or grad_out is not None and grad_out.shape != query.shape:
        raise AssertionError("sdpa_flop_count: sequences one after the other are (length, heads, depth) with as many offsets of keys as of queries")

    def lengths(offsets, longest):
        return [longest] * (offsets.shape[0] - 1) if offsets.device.type == "meta" else offsets.diff().tolist()
    for q, k in zip(lengths(cum_seq_q, max_q), lengths(cum_seq_k, max_k)):
        shapes = [(1, t.shape[1], length, t.shape[2]) for t, length in ((query, q), (key, k), (value, k))]
        yield *shapes, shapes[0] if grad_out is not None else None


register_flop_formula = _absent("utils.flop_counter.register_flop_formula", "counts follow from the index notation of ops")


class FlopCounterMode:
    """Counts the floating-point operations of products, convolutions and attention in it, a multiplication and an addition each.

    Counts are kept by module and op: `get_flop_counts()` is {"Global": {ops.aten.mm: n, ...}, "Model.layer": ...}, `get_total_flops()` the sum,
    `get_table(depth)` a text, which is printed at the end where `display`. Runs of an nn.Graph are not seen. NotImplementedError for a
    `custom_mapping`. Source: torch.utils.flop_counter.FlopCounterMode.

    Example: with FlopCounterMode(display=False) as counter: model(x).sum().backward()
    """

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        if custom_mapping:
            raise NotImplementedError("FlopCounterMode: custom_mapping is not taken: counts follow from the index notation of ops")
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.depth, self.display = depth, display
        self.flop_counts = defaultdict(lambda: defaultdict(int))
        self.mod_tracker = _Tracker()

    def __enter__(self):
        _collect()
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        _active.append(self)
        _count_work(True)
        return self

    def __exit__(self, *args):
        _collect()
        _active.remove(self)
        _count_work(bool(_active))
        self.mod_tracker.__exit__(*args)
        if self.display:
            print(self.get_table(self.depth))

    def get_total_flops(self):
        """The operations counted so far."""
        _collect()
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        """{module: {op: operations}}; "Global" stands for all."""
        _collect()
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        """The counts as text, of modules up to `depth` levels deep."""
        depth = depth or self.depth or 999999
        total = self.get_total_flops()
        scale = max(0, min(len(_SUFFIXES) - 1, (len(str(total)) - 2) // 3))
        modules = [name for name in sorted(self.flop_counts) if name != "Global" and name.count(".") < depth]
        whole = any(sum(self.flop_counts[name].values()) >= total for name in modules)
        rows = [] if whole and modules else self._rows("Global", 0, scale, total)
        for name in modules:
            rows += self._rows(name, name.count(".") + (not whole), scale, total)
        header = ("Module", "FLOP", "% Total")
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(3)]
        lines = [header, tuple("-" * width for width in widths), *rows]
        return "\n".join(f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in lines)

    def _rows(self, module, indent, scale, total):
        counts = self.flop_counts[module]
        named = [(module, sum(counts.values()))] + [(f" - {op}", n) for op, n in counts.items()]
        return [(" " * indent + name, f"{n / 1000 ** scale:.3f}{_SUFFIXES[scale]}", f"{n / total:.2%}" if total else "0%") for name, n in named]


def _collect():
    """Adds what ran since the last time to the modules that have been running since, in each counter that the program is in."""
    from ..library import ops
    for name, (flops, _) in _counted_work().items():
        if not flops:
            continue
        op = getattr(ops.aten, _ATEN.get(name, name))
        for counter in _active:
            for module in counter.mod_tracker.parents:
                counter.flop_counts[module][op] += flops


class _Tracker(ModuleTracker):
    def _moved(self, parents):
        _collect()
        super()._moved(parents)
