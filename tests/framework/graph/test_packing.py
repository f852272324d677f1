"""Frozen weights, cast and in their kernels' own layout, and what follows them: framework/graph/packing.cpp, framework/graph/channels_last.cpp,
framework/op/packing.h and the packed convolution of framework/kernels/cpu/conv.cpp."""

import pytest
import weir
from weir import nn


class Forward(nn.Graph):
    def __init__(self, model, freeze):
        super().__init__()
        self.model = model
        self.config.freeze_weights(freeze)

    def build(self, x):
        with weir.no_grad():
            return self.model(x)


def ops(plan):
    return [plan.graph.node(i)["op"] for i in range(len(plan.graph))]


CONVOLUTIONS = {
    "3 x 3": lambda: (nn.Conv2d(16, 32, 3, padding=1), weir.randn(2, 16, 9, 9)),
    "3 x 3, in tiles": lambda: (nn.Conv2d(32, 48, 3, padding=1), weir.randn(3, 32, 13, 11)),
    "no bias, stride": lambda: (nn.Conv2d(16, 32, 1, stride=2, bias=False), weir.randn(2, 16, 9, 9)),
    "groups, dilation": lambda: (nn.Conv2d(32, 32, 3, groups=2, dilation=2), weir.randn(2, 32, 9, 9)),
    "odd channels": lambda: (nn.Conv2d(3, 13, 7, stride=2, padding=3), weir.randn(1, 3, 20, 21)),
    "one axis": lambda: (nn.Conv1d(16, 32, 5), weir.randn(3, 16, 40)),
    "three axes": lambda: (nn.Conv3d(4, 8, 3), weir.randn(1, 4, 6, 6, 6)),
    "no batch axis": lambda: (nn.Conv2d(16, 32, 3), weir.randn(16, 9, 9)),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("dtype", [weir.float32, weir.bfloat16, weir.float16])
def test_no_number_changes(name, channels_last, dtype):
    weir.manual_seed(0)
    model, x = CONVOLUTIONS[name]()
    model, x = model.to(dtype), x.to(dtype)
    if channels_last and x.ndim == 4:
        model, x = model.to(memory_format=weir.channels_last), x.contiguous(memory_format=weir.channels_last)
    packed, plain = Forward(model, True), Forward(model, False)
    for _ in range(2):
        y = packed(x)
        assert weir.equal(y, plain(x)) and weir.equal(y, model(x)) and y.stride() == model(x).stride()
    assert ops(packed.plans[0]) == ["convolution_packed"] and ops(plain.plans[0]) == ["convolution"]
    packed.plans[0].graph.check()


def test_more_or_fewer_threads_than_packed_it():
    weir.manual_seed(0)
    model, x = CONVOLUTIONS["3 x 3"]()
    graph, before = Forward(model, True), weir.get_num_threads()
    graph(x)
    try:
        for threads in (1, 2, 3):
            weir.set_num_threads(threads)
            assert weir.equal(graph(x), model(x))
    finally:
        weir.set_num_threads(before)


def test_a_written_weight_is_packed_again():
    model, x = CONVOLUTIONS["3 x 3"]()
    graph = Forward(model, True)
    graph(x)
    with weir.no_grad():
        model.weight.mul_(2)
    assert weir.equal(graph(x), model(x)) and graph.traces[1:] == ["a frozen weight was written"]
    model.load_state_dict(nn.Conv2d(16, 32, 3, padding=1).state_dict())
    assert weir.equal(graph(x), model(x)) and graph.num_plans == 1
    graph(x)
    assert len(graph.traces) == 3


def test_autocasts_casts_of_weights_are_made_once():
    weir.manual_seed(0)
    model = nn.Sequential(nn.Linear(200, 300), nn.ReLU(), nn.Linear(300, 200))
    x = weir.randn(7, 200)
    answers = []
    for freeze in (False, True):
        graph = Forward(model, freeze)
        graph.config.enable_amp(True)
        answers.append(graph(x))
        casts = [name for name in ops(graph.plans[0]) if name == "to_dtype"]
        assert len(casts) == (1 if freeze else 5)
    with weir.no_grad(), weir.autocast("cpu", dtype=weir.bfloat16):
        answers.append(model(x))
    assert all(weir.equal(a, answers[0]) for a in answers)


def test_what_grows_is_not_kept():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("row", weir.randn(300))

        def forward(self, x):
            return x @ (self.row[:, None] * self.row)

    graph, x = Forward(Outer(), True), weir.randn(2, 300)
    assert weir.equal(graph(x), graph.model(x)) and len(ops(graph.plans[0])) == 2


def test_a_returned_weight_is_the_weight_itself():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("w", weir.randn(4))

        def forward(self, x):
            return x * self.w, self.w

    model = Both()
    assert Forward(model, True)(weir.ones(4))[1].data_ptr() == model.w.data_ptr()


class Train(nn.Graph):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.config.freeze_weights()
        self.add_optimizer(weir.optim.SGD(model.parameters(), lr=0.1))

    def build(self, x):
        loss = self.model(x).square().mean()
        loss.backward()
        return loss


def test_what_the_program_writes_is_not_frozen():
    weir.manual_seed(0)
    model, x = CONVOLUTIONS["3 x 3"]()
    step = Train(model)
    first, second = step(x), step(x)
    assert "convolution" in ops(step.plans[0]) and second < first and len(step.traces) == 1


def test_training_in_between_is_seen():
    """By an optimizer in eager mode, whose op writes all weights at once, and by a plan."""
    weir.manual_seed(0)
    model, x = CONVOLUTIONS["3 x 3"]()
    graph, step, optimizer = Forward(model, True), Train(model), weir.optim.Adam(model.parameters(), lr=0.1)
    assert weir.equal(graph(x), model(x))
    model(x).sum().backward()
    optimizer.step()
    assert weir.equal(graph(x), model(x))
    step(x)
    assert weir.equal(graph(x), model(x)) and len(graph.traces) == 3


def test_small_and_double_convolutions_stay_plain():
    for model, x in ((nn.Conv2d(1, 2, 3), weir.randn(1, 1, 4, 4)), (nn.Conv2d(16, 32, 3).double(), weir.randn(2, 16, 9, 9).double())):
        graph = Forward(model, True)
        assert weir.equal(graph(x), model(x)) and ops(graph.plans[0]) == ["convolution"]


def test_a_file_packs_its_weights(tmp_path):
    weir.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 3)).eval()
    x = weir.randn(2, 3, 12, 12)
    graph = Forward(model, False)
    graph.save(tmp_path / "p.weir", x)
    loaded = nn.graph.load(tmp_path / "p.weir")
    # The second picture lies channels last, which oneDNN sums in another order on CPUs without AVX-512.
    assert weir.allclose(loaded(x), model(x), rtol=1e-6, atol=1e-6)
    names = [loaded.graph.node(i)["op"] for i in range(len(loaded.graph))]
    assert names.count("convolution_packed") == 2


def test_a_packed_weight_of_another_size_is_refused():
    """As a text could claim: the kernel believes no size that it has not computed."""
    model, x = CONVOLUTIONS["3 x 3"]()
    packed = Forward(model, True)
    packed(x)
    graph = packed.plans[0].graph
    text = graph.mlir()
    size, padding = "weight_size = [32 : i64, 16 : i64, {0} : i64, {0} : i64]", "padding = [{0} : i64, {0} : i64]"
    for part in (size, padding):
        assert part.format(3 if part is size else 1) in text
    wrong = graph.from_mlir(text.replace(size.format(3), size.format(5)).replace(padding.format(1), padding.format(2)))
    with pytest.raises(RuntimeError, match="bytes of weights"):
        weir._C._Plan(wrong, False).run([x])


def with_statistics(model):
    """Batch norms as training leaves them: no scale of one, no mean of zero."""
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            for t, low, high in ((m.weight, 0.5, 2), (m.bias, -1, 1), (m.running_mean, -1, 1), (m.running_var, 0.5, 2)):
                nn.init.uniform_(t, low, high)
    return model.eval()


class Residual(nn.Module):
    """Two convolutions and a shortcut that is computed before them, or after."""

    def __init__(self, first, bias, relu):
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(16, 16, 3, padding=1, bias=bias) for _ in range(3))
        self.norms = nn.ModuleList(nn.BatchNorm2d(16) for _ in range(3))
        self.first, self.relu = first, relu

    def forward(self, x):
        short = self.norms[0](self.a(x)) if self.first else None
        y = self.norms[1](self.b(x)).relu()
        y = self.norms[2](self.c(y))
        if short is None:
            short = self.norms[0](self.a(x))
        y = y + short if self.first else short + y
        return (y.relu() if self.relu else y).flatten(1)


@pytest.mark.parametrize("dtype, bound", [(weir.float32, 2e-6), (weir.bfloat16, 5e-2)])
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_what_follows_a_convolution_runs_in_its_pass(first, bias, relu, channels_last, dtype, bound):
    """Numbers differ by the roundings that are left out between the steps."""
    weir.manual_seed(0)
    model, x = with_statistics(Residual(first, bias, relu)).to(dtype), weir.randn(2, 16, 12, 13).to(dtype)
    if channels_last:
        model, x = model.to(memory_format=weir.channels_last), x.contiguous(memory_format=weir.channels_last)
    graph = Forward(model, True)
    got, expected = graph(x), model(x)
    assert got.stride() == expected.stride() and (got - expected).abs().max() <= bound * expected.abs().max()
    names = [name for name in ops(graph.plans[0]) if name != "clone"]
    assert names == ["convolution_packed"] * 3
    graph.plans[0].graph.check()


def test_nothing_joins_a_convolution_where_fusions_are_off():
    weir.manual_seed(0)
    model, x = with_statistics(nn.Sequential(nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU())), weir.randn(2, 16, 12, 13)
    graph = Forward(model, True)
    graph.config.allow_fuse_add_to_output(False)
    assert weir.equal(graph(x), model(x)) and ops(graph.plans[0])[:2] == ["convolution_packed", "batch_norm_forward"]


@pytest.mark.parametrize("shown", ["convolution", "norm"])
def test_what_others_read_too_is_made(shown):
    class Shown(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32)

        def forward(self, x):
            y = self.conv(x)
            z = self.norm(y)
            return (y if shown == "convolution" else z), z.relu(), z.sum()

    weir.manual_seed(0)
    model, x = with_statistics(Shown()), weir.randn(2, 16, 12, 13)
    for got, expected in zip(Forward(model, True)(x), model(x)):
        assert (got - expected).abs().max() <= 2e-6 * expected.abs().max()


def test_running_statistics_of_training_are_not_folded():
    weir.manual_seed(0)
    model, x = nn.Sequential(nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU()), weir.randn(2, 16, 12, 13)
    graph = Forward(model, True)
    before = model[1].running_mean.clone()
    graph(x)
    assert "batch_norm_relu" in ops(graph.plans[0]) and not weir.equal(before, model[1].running_mean)


class Layouts(nn.Module):
    """Readers that do not care about layout, and readers that do."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.deep = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1, groups=4), nn.Conv2d(8, 24, 1)
        self.line = nn.Linear(24, 5)

    def forward(self, x):
        y = nn.functional.max_pool2d(self.first(x).relu(), 2)
        z = self.second(y) * y.sigmoid() + y.mean((2, 3), keepdim=True)
        z = self.deep(z.view(z.shape[0], 8, 2, *z.shape[2:])[:, :, 0] + z[:, ::2])  # views that look at memory
        return self.line(z.permute(0, 2, 3, 1)), z, nn.functional.adaptive_avg_pool2d(z, 1).flatten(1)


@pytest.mark.parametrize("channels_last", [False, True])
def test_pictures_lie_channels_last_between_convolutions_only(channels_last):
    weir.manual_seed(0)
    model, x = Layouts().eval(), weir.randn(2, 3, 10, 14)
    if channels_last:
        x = x.contiguous(memory_format=weir.channels_last)
    graph = Forward(model, True)
    for got, expected in zip(graph(x), model(x)):
        assert got.stride() == expected.stride() and (got - expected).abs().max() <= 2e-6 * expected.abs().max()
    graph.plans[0].graph.check()


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_lines_and_volumes_take_what_follows_too(axes):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[axes - 1](16, 16, 3, padding=1)
            self.norm = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)[axes - 1](16)

        def forward(self, x):
            return (self.norm(self.conv(x)) + x).relu()

    weir.manual_seed(0)
    model, x = Block(), weir.randn(2, 16, *(9, 8, 7)[:axes])
    for t in (model.norm.running_mean, model.norm.running_var):
        nn.init.uniform_(t, 0.5, 2)
    graph, expected = Forward(model.eval(), True), model(x)
    got = graph(x)
    assert ops(graph.plans[0]) == ["convolution_packed"] and got.stride() == expected.stride()
    assert (got - expected).abs().max() <= 2e-6 * expected.abs().max()
