"""Names and forms that published libraries use (transformers, diffusers, e3nn, torch_geometric, monai, torch_optimizer)."""
import pickle
import typing
import warnings

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


@pytest.mark.parametrize("limits, of", [("finfo", "t.ones(2)"), ("finfo", "t.ones(1)"), ("finfo", "None"), ("finfo", "3"), ("finfo", "float"), ("finfo", "t.int8"),
                                        ("iinfo", "t.ones(1)"), ("iinfo", "3"), ("iinfo", "int"), ("iinfo", "t.float32")])
def test_limits_are_of_dtypes(limits, of):
    answers = []
    for t in (torch, weir):
        try:
            answers.append(getattr(t, limits)(eval(of, {"t": t})).max)
        except TypeError:
            answers.append(TypeError)
    assert answers[0] == answers[1]


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


def test_nodes_have_classes_of_their_names():
    found = []
    for t in (torch, weir):
        x = t.ones(3, requires_grad=True)
        node = (x * 2).sum().grad_fn
        leaf = node.next_functions[0][0].next_functions[0][0]
        assert isinstance(node, t.autograd.graph.Node) and leaf.variable is x
        found.append([type(node).__name__, type(leaf).__name__, type(leaf).__module__])
    assert found[0] == found[1]


def test_a_batch_of_gradients_at_once():
    found = []
    for t in (torch, weir):
        x, w = t.arange(3.0).requires_grad_(), t.ones(2, requires_grad=True)
        y = t.stack([x.pow(2).sum(), (x * w[0]).sum()])
        rows = t.autograd.grad(y, (x, w), t.eye(2), is_grads_batched=True, create_graph=True)
        again, = t.autograd.grad(rows[0].sum(), x)
        found.append([*(row.tolist() for row in rows), again.tolist()])
        with pytest.raises(IndexError):
            t.autograd.grad(y, x, t.ones(0, 2), is_grads_batched=True)
    assert found[0] == found[1]


def test_lists_of_tensors_take_keywords():
    for t in (torch, weir):
        a, b = [t.zeros(2), t.zeros(1)], [t.ones(2), t.ones(1)]
        t._foreach_lerp_(a, b, weight=0.25)
        t._foreach_mul_(a, other=2) if t is weir else t._foreach_mul_(a, 2)
        t._foreach_addcmul_(a, tensor1=b, tensor2=b, value=2)
        assert [x.tolist() for x in a] == [[2.5, 2.5], [2.5]]
        with pytest.raises(TypeError):
            t._foreach_lerp_(a, b, wait=0.25)


def test_subclasses_are_made_by_a_static_method():
    for t in (torch, weir):
        class Point(t.Tensor):
            pass
        made = t.Tensor._make_subclass(Point, t.ones(2), True)
        assert type(made) is Point and made.requires_grad and type(Point._make_subclass(Point, made)) is Point


def test_kernels_of_the_autograd_key():
    for t in (torch, weir):
        lib = t.library.Library(f"keys_{t.__name__}", "DEF")
        lib.define("twice(Tensor x) -> Tensor")
        op = getattr(t.ops, f"keys_{t.__name__}").twice
        lib.impl("twice", lambda x: x * 2, "CPU")

        class Twice(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                with t._C._AutoDispatchBelowAutograd():
                    return op(x)

            @staticmethod
            def backward(ctx, dy):
                return dy * 3  # so that it shows
        lib.impl("twice", Twice.apply, "Autograd")
        x = t.ones(2, requires_grad=True)
        y = op(x)
        y.sum().backward()
        assert y.tolist() == [2, 2] and x.grad.tolist() == [3, 3]


def test_what_libraries_ask_of_functorch():
    for t in (torch, weir):
        from importlib import import_module
        core = import_module(f"{t.__name__}._C._functorch")
        x = t.ones(2)
        assert not core.is_batchedtensor(x) and core.maybe_get_level(x) == -1 and core.is_batchedtensor is t._C._functorch.is_batchedtensor


def test_tensors_of_modules_are_swapped_by_name():
    from importlib import import_module
    for t in (torch, weir):
        accessor = import_module(f"{t.__name__}.nn.utils._named_member_accessor")
        swap = accessor.swap_tensor
        module, new = t.nn.Linear(2, 2), t.ones(2, 2)
        old = module.weight
        assert swap(module, "weight", new) is old and module.weight is new and swap(module, "more", new, allow_missing=True) is accessor._MISSING
        with pytest.raises(AttributeError):
            swap(module, "other", new)


def test_workers_seed_numpy_as_pytorch_does():
    from importlib import import_module
    theirs, ours = (import_module(f"{name}.utils.data._utils.worker")._generate_state for name in ("torch", "weir"))
    for seed, worker in ((0, 0), (2 ** 62 + 5, 3), (12345, 1)):
        assert ours(seed, worker) == theirs(seed, worker)


def test_vmap_of_a_backward_pass_goes_through_one_graph():
    found = []
    for t in (torch, weir):
        x = t.arange(3.0).requires_grad_()
        y = t.stack([x.pow(2).sum(), x.pow(3).sum()])
        rows, = t.vmap(lambda v: t.autograd.grad(y, x, v, retain_graph=False))(t.eye(2))
        with pytest.raises(RuntimeError, match="second time"):
            y.sum().backward()
        found.append(rows.tolist())
    assert found[0] == found[1]


def test_named_tuples_of_c_are_told_apart():
    import os
    import time
    for t in (torch, weir):
        tree = t.utils._pytree
        assert tree.is_structseq(time.gmtime(0)) and tree.is_structseq_class(os.stat_result)
        assert not tree.is_structseq((1, 2)) and not tree.is_structseq_instance(t.Size([1]))


def test_a_call_of_attention_is_asked_for_kernels_of_cuda():
    """Keras asks before each attention."""
    answers = []
    for t in (torch, weir):
        cuda, q, mask = t.backends.cuda, t.ones(1, 2, 4, 8), t.ones(4, 4)
        call = cuda.SDPAParams(q, q, q, mask, 1, False, True)
        answers.append([call.query is q, call.attn_mask is mask, call.dropout, call.is_causal, call.enable_gqa, cuda.can_use_flash_attention(call),
                        cuda.can_use_efficient_attention(call, True), cuda.can_use_cudnn_attention(call)])
        for refused in (lambda: cuda.SDPAParams(q, q, q, None, 0.0, False), lambda: cuda.SDPAParams(query=q), lambda: cuda.SDPAParams(q, q, 1, None, 0.0, False, False),
                        lambda: cuda.SDPAParams(q, q, q, None, "0", False, False), lambda: cuda.can_use_flash_attention(q)):
            with pytest.raises(TypeError):
                refused()
        with pytest.raises(AttributeError):
            call.dropout = 0.5
    assert answers[0] == answers[1]


@pytest.mark.parametrize("value, kind", [({"a": 1}, dict[str, int]), ([1], typing.List[int]), ([1, "a"], typing.List[int]), ((1, "a"), typing.Tuple[int, str]), ((1,), typing.Tuple[int, str]),
                                         (None, typing.Optional[int]), ("a", typing.Optional[int]), ({"a": "b"}, typing.Dict[str, int])])
def test_isinstance_of_what_containers_hold(value, kind):
    assert weir.jit.isinstance(value, kind) == torch.jit.isinstance(value, kind)


def test_compressed_indices():
    for t in (torch, weir):
        starts = t._convert_indices_from_coo_to_csr(t.tensor([0, 1, 1]), 3, out_int32=True)
        assert starts.tolist() == [0, 1, 3, 3] and starts.dtype == t.int32
        assert t._convert_indices_from_csr_to_coo(t.tensor([0, 1, 3, 3]), t.tensor([5, 6, 7]), transpose=True).tolist() == [[5, 6, 7], [0, 1, 1]]


@pytest.mark.parametrize("call", [lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(8, 2), 1), lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(9, 3, batch_first=True), 1),
                                  lambda t: t.nn.TransformerEncoder(t.nn.TransformerEncoderLayer(8, 2, batch_first=True), 1), lambda t: t.nn.utils.weight_norm(t.nn.Linear(2, 2))])
def test_warnings_of_what_is_old_or_slow(call):
    found = []
    for t in (torch, weir):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call(t)
        found.append([(w.category, str(w.message)) for w in seen])
    assert found[0] == found[1]


def test_names_of_devices_that_are_not_built():
    def outcome(t, call):
        try:
            return str(call(t))
        except Exception as error:
            return type(error)
    for call in (lambda t: t.device("mps"), lambda t: t.device("xpu:1"), lambda t: t.device("mps") == t.device("cpu"), lambda t: t.ones(2).to("mps"), lambda t: t.device("abacus"),
                 lambda t: t.ones(2, device="xpu"), lambda t: t.device("hpu").type):
        assert outcome(weir, call) == outcome(torch, call)
    with pytest.raises(RuntimeError, match="not linked with support for mps"):
        weir.empty(2, device="mps")


def test_sizes_and_named_results_are_trees_of_their_kind():
    def told(t):
        found = t.ones(2, 2).max(0)
        return str(t.utils._pytree.tree_flatten([t.Size([2, 3]), found])[1]), type(t.utils._pytree.tree_map(lambda x: x, found)).__name__
    assert told(weir) == told(torch)


def test_split_takes_its_sizes_by_name():
    for t in (torch, weir):
        x = t.arange(6)
        assert [len(part) for part in x.split(split_size=[1, 5])] == [1, 5] and [len(part) for part in x.split(split_size=4)] == [4, 2]
        assert [len(part) for part in t.split(tensor=x, split_size_or_sections=[1, 5])] == [1, 5]


def test_members_of_modules_by_a_function():
    for t in (torch, weir):
        model = t.nn.Sequential(t.nn.Linear(1, 1), t.nn.Linear(1, 1, bias=False))
        assert [name for name, _ in model._named_members(lambda module: module._parameters.items())] == ["0.weight", "0.bias", "1.weight"]


def test_a_trace_draws_as_pytorchs_does():
    def number(t, **given):
        t.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            t.jit.trace(lambda x: x + t.randn(3), t.ones(3), **given)
        return t.rand(1).item()
    assert number(weir) == number(torch) and number(weir, check_trace=False) == number(torch, check_trace=False)


def test_parts_of_traced_modules_are_copied_by_their_names():
    from weir.fx.graph_module import _CodeOnlyModule, _copy_attr
    source, target = weir.nn.Sequential(weir.nn.Sequential(weir.nn.Linear(2, 3))), weir.nn.Module()
    _copy_attr(source, target, "0.0.weight")
    _copy_attr(source, target, "0.0.bias")
    assert target.get_submodule("0.0").bias is source[0][0].bias
    assert [name for name, _ in _CodeOnlyModule(dict(source.__dict__)).named_parameters()] == ["0.0.weight", "0.0.bias"]


@pytest.mark.parametrize("size", [1, 20, 28, 500])
def test_tensors_of_one_type_are_taken_together(size):
    """As mmengine's gradients are, for one message each."""
    found = []
    for t in (torch, weir):
        tensors = [t.ones(3), t.ones(5).int(), t.ones(4), t.ones(100), t.ones(2), t.ones(2).int(), t.eye(3).to_sparse(), t.zeros(0)]
        found.append([[(tuple(x.shape), x.type().replace("weir", "torch")) for x in taken] for taken in t._utils._take_tensors(tensors, size)])
    assert found[0] == found[1]
