"""Modules that public programs import though PyTorch calls them private, and settings that they make there."""

import importlib
import inspect
import operator
import pickle

import pytest
import torch
import weir

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


def module(F, path):
    return importlib.import_module(f"{F.__name__}.{path}")


@FRAMEWORKS
def test_settings_of_compilers_can_be_made(F):
    dynamo, inductor = module(F, "_dynamo.config"), module(F, "_inductor.config")
    before = dynamo.suppress_errors
    dynamo.suppress_errors = inductor.coordinate_descent_tuning = True
    inductor.triton.unique_kernel_names = True
    assert F._dynamo.config is dynamo and F._inductor.config is inductor
    dynamo.suppress_errors, inductor.coordinate_descent_tuning = before, False


@FRAMEWORKS
def test_names_under_their_files(F):
    assert module(F, "optim.adamw").AdamW is F.optim.AdamW
    assert module(F, "utils.data._utils.collate").default_collate is F.utils.data.default_collate
    assert module(F, "utils.data._utils.worker").get_worker_info() is None
    with module(F, "cpu.amp").autocast():
        assert (F.ones(2, 2) @ F.ones(2, 2)).dtype is F.bfloat16


@FRAMEWORKS
def test_checkpointed_modules_keep_their_names(F):
    wrapping = module(F, "distributed.algorithms._checkpoint.checkpoint_wrapper")
    nn = F.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 3), nn.Tanh()))
    names = list(model.state_dict())
    wrapping.apply_activation_checkpointing(model, check_fn=lambda m: isinstance(m, nn.Sequential))
    assert type(model[1]).__name__ == "CheckpointWrapper" and list(model.state_dict()) == names
    assert [n for n, _ in model[1].named_parameters()] == ["0.weight", "0.bias"]
    assert model[1][0].weight.shape == (3, 3) and not model.load_state_dict(model.state_dict()).missing_keys
    model(F.ones(1, 2)).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    reentrant = wrapping.checkpoint_wrapper(nn.Linear(2, 2), checkpoint_impl=wrapping.CheckpointImpl.REENTRANT)
    x = F.ones(1, 2, requires_grad=True)
    reentrant(input=x).sum().backward()
    assert F.allclose(x.grad, reentrant.weight.sum(0)) and reentrant.in_features == 2


@pytest.mark.parametrize("of", ["optim.AdamW", "optim.ASGD", "optim.SparseAdam", "optim.Adafactor", "distributions.Normal", "distributions.OneHotCategoricalStraightThrough",
                                "distributions.StudentT"])
def test_a_class_says_that_it_is_where_pytorch_keeps_it(of):
    ours, theirs = (operator.attrgetter(of)(t) for t in (weir, torch))
    assert ours.__module__.partition(".")[2] == theirs.__module__.partition(".")[2]
    assert pickle.loads(pickle.dumps(ours)) is ours
    assert of == "optim.Adafactor" or f"class {ours.__name__}" in inspect.getsource(ours)
