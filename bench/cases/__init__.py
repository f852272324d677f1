"""The case list, one module per family. A case's figure of bytes or flops is the least that any kernel must do."""

from . import algebra, arrays, derivatives, dtypes, everyday, layers, layouts, overhead, phrases, plans, sequences, short, startup, training

GROUPS = ("overhead", "pointwise", "reduce", "norm", "matmul", "conv", "index", "everyday", "phrases", "short", "layouts", "dtypes", "linalg", "fft", "recurrent", "attention", "func", "graph", "optimizer",
          "startup")
#: Not picked but derived, from PyTorch's op database; `all` leaves them out, since each takes longer than the others together.
DERIVED = ("opdb", "opdb-layouts", "opdb-dtypes")


def all_cases(threads: int = 1) -> list[dict]:
    """Returns every case, in the order of `GROUPS`, for the given number of threads."""
    found = [*overhead.CASES, *arrays.CASES, *everyday.CASES, *phrases.CASES, *short.CASES, *layouts.CASES, *dtypes.CASES, *layers.CASES, *algebra.CASES, *sequences.CASES, *derivatives.CASES, *plans.CASES, *training.CASES, *startup.CASES]
    return [{**case, "threads": threads} for case in sorted(found, key=lambda c: GROUPS.index(c["group"]))]


def select(group: str = "all", substring: str = "", threads: int = 1) -> list[dict]:
    """Returns the cases of `group` whose display name contains `substring`. Raises ValueError for no such group."""
    from ..case import display_name

    if group not in ("all", *DERIVED, *GROUPS):
        raise ValueError(f"unknown group {group!r}; expected all, {', '.join(DERIVED)} or one of {', '.join(GROUPS)}")
    if group in DERIVED:
        from .. import opdb, varied
        listed = [{**case, "threads": threads} for case in (opdb if group == "opdb" else varied).cases()]
    else:
        listed = all_cases(threads)
    return [c for c in listed
            if group in ("all", c["group"]) and substring.lower() in display_name(c).lower()]
