"""What of a tensor's surface no schema tells: made, sent and compared as any other call."""

import numpy as np
import pytest
import torch

from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings
from weir_autotest.cases import database
from weir_autotest.cases.case import Case, Decoder, Made, Named, TensorSpec
from weir_autotest.generate import surface
from weir_autotest.generate.author import Author
from weir_autotest.workers.trial import Trial


@pytest.fixture(scope="module")
def author():
    return Author()


def test_attributes_are_found_and_not_listed():
    names = {overload.name for overload in surface.overloads()}
    assert {"Tensor.T.__get__", "Tensor.real.__get__", "Tensor.is_leaf.__get__", "tensor", "Tensor.__getitem__"} <= names


@pytest.mark.parametrize("name, valid", [("tensor", 15), ("asarray", 15), ("Tensor.__getitem__", 20), ("Tensor.__setitem__", 12), ("Tensor.__radd__", 8)])
def test_many_calls_are_valid_and_survive_a_file(author, name, valid):
    batch = author.batch(name, "float32", list(range(40)))
    assert batch.valid >= valid and len(batch.items) >= batch.valid
    for item in batch.items:
        assert repr(database.decode(database.encode(item.case))) == repr(item.case)


def test_an_array_stays_one():
    spec = TensorSpec(0, "float64", (2,), (2,), 1, 0, False, numpy=True)
    array = Decoder(torch, [("float64", np.arange(4.0).tobytes())]).decode(spec)
    assert isinstance(array, np.ndarray) and array.tolist() == [1.0, 3.0]


def test_types_functions_and_modules_are_arguments():
    decoder = Decoder(torch, [])
    assert decoder.decode(Named("type", "float")) is float
    assert decoder.decode(Named("function", "nn.functional.relu")) is torch.nn.functional.relu
    assert repr(decoder.decode(Made("nn.Linear", (2, 3), {"bias": False}))) == "Linear(in_features=2, out_features=3, bias=False)"


def test_what_lies_beside_an_out_is_seen():
    out = TensorSpec(1, "float32", (2,), (2,), 1, 1, False)
    case = Case((TensorSpec(0, "float32", (2,), (1,), 0, 0, False),), {"out": out},
                [("float32", np.float32([1, 2]).tobytes()), ("float32", np.float32([7, 7, 7, 7, 7]).tobytes())], relation="out")
    assert Trial(torch, torch.neg, case).run().written[-2].array().tolist() == [7, -1, 7, -2, 7]


def test_pytorch_agrees_with_itself():
    finished = run(Settings("torch", ("float32", "complex64"), ("tensor", "Tensor.__getitem__", "Tensor.__setitem__", "nn.Sequential"), cases=30))
    assert [failure for score in finished.scores for failure in score.failures] == []
