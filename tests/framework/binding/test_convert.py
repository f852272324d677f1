"""Numbers of tensors as Python's."""
import pytest
import torch
import weir

TENSORS = {
    "halves": lambda t: t.tensor([[1.5, -0.0], [float("inf"), 3e-5]], dtype=t.bfloat16),
    "integers": lambda t: t.arange(6, dtype=t.int16).reshape(2, 3).t(),
    "unsigned": lambda t: t.tensor([2**64 - 1, 0], dtype=t.uint64),
    "truth": lambda t: t.tensor([[True], [False]])[:, 0],
    "conjugate": lambda t: t.tensor([1 + 2j, -3j]).conj(),
    "negative": lambda t: t.tensor([1 + 2j, -3j]).conj().imag,
    "float8": lambda t: t.tensor([1.0, 0.3]).to(t.float8_e4m3fn),
    "number": lambda t: t.tensor(2.5),
    "nothing": lambda t: t.empty(2, 0, 3),
    "expanded": lambda t: t.tensor([[1], [2]]).expand(2, 3),
    "recorded": lambda t: t.ones(2, requires_grad=True) * 2,
}


@pytest.mark.parametrize("name", TENSORS)
def test_lists_are_those_of_pytorch(name):
    ours, theirs = (TENSORS[name](t).tolist() for t in (weir, torch))
    assert repr(ours) == repr(theirs)


def test_a_tensor_without_data_has_no_numbers():
    for t in (weir, torch):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
            t.empty(3, device="meta").tolist()


def test_bytes_seen_as_truth_are_true_or_false():
    assert weir.tensor([128, 0, 1, 255], dtype=weir.uint8).view(weir.bool).tolist() == [True, False, True, True]
