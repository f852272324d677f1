"""Every module against PyTorch's: names, repr, values and gradients, in training and evaluation."""

import sys, pathlib  # noqa: E401
import weir
import torch
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from module_cases import CASES  # noqa: E402
from twins import assert_close, copy_state, floats, to_weir  # noqa: E402

RANDOM = ("Dropout", "RReLU")  # drawn differently in training: compared in evaluation only


def build_twins(case):
    theirs = case.build(torch)
    args = type(case)(case.name, to_weir(case.args), to_weir(case.kwargs), case.shapes)
    ours = args.build(weir)
    copy_state(theirs, ours)
    return ours, theirs


@pytest.mark.parametrize("case", CASES, ids=str)
def test_names_and_repr(case):
    ours, theirs = build_twins(case)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    assert ours.state_dict()._metadata == theirs.state_dict()._metadata


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("case", [c for c in CASES if c.shapes], ids=str)
def test_values_and_gradients(case, training):
    if training and any(word in case.name for word in RANDOM):
        pytest.skip("random in training")
    ours, theirs = build_twins(case)
    ours.train(training), theirs.train(training)
    inputs = case.inputs()
    twins = [to_weir(t) for t in inputs]
    expected, actual = theirs(*inputs), ours(*twins)
    assert_close(actual, expected)
    if not floats(expected):
        return
    sum((t * t).sum() for t in floats(expected)).backward()
    sum((t * t).sum() for t in floats(actual)).backward()
    for i, (a, e) in enumerate(zip(twins, inputs)):
        if e.grad is not None:
            assert_close(a.grad, e.grad, what=f"gradient of input {i}")
    for (name, a), e in zip(ours.named_parameters(), theirs.parameters()):
        if e.grad is not None:
            assert_close(a.grad, e.grad, what=f"gradient of {name}")
    for (name, a), e in zip(ours.named_buffers(), theirs.buffers()):
        assert_close(a, e, what=name)


@pytest.mark.parametrize("name", ["Linear", "Conv2d", "BatchNorm2d", "Embedding", "MultiheadAttention"])
def test_equal_seeds_start_equal(name):
    args = {"Linear": (4, 3), "Conv2d": (3, 4, 3), "BatchNorm2d": (3,), "Embedding": (5, 3), "MultiheadAttention": (8, 2)}
    torch.manual_seed(3), weir.manual_seed(3)
    theirs, ours = (getattr(f.nn, name)(*args[name]) for f in (torch, weir))
    for key, value in theirs.state_dict().items():
        assert_close(ours.state_dict()[key], value, what=key)


def test_no_module_of_torch_is_unknown():
    absent = {n for n in torch.nn.modules.__all__ if "__weir_missing__" in vars(getattr(weir.nn, n))}
    assert absent == KNOWN_ABSENT


KNOWN_ABSENT = set()


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int64"])
@pytest.mark.parametrize("mask", [None, "bool", "float32", "complex64"])
@pytest.mark.parametrize("padding", [None, "bool", "int64"])
@pytest.mark.filterwarnings("ignore")
def test_an_encoder_looks_at_masks_first(dtype, mask, padding):
    def outcome(t):
        masks = [None if name is None else t.zeros(shape).to(getattr(t, name)) for name, shape in ((mask, (3, 3)), (padding, (2, 3)))]
        layer = t.nn.TransformerEncoderLayer(4, 2, 8)
        for module in (layer, t.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)):
            try:
                module(t.ones(3, 2, 4).to(getattr(t, dtype)), masks[0], src_key_padding_mask=masks[1])
                yield ""
            except Exception as error:
                yield type(error).__name__
    assert list(outcome(weir)) == list(outcome(torch))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("masked", ["attn_mask", "key_padding_mask"])
def test_attention_takes_truths_to_numbers_first(dtype, masked):
    def outcome(t):
        x, mask = t.ones(3, 2, 4).to(getattr(t, dtype)), t.zeros((3, 3) if masked == "attn_mask" else (2, 3)).bool()
        try:
            t.nn.MultiheadAttention(4, 2)(x, x, x, **{masked: mask})
        except Exception as error:
            return type(error).__name__
        return ""
    assert outcome(weir) == outcome(torch)


def _called(framework, module, inputs, monkeypatch):
    """The functions of nn.functional that a module's call goes by: programs put others in their places, to count for instance."""
    functional, names = framework.nn.functional, []

    def listed(name, function):
        return lambda *args, **kwargs: (names.append(name), function(*args, **kwargs))[1]
    for name in dir(torch.nn.functional):
        function = getattr(functional, name, None)
        if callable(function) and not isinstance(function, type) and not name.startswith("_") and "torch_function" not in name and name != "boolean_dispatch":
            monkeypatch.setattr(functional, name, listed(name, function))
    module(*inputs)
    return names


@pytest.mark.parametrize("case", [c for c in CASES if c.shapes and "Dropout" not in c.name], ids=str)
def test_goes_by_the_function_of_its_name(case, monkeypatch):
    ours, theirs = build_twins(case)
    expected = _called(torch, theirs, case.inputs(), monkeypatch)[:1]
    assert _called(weir, ours, to_weir(case.inputs()), monkeypatch)[:1] == expected
