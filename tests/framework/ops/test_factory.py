"""Factories by size, by likeness, of ranges and of random numbers, against PyTorch: values, dtypes, strides, flags, refusals, and the options that all
share (framework/binding/factory_options.cpp)."""

import warnings

import pytest
import torch
import weir

CALLS = """zeros(2, 3)|ones((2,))|zeros([2, 3])|zeros(size=(2,))|ones(())|full((2,), 3)|full((2,), True)|full((2,), 0.5)|full((2,), 1 + 2j)
full((2,), 2.5, dtype=t.int64)|full((2,), t.tensor(3.0))|eye(3)|eye(3, 2)|eye(2, 3, dtype=t.bool)|eye(2, dtype=t.complex64)|scalar_tensor(3)
scalar_tensor(True)|zeros(2, requires_grad=True)|ones(2, layout=t.strided)|zeros(2, dtype=float)|zeros(2, device="meta")|zeros(t.Size([2, 3]))
empty(2, 3, 4, 5, memory_format=t.channels_last).stride()|empty_strided((2, 3), (1, 2)).stride()|empty(0).numel()|zeros(t.tensor(2), 3)
zeros_like(t.ones(2, 3).t())|zeros_like(t.ones(2, 3).t()).stride()|ones_like(t.ones(2), dtype=t.int64)|full_like(t.ones(2, dtype=t.int64), 2.7)
empty_like(t.zeros(2, requires_grad=True)).requires_grad|ones_like(t.ones(2), requires_grad=True)|ones(2).new_zeros(3)|ones(2).new_zeros(2, 3)
ones(2).new_full((2,), 3)|ones(2, dtype=t.int32).new_ones((2, 2))|ones(2).new_empty((2, 3)).shape|ones(2)._version|full((2,), 2)._version
zeros(2, out=t.empty(0))|ones(2, out=t.empty(3, dtype=t.int64))|full((2, 3), 0.5, out=t.empty(0))|eye(2, out=t.empty(0))
empty_strided((1, 2), (-2, 1)).stride()|empty_strided((0, 2), (-1, 3)).stride()|empty_strided((1,), (-5,)).stride()
empty_permuted((2, 3, 5), (0, 2, 1)).stride()|empty_permuted((5, 3, 1), (2, 0, 1)).stride()|empty_permuted((), ()).shape
ones(2).new_empty_strided((2, 3), (1, 2)).stride()|arange(5)|arange(1, 6, 2)|arange(1, 2, 0.5)|arange(end=3)|arange(start=1, end=3)|arange(0, 5, 0.5, dtype=t.int32)
arange(t.tensor(3.0))|arange(True)|arange(5, out=t.empty(0, dtype=t.int32))|arange(0, 5, 2**63, dtype=t.float32)|arange(0, 2**63, 2**62, dtype=t.float64)|arange(2**63, dtype=t.float32, device="meta").shape|arange(3.0, requires_grad=True)|arange(6, out=t.zeros(2, 3, dtype=t.int64))
tril_indices(3, 4)|triu_indices(3, 4, 1)|tril_indices(3, 3, -1, dtype=t.int32)|fft.fftfreq(5)|fft.rfftfreq(6, 0.5)|fft.fftfreq(4, out=t.empty(0))
fft.fftfreq(4, dtype=t.float64, requires_grad=True)""".replace("\n", "|").split("|")
REFUSED = """zeros()|zeros(-1)|zeros(2.5)|zeros("a")|zeros((2,), (3,))|zeros(2, foo=1)|zeros(2, dtype="x")|ones(2, requires_grad=1)|full(2, 3)
ones(2, pin_memory=True)|full((2,), 300, dtype=t.uint8)|eye(-1)|zeros(2**40, 2**40)|zeros(3, dtype=t.int64, requires_grad=True)|zeros_like(3)
zeros(2, dtype=t.int64, out=t.empty(2))|zeros(2, out=t.ones(2, requires_grad=True))|zeros(2).zeros_like()|empty_strided((2,), (-1,))""".replace("\n", "|").split("|")


def outcome(t, text):
    try:
        return repr(eval(f"t.{text}", {"t": t}))
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("text", CALLS)
def test_a_factory_makes_what_pytorch_makes(text):
    assert outcome(weir, text) == outcome(torch, text)


@pytest.mark.parametrize("text", ["arange(5, out=O)", "fft.fftfreq(5, out=O)", "fft.rfftfreq(5, out=O)", "eye(2, out=O)"])
@pytest.mark.parametrize("size", [(), (2,), (3,), (5,), (0,)], ids=str)
def test_a_factory_warns_of_an_out_of_another_size_where_pytorch_does(text, size):
    def warned(F):
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            eval(f"F.{text}", {"F": F, "O": F.empty(size, dtype=F.float64)})
        return [(w.category, str(w.message)[:50]) for w in shown]

    assert warned(weir) == warned(torch)


@pytest.mark.parametrize("text", REFUSED)
def test_a_factory_refuses_what_pytorch_refuses(text):
    assert outcome(weir, text) == outcome(torch, text) and outcome(torch, text).endswith("Error")


#: From one seed on PyTorch's generator and ours draw the same numbers.
DRAWN = """rand(2, 3)|rand((2,), dtype=t.float64)|rand(size=(3,))|rand(3, out=t.empty(0))|rand(2, requires_grad=True)|randn(5)|randn(20, dtype=t.float64)|randn(2, device="meta")
randn(3, dtype=t.complex64)|randint(5, (3,))|randint(2, 5, (3,))|randint(low=1, high=9, size=(4,))|randint(high=9, size=(4,))|randint(5, (3,), dtype=t.float16)
randint(t.tensor([3]), (4,))|randperm(7)|randperm(5, dtype=t.float32)|randperm(4, out=t.empty(0, dtype=t.int32))|rand_like(t.ones(2, 3).t()).stride()|rand_like(t.ones(3))
randn_like(t.ones(4), dtype=t.float64)|randint_like(t.ones(3), 9)|randint_like(t.ones(3), 4, 9)|randint_like(t.ones(3), t.tensor(6.9))|randint_like(t.ones(3), high=7)
normal(t.zeros(3))|normal(t.zeros(2, 1), t.ones(3))|normal(0.5, t.ones(3))|normal(t.arange(3.0), std=2.0)|normal(1.0, 2.0, (4,))|normal(mean=0.0, std=1.0, size=(2, 2))
normal(t.zeros(3), out=t.empty(0))|normal(t.zeros(2), 1.0, generator=t.Generator().manual_seed(3))""".replace("\n", "|").split("|")
NOT_DRAWN = """rand((2,), 3)|rand(-1)|rand(2, names=None)|randn(2, dtype=t.int64)|randint(3, 2)|randint(0, 3, 2)|randint(2.0, (2,))|randint(5, [2.0])|randint(5, 5, (2,))
randint(t.tensor(3.5), (2,))|randint(2**40, (2,), dtype=t.int32)|randint_like(t.ones(2), t.tensor([3]))|randperm(-1)|randperm(300, dtype=t.uint8)|randperm(3000, dtype=t.float16)
randperm(3, dtype=t.bool)|normal(1.0, 2.0)|normal(t.zeros(2), -1.0)|normal(t.zeros(2), -t.ones(2))|normal(1.0, t.ones(2, dtype=t.int64))|normal(t.zeros(2), t.ones(2) * 1j)
arange(5, step=2)|arange(5, 1)|arange(1, 5, 0)|arange(t.tensor([5]))|arange(3, dtype=t.bool)|arange(3, dtype=t.complex64)|arange(3, dtype=t.int32, out=t.empty(0))
empty_permuted((2, 3), (0, 0))|empty_permuted((2, 3), (0, 5))|empty_permuted((2, 3), (0,))|tril_indices(-1, 2)|triu_indices(2, 2, dtype=t.float32)
fft.fftfreq(4, dtype=t.int64)""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", DRAWN)
def test_a_random_factory_draws_what_pytorch_draws(text):
    for t in (torch, weir):
        t.manual_seed(5)
    assert outcome(weir, text) == outcome(torch, text)


@pytest.mark.parametrize("text", NOT_DRAWN)
def test_a_factory_of_ranges_and_random_numbers_refuses_what_pytorch_refuses(text):
    assert outcome(weir, text) == outcome(torch, text) and outcome(torch, text).endswith("Error")


def test_random_factories_stand_in_the_schema():
    named = {op["name"].split(".")[0] for op in weir.schema()}
    assert named >= {"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "arange", "fftfreq", "tril_indices"}


def test_factories_are_ops_without_inputs():
    ops = {op["name"]: op for op in weir.schema()}
    assert all(ops[name]["kind"] == "kernel" for name in ("zeros", "ones", "full", "eye", "empty", "zeros_like", "new_full"))


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_an_out_of_the_dtype_that_a_type_of_pythons_names(name):
    for t in (torch, weir):
        assert getattr(t, name)([2], dtype=float, out=t.empty(2, dtype=t.float64)).dtype == t.float64
        with pytest.raises(RuntimeError, match="does not match dtype of out"):
            getattr(t, name)([2], dtype=float, out=t.empty(2))


@pytest.mark.parametrize("default", ["float16", "bfloat16", "float64"])
def test_the_dtype_of_a_complex_fill_beside_a_default(default):
    kinds = []
    for t in (torch, weir):
        t.set_default_dtype(getattr(t, default))
        try:
            kinds.append(str(t.full((2,), 1j).dtype))
        finally:
            t.set_default_dtype(t.float32)
    assert kinds[0] == kinds[1]
