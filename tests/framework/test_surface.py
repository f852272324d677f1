"""Names beside the core: what exists, what answers as PyTorch's CPU build, and that nothing pretends."""

import copy
import importlib
import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.mps
import torch.optim.swa_utils
import torch.quasirandom
import torch.utils._pytree
import weir


@pytest.mark.parametrize("call", [
    "t.cuda.is_available()", "t.cuda.device_count()", "t.cuda.memory_allocated()", "t.cuda.get_rng_state_all()",
    "t.accelerator.is_available()", "t.accelerator.current_accelerator()", "t.backends.cudnn.is_available()",
    "t.backends.mps.is_available()", "t.backends.mkldnn.is_available()", "t._C.has_spectral, t.has_spectral, t.has_lapack",
    "t.xpu.is_available()", "t.mps.is_available()", "t.cpu.device_count()", "t.version.cuda",
    "t.get_float32_matmul_precision()", "t.get_deterministic_debug_mode()", "t.distributed.is_initialized()",
    "t.jit.is_scripting()", "t.compiler.is_compiling()", "t.is_storage(1)", "t.typename(1)",
    "t.cuda.amp.GradScaler().is_enabled()", "t.FloatTensor([1, 2]).tolist()", "t.LongTensor(2, 3).shape",
    "t.hann_window(5).tolist()", "t.kaiser_window(4).tolist()", "t.range(1, 3).tolist()",
    "t.ones(3).untyped_storage().nbytes()", "t.ones(3)[1:].storage().tolist()", "t.eye(3).fill_diagonal_(2).tolist()",
    "t.func.vmap(lambda x: x + 1)(t.ones(2)).tolist()", "t.utils._pytree.tree_leaves({'b': 1, 'a': (2, [3])})",
    "t.float8_e4m3fn.itemsize", "t.autograd.gradcheck(lambda x: x.sin(), (t.ones(2, dtype=t.float64).requires_grad_(),))",
    "t.quasirandom.SobolEngine(3).draw(5).tolist()",
    "t.autograd.gradgradcheck(lambda x: x.sin(), (t.ones(2, dtype=t.float64).requires_grad_(),))",
    "t.cond(True, lambda x: x, lambda x: -x, (1,))", "t.optim.swa_utils.AveragedModel(t.nn.Linear(2, 2)).n_averaged.item()"])
def test_answers_as_pytorch(call):
    theirs, ours = (eval(call, {"t": t}) for t in (torch, weir))
    assert ours == (pytest.approx(theirs, abs=1e-6) if isinstance(theirs, list) and theirs and isinstance(theirs[0], float) else theirs)


def test_the_instruction_set_is_told_as_pytorch_tells_it():
    chosen = {"baseline": "DEFAULT", "avx2": "AVX2", "avx512": "AVX512"}.get(os.environ.get("WEIR_CPU_CAPABILITY"))
    assert weir.backends.cpu.get_cpu_capability() == (chosen or torch.backends.cpu.get_cpu_capability())


@pytest.mark.parametrize("use", [
    lambda: weir.sparse_bsr_tensor(), lambda: weir.quantize_per_tensor(weir.ones(2), 1, 0, None),
    lambda: weir.jit.save(None, "x"), lambda: weir.jit.load("x"), lambda: weir.distributed.init_process_group("gloo"),
    lambda: weir.nn.parallel.DistributedDataParallel(weir.nn.Linear(1, 1)), lambda: weir.onnx.export(None),
    lambda: weir.ao.quantization.prepare(None), lambda: weir.hub.load("a/b", "c"), lambda: weir.nn.Parameter(weir.sparse_coo_tensor((2,)))])
def test_what_is_not_there_says_so(use):
    with pytest.raises(NotImplementedError):
        use()


def test_absent_classes_can_be_named_and_subclassed():
    kind = weir.distributed.fsdp.FullyShardedDataParallel

    class Mine(kind):
        pass
    assert not isinstance(weir.nn.Linear(1, 1), kind)
    with pytest.raises(NotImplementedError, match="FullyShardedDataParallel"):
        Mine()
    with pytest.raises(AttributeError):
        weir.distributed.no_such_name


@pytest.mark.parametrize("path", ["nn.modules.batchnorm._BatchNorm", "nn.modules.utils._pair", "nn.modules.conv._ConvNd",
                                  "nn.modules.instancenorm.InstanceNorm2d", "nn.modules.loss.TripletMarginLoss", "nn.common_types._size_2_t",
                                  "optim.lr_scheduler.LRScheduler", "utils.data.DataLoader", "distributions.normal.Normal"])
def test_private_paths_are_there(path):
    module, _, name = path.rpartition(".")
    assert hasattr(importlib.import_module("weir." + module), name)


def test_default_device_is_a_scope():
    with weir.device("meta"):
        assert weir.ones(2).device.type == "meta" and weir.nn.Linear(2, 2).weight.device.type == "meta"
    assert weir.ones(2).device.type == "cpu"


@pytest.mark.parametrize("op", [weir.relu, weir.Tensor.normal_, weir.Tensor.subtract])
def test_ops_are_copied_and_pickled_by_name(op):
    assert copy.deepcopy(op) is op and pickle.loads(pickle.dumps(op)) is op


def _scaled(x, by: float, less: int = 1):
    return x * by - less


@pytest.mark.parametrize("W", [torch, weir])
def test_scripted_functions_take_whole_numbers_as_the_floats_they_ask_for(W):
    scaled = W.jit.script(_scaled)
    assert scaled(W.tensor([1]), 2).dtype == scaled(W.tensor([1]), by=2).dtype == W.float32
    assert _scaled(W.tensor([1]), 2).dtype == W.int64


def test_compiled_module_keeps_pytorchs_names():
    compiled = weir.compile(weir.nn.Linear(2, 2))
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"] and compiled(weir.ones(1, 2)).shape == (1, 2)


@pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])
def test_an_epoch_is_an_iterator_of_a_known_class(F):
    data = F.utils.data
    for workers in (0, 1):
        epoch = iter(data.DataLoader(range(5), 2, num_workers=workers))
        kinds = data.dataloader._SingleProcessDataLoaderIter, data.dataloader._MultiProcessingDataLoaderIter
        assert isinstance(epoch, kinds[workers]) and isinstance(epoch, data.dataloader._BaseDataLoaderIter)
        assert len(epoch) == 3 and next(epoch).tolist() == [0, 1] and iter(epoch) is epoch and len(list(epoch)) == 2


def test_what_libraries_take_from_private_modules():
    from weir._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
    from weir.nn.parallel.scatter_gather import is_namedtuple, scatter_kwargs
    with TransformGetItemToIndex():
        assert not weir._C._are_functorch_transforms_active() and not is_namedtuple((1,))
    assert weir._C._nn._parse_to("cpu", weir.float64) == torch_free(torch._C._nn._parse_to("cpu", torch.float64))
    with pytest.raises(NotImplementedError):
        scatter_kwargs((), {}, [0])


def torch_free(parts):
    """torch's devices and dtypes as weir's."""
    return tuple(weir.device(str(p)) if isinstance(p, torch.device) else getattr(weir, str(p).split(".")[1]) if isinstance(p, torch.dtype) else p for p in parts)


def test_subclass_sees_calls():
    class Logged(weir.Tensor):
        seen: list = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})
    x = weir.ones(2).as_subclass(Logged)
    assert type(weir.relu(x)) is Logged and type(x.view(1, 2)) is Logged and Logged.seen == ["relu", "view"]
    assert type(weir.ones(2) + 1) is weir.Tensor


def test_custom_op_with_gradient():
    @weir.library.custom_op("surface_test::scaled_sin", mutates_args=())
    def scaled_sin(x: weir.Tensor, by: float = 2.0) -> weir.Tensor:
        return weir.from_numpy(x.detach().numpy().copy()).sin() * by

    scaled_sin.register_autograd(lambda ctx, g: (g * ctx.saved_tensors[0].cos() * ctx.by, None),
                                 setup_context=lambda ctx, inputs, output: (ctx.save_for_backward(inputs[0]), setattr(ctx, "by", inputs[1])))
    x = weir.tensor([0.5], requires_grad=True)
    weir.ops.surface_test.scaled_sin(x).backward()
    assert x.grad.item() == pytest.approx(2 * 0.8775825618903728)
    with pytest.raises(RuntimeError, match="no autograd formula"):
        weir.library.custom_op("surface_test::opaque", lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor")(x).backward()


def test_assert_close_and_make_tensor():
    weir.testing.assert_close({"a": [weir.ones(2), 1.0]}, {"a": [weir.ones(2) + 1e-7, 1.0]})
    for other in (weir.ones(3), weir.ones(2, dtype=weir.float64), weir.tensor([1.0, 1.1])):
        with pytest.raises(AssertionError):
            weir.testing.assert_close(weir.ones(2), other)


@pytest.mark.parametrize("form", [{}, {"noncontiguous": True}, {"exclude_zero": True, "low": -2, "high": 3}, {"low": 1, "high": 1e4}], ids=str)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_make_tensor_draws_what_pytorch_draws(dtype, form):
    made = []
    for F in (weir, torch):
        F.manual_seed(7)
        t = F.testing.make_tensor(3, 4, dtype=getattr(F, dtype), device="cpu", **form)
        made.append((t.stride(), t.tolist()))
    assert made[0] == made[1]


def test_profile_measures_scopes(tmp_path):
    with weir.profiler.profile() as prof:
        with weir.profiler.record_function("outer"):
            with weir.profiler.record_function("inner"):
                weir.ones(100, 100) @ weir.ones(100, 100)
    events = {e.name: e for e in prof.key_averages()}
    assert events["outer"].cpu_time_total >= events["inner"].cpu_time_total > 0
    assert "inner" in prof.key_averages().table(sort_by="cpu_time_total")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))


@pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])
def test_a_profile_follows_its_schedule(F):
    said, p = [], F.profiler
    with p.profile(activities=[p.ProfilerActivity.CPU], schedule=p.schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda x: said.append(x.step_num)) as prof:
        for step in range(7):
            with p.record_function("inside"):
                F.ones(2)
            prof.step()
    assert said == [4, 7]
    assert "inside" in prof.key_averages().table()


def test_scaler_skips_what_is_not_finite():
    p = weir.nn.Parameter(weir.ones(1))
    optimizer, scaler = weir.optim.SGD([p], lr=1.0), weir.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(p.sum())
    p.grad = weir.tensor([float("inf")])
    scaler.step(optimizer)
    scaler.update()
    assert p.item() == 1.0 and scaler.get_scale() == 4.0
    scaler.scale((p * 2).sum()).backward()


@pytest.mark.parametrize("call", ["tree_map(lambda x: x + 1, {'a': [1, (2,)]})", "tree_structure((1, [2])).num_leaves",
                                  "tree_flatten_with_path({'a': [1]})[0][0][1]", "keystr(tree_flatten_with_path({'a': [1]})[0][0][0])"])
def test_trees_as_in_pytorch(call):
    assert eval("p." + call.replace("(tree", "(p.tree"), {"p": importlib.import_module("weir.utils._pytree")}) == \
        eval("p." + call.replace("(tree", "(p.tree"), {"p": torch.utils._pytree})


def test_folded_batch_norm_computes_the_same():
    from weir.nn.utils.fusion import fuse_conv_bn_eval
    conv, bn, x = weir.nn.Conv2d(2, 3, 3).eval(), weir.nn.BatchNorm2d(3), weir.randn(2, 2, 6, 6)
    bn(conv(x))
    bn.eval()
    assert weir.allclose(fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)


@pytest.mark.parametrize("name, more", [
    ("binary_cross_entropy_with_logits", (None, None, 0)), ("hinge_embedding_loss", (1.0, 2)), ("kl_div", (2,)),
    ("margin_ranking_loss", (0.1, 0)), ("triplet_margin_loss", (1.0, 2.0, 1e-6, False, 0)), ("cosine_embedding_loss", (0.1, 0))])
def test_losses_of_the_top_level_take_pytorchs_positions(name, more):
    """They differ from nn.functional's, where the same positions mean other things."""
    draw = np.random.default_rng(0)
    count = 2 if name in ("binary_cross_entropy_with_logits", "hinge_embedding_loss", "kl_div") else 3
    arrays = [draw.random((3, 4)).astype("float32") for _ in range(count)]
    if name == "cosine_embedding_loss":
        arrays[2] = np.array([1, -1, 1], "float32")
    ours, theirs = (getattr(F, name)(*map(F.from_numpy, arrays), *more).numpy() for F in (weir, torch))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_the_dtype_of_gradients_is_the_tensors():
    for t in (torch, weir):
        x = t.ones(2, requires_grad=True)
        x.grad_dtype = t.float32
        assert x.grad_dtype == t.float32
        for wrong, error in (("a", "must be"), (2, "must be")):
            with pytest.raises(RuntimeError, match=error):
                x.grad_dtype = wrong
        with pytest.raises(RuntimeError, match="leaf"):
            (x * 2).grad_dtype
    with pytest.raises(NotImplementedError):
        weir.ones(2, requires_grad=True).grad_dtype = weir.float64


def test_importing_pays_for_nothing_that_is_not_used():
    heavy = ("numpy", "scipy", "torch", "multiprocessing", "concurrent.futures", "zipfile", "tempfile", "weir._compile", "weir.nn.graph")
    code = f"import sys, weir; sys.exit(str([m for m in {heavy} if m in sys.modules] or 0).strip('0') or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_functions_may_be_marked_for_nvtx_but_not_called():
    for t in (torch, weir):
        marked = t.cuda.nvtx.range("step")(lambda: 1)
        for begin in (marked, lambda: t.cuda.nvtx.range_push("step"), t.cuda.nvtx.range("step").__enter__):
            with pytest.raises(RuntimeError, match="NVTX functions not installed"):
                begin()


@pytest.mark.parametrize("path", ["nn", "optim", "optim.lr_scheduler", "distributions", "distributions.constraints", "autograd", "autograd.function", "utils.data"])
def test_isinstance_says_of_each_class_what_it_says_in_pytorch(path):
    """A Conv1d is no Conv2d: programs choose by it what they initialise, freeze or replace."""
    def classes(package):
        module = importlib.import_module(f"{package}.{path}")
        return {name: value for name in dir(importlib.import_module(f"torch.{path}")) if inspect.isclass(value := getattr(module, name, None))
                and "__weir_missing__" not in vars(value)}

    theirs, ours = classes("torch"), classes("weir")
    both = [name for name in theirs if name in ours and theirs[name].__module__.startswith("torch")]
    wrong = [(one, other) for one in both for other in both if issubclass(theirs[one], theirs[other]) != issubclass(ours[one], ours[other])]
    assert not set(wrong) - {("UninitializedBuffer", "Buffer")}  # of which isinstance says so in PyTorch too


@pytest.mark.parametrize("name", ["copy", "fill", "uniform", "zero"])
def test_what_only_arrays_of_numpy_have_is_no_method(name):
    """Programs tell arrays and tensors apart by such names; of a tensor only the form in place is a method."""
    assert not hasattr(torch.ones(1), name) and not hasattr(weir.ones(1), name) and hasattr(weir.ones(1), name + "_")


def test_functions_that_are_no_methods_in_pytorch_are_none_here():
    """Programs ask `hasattr` what a tensor can do, and give subclasses methods of such names."""
    known = {"matrix_rank"}  # refused by a name of its own, as `eig` and `lstsq` are
    filled = {"bernoulli_fill_", "drawn_fill_", "normal_fill_", "random_range_"}  # the parts of `bernoulli_`, `exponential_`, `normal_` and `random_`
    more = {name for name in set(dir(weir.Tensor)) - set(dir(torch.Tensor)) if not name.startswith("_")}
    assert more == known | filled
    assert weir.isnan(weir.ones(1)).item() is False and weir.celu_(weir.ones(1)).item() == 1


@pytest.mark.filterwarnings("ignore:`torch.jit")
@pytest.mark.parametrize("make, kind", [(lambda t, m: t.jit.script(m), "RecursiveScriptModule"), (lambda t, m: t.jit.trace(m, t.ones(1, 2)), "TopLevelTracedModule"),
                                        (lambda t, m: m, None)], ids=["script", "trace", "neither"])
def test_a_compiled_module_is_an_instance_of_compiled_ones(make, kind):
    """As e3nn asserts of what it scripts."""
    for t, home in ((weir, weir.jit), (torch, torch.jit._script if kind != "TopLevelTracedModule" else torch.jit._trace)):
        module = make(t, t.nn.Linear(2, 2))
        assert isinstance(module, t.jit.ScriptModule) is (kind is not None) and isinstance(module, t.nn.Module)
        assert kind is None or isinstance(module, getattr(home, kind))
        assert not isinstance(t.nn.Linear(2, 2), t.jit.ScriptModule)
