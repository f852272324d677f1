"""Names and forms that published libraries use (transformers, diffusers, e3nn, torch_geometric, monai, torch_optimizer)."""
import pickle

import pytest
import torch
import torch.fx
import torch.utils._pytree
import weir


@pytest.mark.parametrize("expression", [
    "t.finfo(t.float8_e4m3fn).max", "repr(t.finfo(t.float8_e5m2))", "repr(t.finfo(t.float8_e8m0fnu))", "repr(t.iinfo(t.uint16))",
    "t.iinfo(t.uint64).max", "repr(t.finfo(t.complex32))", "repr(t.contiguous_format)", "str(t.channels_last)",
    "t.utils._pytree._dict_flatten({'a': 1})", "t.utils._pytree._dict_unflatten([1], ['a'])", "t.utils._pytree._list_flatten([1])",
    "t._tensor_str._tensor_str(t.ones(2, 2), 0)", "t._tensor_str.PRINT_OPTS.threshold",
    "t.utils.data._utils.collate.np_str_obj_array_pattern.pattern", "t.utils.data.dataloader.default_collate([1, 2]).tolist()",
    "issubclass(t.nn.InstanceNorm1d, t.nn.modules.instancenorm._InstanceNorm)", "t.randint_like(t.ones(3), high=1).tolist()",
    "t.ops.aten._to_copy.default(t.ones(2), dtype=t.int64).tolist()", "t.ops.aten.add.Tensor(t.ones(2), t.ones(2)).tolist()",
    "t.ops.aten.alias(t.ones(2)).tolist()"])
def test_answers_as_pytorch(expression):
    assert eval(expression, {"t": weir}) == eval(expression, {"t": torch})


def test_devices_travel():
    for device in (weir.device("cpu"), weir.device("cpu", 0), weir.device("cuda:1")):
        assert pickle.loads(pickle.dumps(device)) == device


def test_an_op_of_aten_that_is_not_here_is_named_and_refused():
    with pytest.raises(NotImplementedError, match="ops.aten._pin_memory"):
        weir.ops.aten._pin_memory.default(weir.ones(1))


def test_limits_of_what_is_no_number_are_refused():
    with pytest.raises(TypeError):
        weir.iinfo(weir.qint8)
    with pytest.raises(NotImplementedError):
        weir.finfo(weir.float4_e2m1fn_x2)


def _written(t):
    """A graph written by hand with proxies, as code generators do."""
    graph = t.fx.Graph()
    tracer = t.fx.proxy.GraphAppendingTracer(graph)
    x, y = (t.fx.Proxy(graph.placeholder(name), tracer) for name in "xy")
    both = t.broadcast_tensors(x, y)
    graph.output((t.einsum("ij,ij->i", (both[0], both[1])) + t.relu(x)[:, 0]).node)
    return graph


def test_a_graph_is_written_with_proxies():
    answers = [t.fx.GraphModule({}, _written(t))(t.ones(2, 3), t.full((1, 3), 2.0)).tolist() for t in (torch, weir)]
    assert answers[0] == answers[1] == [7.0, 7.0]
    assert [n.op for n in _written(weir).nodes] == [n.op for n in _written(torch).nodes]
