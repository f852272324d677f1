"""Sequences of unequal length: padded, or packed step by step for recurrent nets."""

from collections import namedtuple

import weir
from weir import Tensor

PackedSequence_ = namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(PackedSequence_):
    """The steps of all sequences, step by step, the longest sequence first.

    data: (sum of lengths, *); batch_sizes: (T) int64 on the CPU, how many sequences reach each step; sorted_indices: where each
    row's sequence stood in the batch, unsorted_indices: its inverse, or None.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError("batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They "
                             "should be instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn.")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data, move):
        indices = (None if t is None else move(t) for t in (self.sorted_indices, self.unsorted_indices))
        return type(self)(data, self.batch_sizes, *indices)

    def to(self, *args, **kwargs):
        """The data in another dtype or on another device; itself when nothing changes."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._with(data, lambda t: t.to(data.device))

    def cpu(self, *args, **kwargs):
        """On the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args, **kwargs):
        """On the GPU."""
        return self.to(*args, device="cuda", **kwargs)

    def pin_memory(self):
        """In page-locked memory."""
        return self._with(self.data.pin_memory(), lambda t: t.pin_memory())

    def is_pinned(self):
        """Whether the data lies in page-locked memory."""
        return self.data.is_pinned()

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda


def _cast(name, dtype):
    def cast(self):
        return self.to(dtype=dtype)
    cast.__name__, cast.__doc__ = name, f"The data as {dtype}."
    return cast


for _name, _dtype in dict(double="float64", float="float32", half="float16", long="int64", int="int32", short="int16", char="int8",
                          byte="uint8").items():
    setattr(PackedSequence, _name, _cast(_name, getattr(weir, _dtype)))


def invert_permutation(permutation):
    """The inverse of a permutation, or None of None."""
    if permutation is None:
        return None
    return weir.empty_like(permutation).scatter_(0, permutation, weir.arange(permutation.numel(), device=permutation.device))


def pack_padded_sequence(input, lengths, batch_first: bool = False, enforce_sorted: bool = True):
    """A PackedSequence of padded sequences (T, B, *), or (B, T, *) with batch_first.

    lengths: B of them, falling where `enforce_sorted`. RuntimeError for lengths that are not, are no positive numbers or exceed T.
    """
    lengths = weir.as_tensor(lengths, dtype=weir.int64).cpu() if not isinstance(lengths, Tensor) else lengths.to(weir.int64)
    if lengths.device.type != "cpu":
        raise RuntimeError(f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D {lengths.device} Long tensor")
    order, batch_dim = None, 0 if batch_first else 1
    if not enforce_sorted:
        lengths, order = weir.sort(lengths, descending=True)
        input = input.index_select(batch_dim, order)
    return PackedSequence(*_pack(input.transpose(0, 1) if batch_first else input, lengths), order, None)


def _pack(input, lengths):
    counts = lengths.tolist() if lengths.dim() == 1 else [lengths.tolist()]
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(counts) != input.size(1):
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={input.size(1)})")
    if counts[-1] <= 0 or min(counts) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(counts, counts[1:])):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
                           "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
                           "do not need ONNX exportability.")
    if counts[0] > input.size(0):
        raise RuntimeError(f"Expected lengths of at most {input.size(0)} (the padded length), but got {counts[0]}")
    sizes = [sum(n > t for n in counts) for t in range(counts[0])]
    return weir.cat([input[t, :n] for t, n in enumerate(sizes)]), weir.tensor(sizes, dtype=weir.int64)


def pad_packed_sequence(sequence, batch_first: bool = False, padding_value: float = 0.0, total_length=None):
    """(padded sequences, lengths) of a PackedSequence: (T, B, *), or (B, T, *) with batch_first; T is total_length or the longest."""
    sizes = sequence.batch_sizes.tolist()
    if not sizes:
        raise RuntimeError("batch_sizes can not be empty")
    if total_length is not None and total_length < len(sizes):
        raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but got "
                         f"total_length={total_length} and max sequence length being {len(sizes)}")
    most, data = sizes[0], sequence.data
    rows = []
    for part in data.split(sizes):
        filler = weir.full((most - part.shape[0], *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
        rows.append(weir.cat([part, filler]) if filler.shape[0] else part)
    empty = weir.full((most, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    rows += [empty] * ((total_length or len(sizes)) - len(sizes))
    padded = weir.stack(rows, 1 if batch_first else 0)
    lengths = weir.tensor([sum(n > i for n in sizes) for i in range(most)], dtype=weir.int64)
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, back), lengths[back.cpu()]


def pad_sequence(sequences, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"):
    """(T, B, *) of sequences (L_i, *), T being the longest; batch_first gives (B, T, *)."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}")
    if not hasattr(sequences, "__iter__"):
        raise RuntimeError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("pad_sequence: received an empty list of sequences")
    longest = max(s.shape[0] for s in sequences)
    padded = []
    for s in sequences:
        filler = weir.full((longest - s.shape[0], *s.shape[1:]), padding_value, dtype=s.dtype, device=s.device)
        padded.append(weir.cat([s, filler] if padding_side == "right" else [filler, s]))
    return weir.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first: bool = False):
    """The sequences of pad_sequence with their lengths restored."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:int(length)] for row, length in zip(batch, lengths)]


def pack_sequence(sequences, enforce_sorted: bool = True):
    """A PackedSequence of sequences (L_i, *), falling in length where `enforce_sorted`."""
    lengths = weir.tensor([v.size(0) for v in sequences], dtype=weir.int64)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a PackedSequence in their first order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
