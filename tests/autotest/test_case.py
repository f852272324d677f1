"""Cases survive the trip between processes: layout, sharing, dtypes, functions."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from weir_autotest.campaign.score import Failure
from weir_autotest.cases import database, ship
from weir_autotest.cases.case import Case, Decoder, Encoder, TensorSpec, Unmappable, _Memory
from weir_autotest.cases.layout import plain
from weir_autotest.cases.render import code, rebuilt, script
from weir_autotest.cases.target import Target
from weir_autotest.cases.values import Value, to_value
from weir_autotest.generate.expectation import expectation
from weir_autotest.workers.trial import Trial


def trip(tree):
    encoder = Encoder(torch)
    encoded, storages = pickle.loads(pickle.dumps((encoder.encode(tree), encoder.storages)))
    return Decoder(torch, storages).decode(encoded)


BASE = torch.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize("tensor", [
    BASE, BASE.t(), BASE[1:, ::2], BASE[:, :1].expand(4, 3), BASE[2, 3], BASE[:0], torch.empty(0, 3).t(),
    torch.tensor(3), BASE.to(torch.bfloat16)[1:], BASE.to(torch.float16), BASE.to(torch.complex64).t(),
    (BASE > 3), BASE.to(torch.int64), torch.tensor([float("nan"), float("inf"), -0.0]),
], ids=str)
def test_layout_and_bits_survive(tensor):
    copy = trip(tensor)
    assert copy.dtype == tensor.dtype and copy.shape == tensor.shape
    assert copy.numel() == 0 or copy.stride() == tensor.stride()
    assert copy.storage_offset() == tensor.storage_offset() or not copy.numel()
    torch.testing.assert_close(copy, tensor, rtol=0, atol=0, equal_nan=True)


def test_the_storage_beyond_a_view_travels():
    view = torch.arange(10.0)[2:4]
    assert trip(view).as_strided((10,), (1,), 0).tolist() == list(range(10))


def test_the_same_tensor_stays_the_same():
    x = torch.ones(2)
    first, [second] = trip((x, [x]))
    assert first is second


@pytest.mark.parametrize("order", [0, 1])
def test_views_share_their_storage(order):
    base = torch.zeros(4)
    pair = (base, base[1:3])
    copies = trip(pair if order == 0 else pair[::-1])
    whole, part = copies if order == 0 else copies[::-1]
    part.fill_(7)
    assert whole.tolist() == [0, 7, 7, 0]


def test_requires_grad_survives_on_a_view():
    copy = trip(BASE.t().detach().requires_grad_())
    assert copy.requires_grad and copy.is_leaf


def test_conjugate_views_are_resolved():
    z = torch.tensor([1 + 2j]).conj()
    assert trip(z).tolist() == [1 - 2j]


def test_constants_travel_by_name():
    tree = (torch.float16, torch.channels_last, torch.strided, torch.Size([1, 2]), slice(0, None), ..., 1.5, "x")
    assert trip(tree) == (torch.float16, torch.channels_last, torch.strided, (1, 2), slice(0, None), ..., 1.5, "x")


@pytest.mark.parametrize("value", [torch.nn.ReLU(), torch.Generator(), BASE.to_sparse(), BASE.to("meta")],
                         ids=["module", "generator", "sparse", "meta"])
def test_what_cannot_travel_says_so(value):
    with pytest.raises(Unmappable):
        trip(value)


def test_a_shape_that_numpy_has_not_is_no_exception_of_the_call():
    """PyTorch expands to extents below zero beside one of zero."""
    case = Case((TensorSpec(0, "float32", (0, 2), (2, 1), 0, 0, False), (-2, 0, 2)), {}, [("float32", b"")])
    seen = Trial(torch, torch.Tensor.expand, case).run()
    assert seen.raised is None and "NumPy refuses" in seen.unmappable


def test_bfloat16_results_compare_as_numbers():
    value = to_value(torch.tensor([1.5, -2.0], dtype=torch.bfloat16), torch)
    assert value.array().tolist() == [1.5, -2.0]


def test_zero_gradient_without_memory_reads_as_zeros():
    x = torch.tensor([1.0, 2.0], dtype=torch.complex64, requires_grad=True)
    grad, = torch.autograd.grad(torch.sgn(x.real).sum(), x, allow_unused=True)
    assert to_value(grad, torch) == Value("complex64", (2,), np.zeros(2, np.complex64).tobytes())


def test_a_shipped_function_calls_the_other_framework():
    class Other:
        @staticmethod
        def relu(x):
            return ("other", x)

    assert ship.build(ship.pack(lambda x: torch.relu(x)), Other)(3) == ("other", 3)


def test_a_shipped_function_reports_the_name_that_is_missing():
    class Other:
        pass

    with pytest.raises(ship.Unresolved, match="relu"):
        ship.build(ship.pack(lambda x: torch.relu(x)), Other)


def test_a_shipped_function_brings_its_closure():
    def helper(x):
        return x + 1

    assert ship.build(ship.pack(lambda x: helper(x) * 2), torch)(1) == 4


def test_parts_of_memory_are_aligned_and_apart():
    memory = _Memory()
    lengths = (0, 1, 64, 0, 100, 1 << 15, 1 << 15, 1 << 20, 8, *[24] * 3000)
    parts = []
    for length in lengths:
        buffer, start = memory.place(length)
        parts.append(buffer[start:start + length])
        parts[-1][...] = len(parts) % 251
    for at, (length, part) in enumerate(zip(lengths, parts), start=1):
        assert len(part) == length and (part == at % 251).all()  # nobody wrote over it
        assert not length or part.__array_interface__["data"][0] % 64 == 0


def test_rendered_code_rebuilds_the_call():
    encoder = Encoder(torch)
    case = Case(encoder.encode((torch.tensor([1.0, 2.0]), 3)), {}, encoder.storages)
    assert eval_last(code("torch.add", case)).tolist() == [4.0, 5.0]


def test_rendered_complex_numbers_may_be_infinite_or_none():
    given = torch.tensor([complex(float("nan"), float("-inf")), complex(1, float("nan")), complex(float("inf"), 2), 3 - 4j], dtype=torch.complex64)
    encoder = Encoder(torch)
    case = Case(encoder.encode((given,)), {}, encoder.storages)
    item = SimpleNamespace(case=case, target=SimpleNamespace(label="torch.clone"))
    scope: dict = {}
    exec(script(item, Failure("clone", "complex64", 0, "value", "made up", "")).replace("print(out)", ""), scope)
    for made in (scope["out"], eval_last(code("torch.clone", case))):
        assert torch.equal(torch.view_as_real(made).nan_to_num(7), torch.view_as_real(given).nan_to_num(7))


@pytest.mark.parametrize("count", [0, 1, 2, 5, 11, 12, 30])
@pytest.mark.parametrize("wrong", ["value", "gradgrad"])
def test_a_script_of_many_tensors_has_at_most_15_lines_and_runs(count, wrong, capsys):
    encoder = Encoder(torch)
    parts = [torch.full((2,), float(i), requires_grad=True) for i in range(count)]
    case = Case(encoder.encode((parts + [torch.ones(2, requires_grad=True)],)), {}, encoder.storages)
    item = SimpleNamespace(case=case, target=SimpleNamespace(label="torch.cat"))
    shown = script(item, Failure("cat", "float32", 0, wrong, "made up", ""))
    assert len(shown.splitlines()) <= 15
    scope: dict = {}
    exec(shown, scope)
    assert torch.equal(scope["out"], torch.cat([*parts, torch.ones(2)])) and capsys.readouterr().out


def eval_last(source):
    *setup, last = source.splitlines()
    scope = {"torch": torch}
    exec("\n".join(setup), scope)
    return eval(last, scope)


def test_a_conjugate_view_is_rebuilt_as_one_and_its_plain_twin_is_not():
    spec = TensorSpec(0, "complex64", (2,), (1,), 0, 0, False, conj=True)
    case = Case((spec,), storages=[("complex64", np.array([1 + 2j, 3 - 1j], np.complex64).tobytes())])
    (lazy,), (copied,) = (Decoder(torch, c.storages).decode(c.args) for c in (case, plain(case)))
    assert lazy.is_conj() and not copied.is_conj() and torch.equal(lazy, copied)
    assert database.decode(database.encode(case)) == case


@pytest.mark.parametrize("stride", [(1,), (2,)])
def test_truths_that_are_bytes_of_another_dtype_are_rebuilt_as_such(stride):
    given = bytes([2, 0, 255]) if stride == (1,) else bytes([2, 7, 0, 0, 255])
    spec = TensorSpec(0, "bool", (3,), stride, 0, 0, False)
    case = Case((spec,), storages=[("bool", given)])
    for made in (Decoder(torch, case.storages).decode(spec), eval(rebuilt(spec, case))):
        assert made.dtype is torch.bool and made.stride() == stride and made.view(torch.uint8).tolist() == [2, 0, 255]
        assert to_value(made, torch).array().tolist() == [True, False, True]
    array = Decoder(torch, case.storages).decode(replace(spec, numpy=True))
    assert array.view(np.uint8).tolist() == [1, 0, 1]  # NumPy's own truths are 0 and 1


@pytest.mark.parametrize("path, unfilled", [("empty_like", True), ("Tensor.new_empty_strided", True), ("Tensor.resize_as_", True),
                                            ("nn.functional.interpolate", False), ("Tensor.clone", False)])
def test_values_of_memory_that_nobody_wrote_mean_nothing(path, unfilled):
    tensor = TensorSpec(0, "float32", (1, 1, 2), (2, 2, 1), 0, 0, False)
    more = {"Tensor.new_empty_strided": ((1, 1, 2), (2, 2, 1)), "Tensor.resize_as_": (tensor,), "nn.functional.interpolate": (4,)}
    case = Case((tensor, *more.get(path, ())), {}, [("float32", bytes(8))])
    assert expectation(Target(f"torch.{path}", [path]), case).random == unfilled
