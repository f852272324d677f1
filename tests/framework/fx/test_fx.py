"""fx: graphs and code as PyTorch prints them, and what can be done with them."""

import pytest
import torch
import torch.fx
import weir
import weir.fx


def _function(lib):
    def f(x, y=2):
        return lib.relu(x + y).sum(dim=0) / 3 - (-x)[0]
    return f


def _model(lib):
    class Model(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = lib.nn.Linear(2, 2)
            self.w = lib.nn.Parameter(lib.ones(2))
            self.seq = lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Linear(2, 3))

        def forward(self, x):
            b = self.seq(self.lin(x) * self.w)
            n, rest = b.shape[0], b[:, 1:]
            return {"o": rest.view(n, -1), "l": [b, lib.cat([b, b], 1), lib.nn.functional.gelu(b, approximate="tanh")]}
    return Model()


@pytest.mark.parametrize("make", [_function, _model])
def test_graph_and_code_are_those_of_pytorch(make):
    ours, theirs = weir.fx.symbolic_trace(make(weir)), torch.fx.symbolic_trace(make(torch))
    assert str(ours.graph) == str(theirs.graph).replace("torch._C._nn.gelu", "torch.nn.functional.gelu")
    assert ours.code == theirs.code.replace("torch._C._nn.gelu", "torch.nn.functional.gelu")


def test_traced_module_computes_the_same():
    model, x = _model(weir), weir.randn(4, 2)
    traced = weir.fx.symbolic_trace(model)
    for run in (traced, weir.fx.Interpreter(traced).run, weir.fx.Transformer(traced).transform()):
        assert weir.equal(run(x)["l"][2], model(x)["l"][2])


def test_tracing_leaves_nothing_behind():
    before = weir.relu, weir.nn.functional.gelu, weir.nn.Module.__call__
    with pytest.raises(weir.fx.proxy.TraceError):
        weir.fx.symbolic_trace(lambda x: weir.relu(x) if x.sum() > 0 else x)
    assert (weir.relu, weir.nn.functional.gelu, weir.nn.Module.__call__) == before


def test_graph_can_be_changed():
    traced = weir.fx.symbolic_trace(_function(weir))
    for node in traced.graph.nodes:
        if node.target is weir.relu:
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(weir.sigmoid, node.args)
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    x = weir.ones(2, 2)
    assert weir.allclose(traced(x), weir.sigmoid(x + 2).sum(0) / 3 + 1)


def test_pattern_is_replaced():
    traced = weir.fx.symbolic_trace(_function(weir))
    found = weir.fx.replace_pattern(traced, lambda a, b: weir.relu(a + b), lambda a, b: weir.tanh(a * b))
    assert len(found) == 1 and "torch.tanh" in traced.code and "relu" not in traced.code


def test_used_node_is_not_erased():
    traced = weir.fx.symbolic_trace(_function(weir))
    with pytest.raises(RuntimeError, match="still had"):
        traced.graph.erase_node(next(iter(traced.graph.nodes)))
