"""Searches and histograms against PyTorch."""

from contextlib import nullcontext

import pytest
import torch
import weir
from twins import assert_same

NAN, INF = float("nan"), float("inf")
EDGES = {"line": torch.tensor([1.0, 2, 2, 5]), "rows": torch.tensor([[1.0, 2, 3], [2, 2, 9]]), "whole": torch.tensor([1, 3, 5]),
         "empty": torch.zeros(0), "number": torch.tensor(1.0), "bool": torch.tensor([False, True])}
VALUES = {"rows": torch.tensor([[0.0, 2, NAN], [9, 10, -INF]]), "line": torch.tensor([2.0, 1.5]), "whole": torch.tensor([3, 4]),
          "number": torch.tensor(2), "half": torch.tensor([2.0, 3.0], dtype=torch.bfloat16)}
SEARCHES = {"left": {}, "right": {"right": True}, "side": {"side": "right"}, "both": {"side": "left", "right": True},
            "wrong side": {"side": "up"}, "narrow": {"out_int32": True}}


@pytest.mark.parametrize("how", SEARCHES)
def test_searchsorted(how):
    for e, edges in EDGES.items():
        for v, values in VALUES.items():
            assert_same(lambda t, a, b: t.searchsorted(a, b, **SEARCHES[how]), edges, values, what=f"{e}, {v}")
            assert_same(lambda t, a, b: t.searchsorted(a, b, sorter=t.sort(a, -1, descending=True)[1], **SEARCHES[how]), edges, values)
        assert_same(lambda t, a: t.searchsorted(a, 2.5, **SEARCHES[how]), edges, what=f"{e}, a number")
        assert_same(lambda t, a: t.bucketize(3, a), edges)
        assert_same(lambda t, a, b: t.bucketize(b, a, right=True), edges, VALUES["rows"])


def test_a_sorter_out_of_range_raises():
    assert_same(lambda t, a: t.searchsorted(a, a, sorter=t.tensor([0, 1, 2, 9])), EDGES["line"])
    assert_same(lambda t, a: t.searchsorted(a, a, sorter=t.tensor([0, 1])), EDGES["line"])


@pytest.mark.parametrize("count", [0, 3, 40])
@pytest.mark.parametrize("unique", [False, True])
def test_isin(count, unique):
    tests = torch.arange(count) * 2
    for x in (torch.tensor([[7, 7], [4, 78]]), torch.tensor([0.0, -0.0, NAN, 4]), torch.zeros(0), torch.tensor([True]), torch.tensor([4 + 0j])):
        assert_same(lambda t, x, y: t.isin(x, y, assume_unique=unique), x, tests)
        assert_same(lambda t, x, y: t.isin(x, y.float(), assume_unique=unique, invert=True), x, tests)
    assert_same(lambda t, y: (t.isin(4, y), t.isin(y, 4)), tests)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool])
def test_histc(dtype):
    x = torch.tensor([1.0, 2, 2.5, 7, 7]).to(dtype)
    for arguments in ((), (4,), (4, 0, 5), (3, 7, 7), (0,), (4, 5, 2), (4, NAN, 2), (2, -INF, INF)):
        assert_same(lambda t, x: t.histc(x, *arguments), x, what=str(arguments))
    assert_same(lambda t, x: t.histc(x, 3), x[:0])


@pytest.mark.parametrize("density", [False, True])
def test_histogram(density):
    x = torch.randn(40, 2, generator=torch.manual_seed(0))
    w = torch.rand(40, 2, generator=torch.manual_seed(1))
    for call in (lambda t, x, w: t.histogram(x, 5, density=density), lambda t, x, w: t.histogram(x, 5, weight=w, density=density),
                 lambda t, x, w: x.histogram(t.tensor([-1.0, 0, 0.3, 2]), density=density),
                 lambda t, x, w: t.histogram(x, 4, range=(-1.0, 1.0), weight=w, density=density),
                 lambda t, x, w: t.histogram(x, 4, range=(1.0, 1.0)), lambda t, x, w: t.histogram(x, 4, range=(2.0, 1.0)),
                 lambda t, x, w: t.histogram(x, 0), lambda t, x, w: t.histogram(x, t.tensor([1.0])),
                 lambda t, x, w: t.histogram(x, 3, weight=w[0]), lambda t, x, w: t.histogram(x.long(), 3),
                 lambda t, x, w: t.histogram(x / 0, 3), lambda t, x, w: t.histogram(x[:0], 3)):
        assert_same(call, x, w)


def test_histogramdd():
    x = torch.randn(60, 2, generator=torch.manual_seed(0))
    for call in (lambda t, x: t.histogramdd(x, [3, 4]), lambda t, x: t.histogramdd(x, 3, density=True), lambda t, x: t.histogramdd(x, [3]),
                 lambda t, x: t.histogramdd(x, [3, 2], range=[-1.0, 1.0, 0.0, 2.0], weight=x[:, 0].abs()),
                 lambda t, x: t.histogramdd(x, (t.tensor([-1.0, 0, 1]), t.tensor([0.0, 2])), density=True)):
        assert_same(lambda t, x: [t.histogramdd(x, 3)[0]], x)
        assert_same(lambda t, x: (lambda r: [r.hist, *r.bin_edges])(call(t, x)), x)


@pytest.mark.parametrize("told", ["input", "weight", "bins"])
def test_all_parts_of_a_histogram_require_grad_as_any_argument_does(told):
    for t in (torch, weir):
        x, w, edges = t.ones(3), t.ones(3), t.tensor([0.0, 1.0, 2.0])
        {"input": x, "weight": w, "bins": edges}[told].requires_grad_()
        results = [*t.histogram(x, edges, weight=w), *(t.histogram(x, 2, range=(0.0, 2.0), weight=w) if told != "bins" else ())]
        assert all(r.requires_grad for r in results)
        with pytest.raises(RuntimeError, match="derivative for .*histogram.* is not implemented"):
            results[1].sum().backward()


@pytest.mark.parametrize("many", [1, 9, 10, 30])
@pytest.mark.parametrize("number", [-2**63, 256, 0, 0.5])
def test_a_number_beyond_the_bytes_it_is_looked_for_among(number, many):
    assert_same(lambda t, x: [t.isin(number, x), t.isin(x, number), t.isin(number, x, assume_unique=True)], torch.zeros(many, dtype=torch.uint8))


@pytest.mark.parametrize("number", [1e30, -1e30, 2.0**25 + 4])
@pytest.mark.parametrize("bins", [1, 3, 4])
def test_numbers_that_one_more_does_not_change_stand_in_the_middle(number, bins):
    assert_same(lambda t, x: [t.histc(x, bins), t.histc(x * 0, bins, number, number)], torch.full((3,), number))


@pytest.mark.parametrize("dtype", ["bool", "float32"])
def test_boundaries_that_are_no_line_are_warned_of_before_their_dtype(dtype, recwarn):
    """PyTorch refuses bool too, but behind the warning."""
    for t in (torch, weir):
        t.set_warn_always(True)
        try:
            with pytest.raises(NotImplementedError) if dtype == "bool" else nullcontext():
                t.searchsorted(t.zeros(4, dtype=getattr(t, dtype))[::2], t.zeros(3, dtype=getattr(t, dtype)))
        finally:
            t.set_warn_always(False)
    assert len(recwarn) == 2
