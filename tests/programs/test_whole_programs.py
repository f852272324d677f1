"""Programs written for PyTorch print the same curves under `python -m weir` and under PyTorch, each in a process of its own."""

import json
from pathlib import Path

import pytest
from weir_dlperf.side_by_side import TOLERANCES, difference, find, run

HERE = Path(__file__).resolve().parent
PROGRAMS = {program.path.stem: program for program in find([HERE])}


def test_every_program_has_a_tolerance():
    # What differs is the order of sums in products, which training amplifies; bfloat16 keeps three digits.
    assert set(PROGRAMS) == set(json.loads((HERE / TOLERANCES).read_text()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_curve_as_pytorch(name):
    ours, theirs = (run(PROGRAMS[name].path, side, 1, timeout=120) for side in ("subject", "peer"))
    assert not ours.failed and not theirs.failed, (ours.failed, theirs.failed)
    assert ours.printed.splitlines()[:-1] == theirs.printed.splitlines()[:-1], "the curve stands in the last line"
    assert difference(ours.printed, theirs.printed, PROGRAMS[name]) is None
