"""Names of `torch._C`: PyTorch's own answers, and stand-ins that say what is missing."""
import importlib

import pytest
import torch
import torch._C._distributed_c10d  # noqa: F401
import weir
import weir._surface

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


@pytest.mark.parametrize("expression", [
    "C._GLIBCXX_USE_CXX11_ABI", "C._has_xpu", "C._get_cudnn_enabled()", "C._get_accelerator().type", "C._len_torch_dispatch_stack()",
    "C._jit_can_fuse_on_cpu(), C._jit_can_fuse_on_gpu()", "C._get_sdp_priority_order()", "C._current_autograd_node()", "C._jit_clear_class_registry()",
    "C._accelerator_getAllocatorSettings()", "C._dispatch_key_for_device('cpu'), C._dispatch_key_for_device('cuda')",
    "[C._dispatch_has_kernel_for_dispatch_key('aten::add.Tensor', key) for key in ('CPU', 'CUDA', 'Meta')]", "C._dispatch_dump('foo::bar')",
    "'CPU' in C._dispatch_dump('aten::relu'), 'CUDA' in C._dispatch_dump('aten::relu')", "C._is_alias_of(x, x[1:]), C._is_alias_of(x, x.clone())",
    "C._nn.flatten_dense_tensors([x, x[:1]]).tolist()", "[p.tolist() for p in C._nn.unflatten_dense_tensors(x, [x[:1], x[1:]])]",
    "C._dispatch_keys(x).has(C.DispatchKey.CPU), C._dispatch_keys(x).has(C.DispatchKey.CUDA)", "C.Tag is t.Tag",
    "C._VariableFunctions.add(x, x).tolist()", "'matmul' in dir(C._VariableFunctions), hasattr(C._VariableFunctions, 'nn')",
    "C._autograd._top_saved_tensors_default_hooks(False)", "issubclass(t.autograd.Function, C._FunctionBase), 'apply' in vars(C._FunctionBase)",
    "C._distributed_c10d.ReduceOp is t.distributed.ReduceOp", "C._distributed_rpc._is_current_rpc_agent_set()",
    "C._profiler._ExperimentalConfig(verbose=True).trace_only",
    "C._set_tracing_state(None)", "t.profiler.profiler.PROFILER_STEP_NAME", "t.profiler.profiler._default_schedule_fn(3).name",
    "C._show_config() == t.__config__.show()"])
def test_answers_as_pytorch(expression):
    assert eval(expression, {"t": weir, "C": weir._C, "x": weir.ones(3)}) == eval(expression, {"t": torch, "C": torch._C, "x": torch.ones(3)})


@FRAMEWORKS
def test_settings_are_kept(F):
    F._C._accelerator_setAllocatorSettings("expandable_segments:True")
    assert F._C._accelerator_getAllocatorSettings() == "expandable_segments:True"
    F._C._accelerator_setAllocatorSettings("")
    F._C._set_math_sdp_allow_fp16_bf16_reduction(True)
    assert F.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    F._C._set_math_sdp_allow_fp16_bf16_reduction(False)
    for name in ("_jit_set_autocast_mode", "_jit_set_nvfuser_guard_mode", "_debug_set_autodiff_subgraph_inlining"):
        getattr(F._C, name)(True)


@FRAMEWORKS
def test_refusals(F):
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        F._C._get_accelerator(True)
    with pytest.raises(RuntimeError, match="operator foo::bar does not exist"):
        F._C._dispatch_has_kernel_for_dispatch_key("foo::bar", "CPU")
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        F._C._dispatch_key_for_device("foo")


@FRAMEWORKS
def test_kernels_of_a_programs_op_are_told(F):
    with F.library._scoped_library("core_names", "FRAGMENT") as lib:
        lib.define("twice(Tensor x) -> Tensor")
        has = F._C._dispatch_has_kernel_for_dispatch_key
        assert not has("core_names::twice", "CPU") and not has("core_names::twice", "Meta")
        lib.impl("twice", lambda x: x + x, "CPU")
        F.library.register_fake("core_names::twice", lambda x: F.empty_like(x), lib=lib)
        assert has("core_names::twice", "CPU") and has("core_names::twice", "Meta") and not has("core_names::twice", "CUDA")
        assert "CPU" in F._C._dispatch_dump("core_names::twice") and "CUDA" not in F._C._dispatch_dump("core_names::twice")


@FRAMEWORKS
def test_hooks_of_saved_tensors_by_their_core(F):
    core = importlib.import_module(f"{F.__name__}._C._autograd") if F is weir else F._C._autograd
    seen = []
    core._push_saved_tensors_default_hooks(lambda t: seen.append(t.shape) or t, lambda t: t)
    assert len(core._top_saved_tensors_default_hooks(False)) == 2
    F.ones(2, requires_grad=True).exp()
    core._pop_saved_tensors_default_hooks()
    assert seen == [(2,)] and core._top_saved_tensors_default_hooks(False) is None


@FRAMEWORKS
def test_the_mode_of_inference_is_a_scope(F):
    with F._C._InferenceMode(True):
        assert F.is_inference_mode_enabled()
    with F.inference_mode(), F._C._InferenceMode(False):
        assert not F.is_inference_mode_enabled()


def test_classes_of_the_core_are_those_of_the_package():
    names = [n for n in weir._surface.names() if n[:1].isupper() and isinstance(getattr(weir, n), type)
             and (weir._surface._WHY.get(n) == "weir has no TorchScript" or n in ("Stream", "Event", "Tag", "DispatchKey", "ScriptMethod", "Future"))]
    assert len(names) > 80
    for name in set(names) - {"Node"}:  # which is here in truth, at the core
        assert getattr(weir._C, name) is getattr(weir, name) and hasattr(torch._C, name), name


@pytest.mark.parametrize("use", [
    "C._storage_Use_Count(1)", "C._jit_pass_inline(None)", "C._get_schema('a', 'b')", "C._ExcludeDispatchKeyGuard(None)", "C._DisableTorchDispatch()",
    "C._cuda_beginAllocateToPool(0, 1)", "C._construct_storage_from_data_pointer(1, 2, 3)", "C.parse_schema('a')", "C._set_tracing_state(1)",
    "C._distributed_c10d.Reducer()", "C._jit_tree_views.SourceRangeFactory()", "C._profiler._RecordFunctionFast('x')", "C._autograd._KinetoEvent()",
    "C._profiler._ExperimentalConfig(profiler_metrics=['x'])"])
def test_what_is_not_there_says_so(use):
    with pytest.raises(NotImplementedError):
        eval(use, {"C": weir._C})


def test_the_processors_flags_are_told_as_pytorch_tells_them():
    ours, theirs = weir._C._cpu._get_cpu_capability(), torch._C._cpu._get_cpu_capability()
    assert len(ours) > 40 and ours == {name: theirs[name] for name in ours}
