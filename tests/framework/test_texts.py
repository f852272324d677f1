"""Texts that programs look for: of errors, which begin with the op here, the whole of PyTorch's; of warnings how they begin, as filters ask."""
import warnings

import pytest
import torch
import weir


def _error(t, expression):
    with pytest.raises(Exception) as raised:
        eval(expression, {"t": t, "F": t.nn.functional, "x": t.ones(2, 3, 4)})
    return raised.value


@pytest.mark.parametrize("expression", [
    "t.tensor(1.)[0]", "t.tensor(1.)[0, 0]", "t.tensor(1.)[:]", "t.tensor(1.)[..., 0]", "t.tensor(1.)[[0]]", "t.tensor(1.)[t.tensor(0)]", "x[0, 5]", "x[0, :, 7]",
    "x[:, 5]", "x[None, 5]", "x[t.tensor([5])]", "x[:, t.tensor([5])]", "x[t.tensor([0]), t.tensor([-5])]", "x.__setitem__((slice(None), 5), 1.)",
    "F.embedding(t.tensor([5]), t.ones(3, 2))", "F.embedding(t.tensor([-1]), t.ones(3, 2))", "t.ones(3).index_select(0, t.tensor([5]))",
    "F.layer_norm(x, [128])", "t.ones(2, 3) @ t.ones(4, 5)", "t.ones(2, 5, 3) @ t.ones(4, 5)", "t.cat([t.ones(2, 3), t.ones(2, 3), t.ones(3, 4)])",
    "t.stack([t.ones(2), t.ones(2), t.ones(3)])", "t.ones(2, 3).expand(3, 3)", "__import__('copy').deepcopy(x.requires_grad_() * 2)"]
    + [f"F.interpolate(t.ones({', '.join('2' * rank)}), 3, mode='{mode}')" for mode in ("linear", "bilinear", "bicubic", "trilinear", "lanczos", "foo")
       for rank in (2, 3, 4, 5, 6) if (mode, rank) not in (("linear", 3), ("bilinear", 4), ("bicubic", 4), ("trilinear", 5))])
def test_an_error_holds_the_text_of_pytorchs(expression):
    expected, got = _error(torch, expression), _error(weir, expression)
    assert type(got).__name__ == type(expected).__name__
    assert str(expected).rstrip() in str(got)


_BEGINNING = 60  # letters: filters name about as many


def _warned(t, expression):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        t.set_warn_always(True)
        try:
            eval(expression, {"t": t, "F": t.nn.functional, "x": t.ones(2, requires_grad=True)})
        finally:
            t.set_warn_always(False)
    return [(w.category.__name__, str(w.message)[:_BEGINNING]) for w in seen]


@pytest.mark.parametrize("expression", [
    "F.softmax(x)", "F.log_softmax(x)", "F.softmin(x)", "t.nn.Hardtanh(min_value=0, max_value=1)", "t.nn.L1Loss(size_average=True)", "F.l1_loss(x, x, reduce=False)",
    "t.nn.CrossEntropyLoss(size_average=False)", "t.nn.NLLLoss2d()", "F.kl_div(t.ones(2), t.ones(2))", "t.nn.KLDivLoss()(t.ones(2), t.ones(2))",
    "t.nn.utils.clip_grad_norm(t.nn.Linear(1, 1).parameters(), 1.)", "F.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 2, 2, 2))", "t.std(t.ones(1))", "t.var(t.ones(1))",
    "t.cov(t.ones(1, 1))", "(x * 2).grad", "x.grad", "t.ones(3).T", "x.sum().backward(create_graph=True)", "t.cross(t.ones(2, 3), t.ones(2, 3))",
    "t.stft(t.ones(8), 4, return_complex=True)", "t.bucketize(t.ones(2, 2).T, t.ones(2))", "t.set_default_tensor_type('torch.FloatTensor')",
    "t.get_autocast_gpu_dtype()", "__import__(t.__name__ + '.utils.checkpoint').utils.checkpoint.checkpoint(t.exp, x)",
    "__import__(t.__name__ + '.utils.checkpoint').utils.checkpoint.checkpoint_sequential([t.exp, t.exp], 1, x)"])
def test_a_warning_begins_as_pytorchs(expression):
    assert _warned(weir, expression) == _warned(torch, expression)
