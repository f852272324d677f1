"""Python composites on PyTorch's own samples: values and gradients, a few samples per function.

The acceptance gate runs every sample; this is the quick form for the composites alone.
"""

import itertools
import warnings

import pytest
import torch
import weir
from torch.testing._internal.common_methods_invocations import op_db
from twins import assert_close, floats, to_weir

SAMPLES = 4
NAMES = set(weir._composites.functions) | {f"{module}.{n}" for module in ("linalg", "masked", "special", "signal.windows")
                                           for n in vars(eval(f"weir.{module}"))}
#: Compared by the gate only, each with its reason.
ELSEWHERE = {
    "linalg.eig": "a sum of eigenvectors depends on their phases",
    "linalg.norm.subgradients_at_zero": "subgradients where PyTorch itself has several",
    "einsum": "the sample gives the operands before the equation",
    "slice": "PyTorch has it as an internal op only",
    "where": "the sample gives the tensor before the condition",
    "bernoulli": "its elements are random",
    "special.polygamma": "the sample gives the tensor before n",
    "as_strided_scatter": "PyTorch's gradient is that of another geometry when the window overlaps itself",
    "nonzero_static": "no eager sample differs from nonzero's",
    "mode": "the index among equal elements is unspecified",
    **dict.fromkeys(("linalg.pinv.singular", "triangular_solve", "svd_lowrank", "pca_lowrank", "zero_"),
                    "the entry wraps the function"),
    "empty_permuted": "its elements are undefined",
    "matrix_exp": "the result spans five orders of magnitude",
    **dict.fromkeys(("svd", "linalg.svd", "linalg.eigh", "linalg.lstsq"), "determined up to signs, or empty in part"),
}


def entries():
    for op in op_db:
        label = f"{op.name}.{op.variant_test_name}".rstrip(".")
        if op.name in NAMES and label not in ELSEWHERE and op.name not in ELSEWHERE and torch.float32 in op.dtypes:
            yield pytest.param(op, id=label)


def resolve(name):
    target = weir
    for part in name.split("."):
        target = getattr(target, part)
    return target


@pytest.mark.parametrize("op", entries())
def test_samples_agree(op):
    function = resolve(op.name)
    differentiable = op.supports_autograd
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        samples = op.sample_inputs("cpu", torch.float32, requires_grad=differentiable)
        for sample in itertools.islice(samples, SAMPLES):
            theirs = [sample.input, *sample.args]
            ours = [to_weir(a) for a in theirs]
            kwargs = {k: to_weir(v) for k, v in sample.kwargs.items()}
            expected, actual = op(*theirs, **sample.kwargs), function(*ours, **kwargs)
            assert_close(actual, expected, what=str(sample.kwargs))
            if floats(expected):
                compare_gradients(ours, theirs, actual, expected)


def compare_gradients(ours, theirs, actual, expected):
    inputs = [(a, e) for a, e in zip(flat(ours), flat(theirs)) if isinstance(e, torch.Tensor) and e.requires_grad]
    want = torch.autograd.grad([t.sum().real for t in floats(expected)], [e for _, e in inputs], allow_unused=True)
    got = weir.autograd.grad([t.sum().real for t in floats(actual)], [a for a, _ in inputs], allow_unused=True)
    for a, e in zip(got, want):
        if a is None or e is None:  # a zero gradient may be absent
            assert (e if a is None else a) is None or not bool((e if a is None else a).any())
        else:
            assert_close(a, e, rtol=1e-3, atol=1e-4)


def flat(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from flat(value)
        else:
            yield value


def test_logsumexp_of_nothing_but_minus_infinity():
    assert weir.logsumexp(weir.full((2, 3), -float("inf")), 1).tolist() == [-float("inf")] * 2


def test_unique_of_no_rows_keeps_their_shape():
    assert weir.unique(weir.zeros(5, 0, 5), dim=1).shape == (5, 0, 5)
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        weir.unique(weir.zeros(5, 0, 5), dim=0)


def test_circular_padding_does_not_bring_back_what_it_crops():
    x = weir.arange(4.0).reshape(1, 1, 4)
    assert weir.nn.functional.pad(x, (-1, 2), "circular").tolist() == [[[1.0, 2.0, 3.0, 1.0, 2.0]]]


def test_norms_below_one_have_a_zero_gradient_at_zero():
    x = weir.zeros(3, requires_grad=True)
    weir.linalg.vector_norm(x, -0.5).backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
