"""Padding of sequences of unequal length."""

import weir


def pad_sequence(sequences, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"):
    """(T, B, *) of sequences (L_i, *), T being the longest; batch_first gives (B, T, *)."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}")
    sequences = list(sequences)
    longest = max(s.shape[0] for s in sequences)
    padded = []
    for s in sequences:
        filler = weir.full((longest - s.shape[0], *s.shape[1:]), padding_value, dtype=s.dtype)
        padded.append(weir.cat([s, filler] if padding_side == "right" else [filler, s]))
    return weir.stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first: bool = False):
    """The sequences of pad_sequence with their lengths restored."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:int(length)] for row, length in zip(batch, lengths)]
