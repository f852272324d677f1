"""Operations counted from index notation: against PyTorch's counter, and against what the benchmarks say of their cases."""

import pytest
import torch
import weir
from _weir import _count_work, _counted_work
from torch.utils.flop_counter import FlopCounterMode as TorchCounter
from weir.utils.flop_counter import FlopCounterMode
from weir_bench.case import display_name
from weir_bench.cases import all_cases


def build(t, groups):
    """Returns a net with the products that there are: grouped, dilated, transposed and one-axis convolutions, linear layers, matrices."""
    class Net(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = t.nn.Sequential(t.nn.Conv2d(3, 8, 3, stride=2, padding=1), t.nn.BatchNorm2d(8), t.nn.ReLU(),
                                        t.nn.Conv2d(8, 16, (3, 1), groups=groups, bias=False, dilation=(2, 1)))
            self.up = t.nn.ConvTranspose2d(16, 6, 2, stride=2, groups=groups)
            self.line = t.nn.Conv1d(6, 5, 3)
            self.head = t.nn.Linear(5, 7)

        def forward(self, x):
            y = self.up(self.stem(x)).mean(3)
            y = self.head(self.line(y).transpose(1, 2))
            return t.bmm(y, y.transpose(1, 2)).sum() + t.einsum("bij,bkj->", y, y) + t.baddbmm(y.new_zeros(1), y, y.mT).mean()
    return Net()


# PyTorch counts the gradients of grouped weights as if there were no groups.
@pytest.mark.parametrize("groups, needs_grad", [(2, False), (1, True)])
def test_modules_forward_and_backward(groups, needs_grad):
    counted = []
    for t, counter in ((torch, TorchCounter(display=False)), (weir, FlopCounterMode(display=False))):
        net, x = build(t, groups), t.randn(2, 3, 16, 12, requires_grad=needs_grad)
        with counter:
            loss = 2 * net(x)  # PyTorch does not see a module whose output is where the pass begins
            forward = counter.get_total_flops()
            if needs_grad:
                loss.backward()
        counts = {module: sum(ops.values()) for module, ops in counter.get_flop_counts().items()}
        counted.append((forward, counter.get_total_flops(), counts))
    assert counted[1] == counted[0]


def test_counts_by_op_and_their_table():
    with FlopCounterMode(display=False) as counter:
        weir.mm(weir.ones(3, 4), weir.ones(4, 5))
        weir.nn.Linear(4, 2)(weir.ones(3, 4))
    assert {str(op): n for op, n in counter.get_flop_counts()["Global"].items()} == {"aten.mm": 120, "aten.addmm": 48}
    assert counter.get_table().splitlines()[2].split() == ["Global", "168.000", "100.00%"]
    with FlopCounterMode(display=False) as counter:
        weir.ones(3) + 1
    assert counter.get_total_flops() == 0


def test_counters_in_each_other_and_beside_a_profile():
    with weir.profiler.profile() as profile, FlopCounterMode(display=False) as outer:
        weir.mm(weir.ones(3, 4), weir.ones(4, 5))
        with FlopCounterMode(display=False) as inner:
            weir.mm(weir.ones(3, 4), weir.ones(4, 5))
        weir.mm(weir.ones(3, 4), weir.ones(4, 5))
    assert (outer.get_total_flops(), inner.get_total_flops()) == (3 * 120, 120)
    assert sum(e.name == "mm" or e.name == "aten::mm" for e in profile.events()) == 3


def test_a_mapping_of_ones_own_is_refused():
    with pytest.raises(NotImplementedError, match="custom_mapping"):
        FlopCounterMode(custom_mapping={weir.ops.aten.mm: lambda *a: 0})


GROUPS = ("pointwise", "reduce", "norm", "matmul", "conv", "index", "attention")
CASES = [c for c in all_cases() if c["group"] in GROUPS and c["mode"] == "fwd"]


def arguments(c):
    """Returns the arguments of a benchmark's case, whatever its numbers: costs follow from sizes."""
    made = [weir.empty(d["shape"], dtype=getattr(weir, d["dtype"])) for d in c["inputs"] for _ in range(d["repeat"])]
    made = [m if m.is_floating_point() else weir.zeros_like(m) for m in made]

    def value(a):
        if not isinstance(a, dict):
            return a
        (kind, what), = a.items()
        return {"input": lambda: made[what], "inputs": lambda: made[slice(*what)], "slice": lambda: slice(*what),
                "dtype": lambda: getattr(weir, what)}[kind]()
    return [value(a) for a in c["args"]], {key: value(a) for key, a in c["kwargs"].items()}


@pytest.mark.parametrize("c", CASES, ids=display_name)
def test_what_the_benchmarks_say_of_their_cases(c):
    function = weir
    for name in c["op"].split("."):
        function = getattr(function, name)
    args, kwargs = arguments(c)
    _counted_work()
    _count_work(True)
    try:
        function(*args, **kwargs)
    finally:
        _count_work(False)
    work = _counted_work()
    flops, moved = (sum(w[i] for w in work.values()) for i in range(2))
    if c["flops"]:
        assert flops == c["flops"] * (2 if kwargs.get("is_causal") else 1), work  # of what a causal mask hides, nothing is counted there
    if len(work) == 1:
        # A case's bytes are the least: places of maxima, which are written too, are not in them.
        assert 0.98 * c["bytes"] <= moved <= (1.5 if "pool" in c["op"] else 1.02) * c["bytes"], work
