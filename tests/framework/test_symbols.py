"""What the linker would not say: two functions of one name and parameters, of which it takes either."""

import subprocess
from collections import defaultdict
from pathlib import Path

import _weir

BUILD = Path(_weir.__file__).parents[1] / "CMakeFiles"


def test_no_inline_function_has_the_name_of_another():
    objects = [str(path) for folder in ("weir.dir", "_weir.dir") for path in (BUILD / folder).rglob("*.o")]
    assert objects
    kinds = defaultdict(set)
    for line in subprocess.run(["nm", "--defined-only", *objects], capture_output=True, text=True, check=True).stdout.splitlines():
        match line.split():
            case [_, "T" | "W" as kind, symbol] if "4weir" in symbol:
                kinds[symbol].add(kind)
    both = [symbol for symbol, found in kinds.items() if len(found) == 2]  # inline here, and not there
    assert not both
