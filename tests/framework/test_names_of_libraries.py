"""Private names that libraries call, found by a scan of their sources: they answer as PyTorch's do.

weir/optim/_outside.py, weir/nn/functional/_private.py, weir/_checkpoint_files.py, weir/xpu.py.
"""
import importlib
import io
import warnings
from collections import defaultdict

import numpy as np
import pytest
import torch
import weir

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


def module(F, path):
    return importlib.import_module(f"{F.__name__}.{path}")


def kind(call):
    """What a call raises, and with which words; else None."""
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


@FRAMEWORKS
def test_what_optimizers_ask_for(F):
    o = module(F, "optim.optimizer")
    p, c = F.nn.Parameter(F.ones(2)), F.ones(2, dtype=F.complex64)
    assert o._default_to_fused_or_foreach([p, None], False, use_fused=True) == (True, False)
    assert o._default_to_fused_or_foreach([p], False) == o._default_to_fused_or_foreach([p], True, True) == (False, False)
    assert o._get_capturable_supported_devices() == ["cuda", "xpu", "hpu", "privateuseone", "xla"]
    assert o._get_value(F.tensor(2.5)) == 2.5 == o._get_value(2.5) and o._to_scalar(F.ones(1)).dim() == 0
    assert o._get_scalar_dtype() is F.float32 is o._get_scalar_dtype(is_fused=True)
    params, state = [p, c], [F.zeros(2), F.zeros(2, dtype=F.complex64)]
    o._view_as_real(params, state)
    assert params[0] is p and params[1].shape == (2, 2) == state[1].shape
    with pytest.raises(RuntimeError, match="floating point Tensors of supported devices"):
        o._device_dtype_check_for_fused(F.ones(2, dtype=F.int64))
    grouped = F.optim.Optimizer._group_tensors_by_device_and_dtype([[p, F.ones(1, dtype=F.float64), F.ones(3)]])
    assert sorted(len(lists[0]) for lists, _ in grouped.values()) == [1, 2]
    assert all(isinstance(getattr(o, f"_{n}_doc"), str) for n in ("foreach", "fused", "capturable", "differentiable", "maximize"))


@FRAMEWORKS
def test_a_step_is_recorded_where_its_optimizer_is_differentiable(F):
    o = module(F, "optim.optimizer")

    class Mine(F.optim.Optimizer):
        def __init__(self, params, differentiable):
            super().__init__(params, {"differentiable": differentiable})

        @o._use_grad_for_differentiable
        def step(self):
            return F.is_grad_enabled()
    assert [Mine([F.nn.Parameter(F.ones(1))], d).step() for d in (True, False)] == [True, False]


@FRAMEWORKS
def test_rates_asked_within_a_scope_are_no_mistake(F):
    schedule = F.optim.lr_scheduler.StepLR(F.optim.SGD([F.nn.Parameter(F.ones(1))], lr=0.1), 2)
    with module(F, "optim.lr_scheduler")._enable_get_lr_call(schedule), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert schedule.get_lr() == [0.1]


def steps_of_attention(F):
    f = F.nn.functional
    x = [F.arange(24.).reshape(2, 3, 4) / 10, F.ones(2, 3, 4), F.arange(24.).reshape(2, 3, 4).flip(0) / 7]
    w, b = F.arange(48.).reshape(12, 4) / 20, F.arange(12.)
    yield from f._in_projection_packed(*x, w, b)
    yield from f._in_projection_packed(x[0], x[1], x[1], w, b)
    yield from f._in_projection_packed(x[0], x[0], x[0], w)
    yield from f._in_projection(*x, w[:4], w[4:8], w[8:], b[:4])
    yield f._canonical_mask(F.tensor([[True, False]]), "m", None, "", F.float32)
    yield f._canonical_mask(F.tensor([[1.0, -2.0]]), "m", F.float32, "n", F.float64)


def test_steps_of_attention_give_what_pytorch_s_give():
    for ours, theirs in zip(steps_of_attention(weir), steps_of_attention(torch), strict=True):
        assert ours.shape == theirs.shape and ours.stride() == theirs.stride() and str(ours.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6)


def test_steps_of_attention_refuse_what_pytorch_s_refuse():
    def refusals(F):
        f = F.nn.functional
        x, flat = F.ones(2, 3, 4), F.ones(3, 4)
        yield kind(lambda: f._canonical_mask(F.ones(2, dtype=F.int64), "m", None, "", F.float32))
        yield kind(lambda: f._in_projection(x, x, x, F.ones(4, 4), F.ones(4, 3), F.ones(4, 4)))
        yield kind(lambda: f._in_projection(x, x, x, F.ones(4, 4), F.ones(4, 4), F.ones(4, 4), b_k=F.ones(3)))
        yield kind(lambda: f._check_key_padding_mask(F.ones(2, 3), 3, 1))
        yield kind(lambda: f._none_or_dtype(1))
        yield kind(lambda: f._verify_batch_size([1, 3, 1]))
        yield kind(lambda: f._verify_spatial_size([1, 3, 1, 1]))
        yield kind(lambda: f._mha_shape_check(x, flat, x, None, None, 1))[0]
        yield kind(lambda: f._mha_shape_check(flat, flat, flat, x, None, 1))[0]
        yield f._mha_shape_check(x, x, x, None, None, 1), f._mha_shape_check(flat, flat, flat, None, None, 1)
    assert list(refusals(weir)) == list(refusals(torch))


@FRAMEWORKS
def test_batch_norms_become_norms_over_processes(F):
    nn = F.nn
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.Sequential(nn.BatchNorm2d(2, momentum=0.3), nn.BatchNorm1d(3, affine=False))).eval()
    weight = model[1][0].weight
    names = list(model.state_dict())
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(model, process_group="g")
    first, second = converted[1]
    assert converted is model and type(first) is type(second) is nn.SyncBatchNorm and list(model.state_dict()) == names
    assert first.weight is weight and first.momentum == 0.3 and first.process_group == "g" and not first.training and second.weight is None
    assert type(nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm3d(2))) is nn.SyncBatchNorm


@FRAMEWORKS
def test_what_a_checkpoint_names_can_be_asked(F, tmp_path):
    s = F.serialization
    F.save({"w": F.ones(2), "n": np.float64(1), "d": defaultdict(list)}, tmp_path / "a.pt")
    unsafe = s.get_unsafe_globals_in_checkpoint(tmp_path / "a.pt")
    assert {"numpy.dtype", "collections.defaultdict"} <= set(unsafe) and not any("torch" in name for name in unsafe)
    with s.safe_globals([defaultdict]), open(tmp_path / "a.pt", "rb") as file:
        assert "collections.defaultdict" not in s.get_unsafe_globals_in_checkpoint(file)
    with pytest.raises(ValueError, match="Expected input to be a checkpoint"):
        s.get_unsafe_globals_in_checkpoint(io.BytesIO(b"no archive"))


@FRAMEWORKS
def test_places_of_storages(F):
    s, storage = F.serialization, F.ones(2).untyped_storage()
    assert s.location_tag(storage) == "cpu" and s.default_restore_location(storage, "cpu") is storage
    assert s.normalize_storage_type(F.FloatStorage) is F.FloatStorage
    with pytest.raises(RuntimeError, match="don't know how to restore data location"):
        s.default_restore_location(storage, "nowhere")


@FRAMEWORKS
def test_a_backward_pass_within_one_for_some_tensors_is_no_checkpoint(F):
    asked = []

    class Ask(F.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            asked.append(F.autograd._is_checkpoint_valid())
            return g
    x = F.ones(1, requires_grad=True)
    Ask.apply(x).backward()
    F.autograd.grad(Ask.apply(x), x)
    F.autograd.backward(Ask.apply(x), inputs=[x])
    assert asked == [True, False, False] and F.autograd._is_checkpoint_valid()
    y = module(F, "utils.checkpoint").checkpoint(F.nn.Linear(1, 1), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="incompatible with .grad"):
        F.autograd.grad(y, x)


@FRAMEWORKS
def test_other_processors_are_asked_and_answer(F):
    assert F.xpu.memory_allocated() == F.xpu.max_memory_reserved() == 0 and not F.xpu.memory_stats() and F.xpu.get_rng_state_all() == []
    with pytest.raises(NotImplementedError):
        F.xpu.device(0).__enter__()
    with F.xpu.stream(None):
        assert not F.cuda._is_in_bad_fork() and not F.cuda._is_compiled()
    assert F.cpu._is_avx2_supported() in (True, False) and F.cuda._lazy_call(lambda: 1 / 0) is None


def test_questions_about_the_processor_are_answered_as_pytorch_answers_them():
    for name in (n for n in dir(torch.cpu) if n.startswith("_is_")):
        assert getattr(weir.cpu, name)() == getattr(torch.cpu, name)(), name


@FRAMEWORKS
def test_processes_that_there_are_none_of(F):
    c10d = module(F, "distributed.distributed_c10d")
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        c10d._get_default_group()
    assert isinstance(F.distributed.ReduceOp.SUM, F.distributed.ReduceOp.RedOpType) and c10d._world.default_pg is None and not c10d._pg_map
    assert F.distributed.Backend.default_device_backend_map["cpu"] == "gloo" and c10d.default_pg_timeout.total_seconds() == 1800


@FRAMEWORKS
def test_saved_tensors_may_wait_elsewhere(F):
    wrapping = module(F, "distributed.algorithms._checkpoint.checkpoint_wrapper")
    model = F.nn.Sequential(F.nn.Linear(2, 2), F.nn.Tanh())
    names = list(model.state_dict())
    if F is weir:  # PyTorch pins memory there, for which it asks a GPU
        model = wrapping.offload_wrapper(model)
        model(F.ones(1, 2)).sum().backward()
        assert isinstance(model, wrapping.ActivationWrapper) and list(model.state_dict()) == names and model[0].weight.grad is not None


@FRAMEWORKS
def test_kinds_of_tensors_and_lists_of_names(F):
    alike, x = F._has_compatible_shallow_copy_type, F.ones(2)
    assert alike(x, F.ones(3, dtype=F.int64)) and not alike(x, x.to("meta")) and not alike(x, x.to_sparse())
    assert F._disable_dynamo(lambda x: x + 1)(1) == 2 and set(F.functional.__all__) == set(torch.functional.__all__)
    tracing = module(F, "_guards").TracingContext
    assert tracing.try_get() is None and kind(tracing.get)[0] == "RuntimeError"
