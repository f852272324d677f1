"""Factories by size and by likeness, against PyTorch: values, dtypes, strides, flags and refusals."""

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
empty_strided((1, 2), (-2, 1)).stride()|empty_strided((0, 2), (-1, 3)).stride()|empty_strided((1,), (-5,)).stride()""".replace("\n", "|").split("|")
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


@pytest.mark.parametrize("text", REFUSED)
def test_a_factory_refuses_what_pytorch_refuses(text):
    assert outcome(weir, text) == outcome(torch, text) and outcome(torch, text).endswith("Error")


def test_factories_are_ops_without_inputs():
    ops = {op["name"]: op for op in weir.schema()}
    assert all(ops[name]["kind"] == "kernel" for name in ("zeros", "ones", "full", "eye", "empty", "zeros_like", "new_full"))


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_an_out_of_the_dtype_that_a_type_of_pythons_names(name):
    for t in (torch, weir):
        assert getattr(t, name)([2], dtype=float, out=t.empty(2, dtype=t.float64)).dtype == t.float64
        with pytest.raises(RuntimeError, match="does not match dtype of out"):
            getattr(t, name)([2], dtype=float, out=t.empty(2))
