"""Whether two frameworks gave the same answer, before either is timed."""

from pathlib import Path

import numpy as np

# Relative to the largest magnitude of the expected output, so that cancellation near zero is not an error.
TOLERANCE = {"float64": 1e-10, "float32": 2e-5, "bfloat16": 2e-2, "float16": 2e-3, "float": 2e-5, "complex64": 2e-5,
             "complex128": 1e-10}
# Whose answers are free in part: the signs of eigenvectors, what is left of a factorisation that failed.
FREE = frozenset({"linalg.eigh", "linalg.cholesky_ex"})
# Two ways to round an ill-conditioned call miss its truth by as much, give or take this factor.
AS_GOOD = 2


def difference(expected: dict, actual: dict, expected_file: Path, actual_file: Path, values: bool = True
               ) -> str | None:
    """Returns what differs (number of outputs, dtype, shape, values beyond tolerance), or None if nothing does.

    `expected` and `actual` are the answers to `check`; the files hold the arrays. Without `values`, the contents
    are not compared.
    """
    a, b = expected["outputs"], actual["outputs"]
    if len(a) != len(b):
        return f"expected {len(a)} outputs, got {len(b)}"
    for i, (want, got) in enumerate(zip(a, b)):
        for field in ("dtype", "shape"):
            if want[field] != got[field]:
                return f"output {i}: expected {field} {want[field]}, got {got[field]}"
    if not values:
        return None
    with np.load(expected_file) as want, np.load(actual_file) as got:
        for i, spec in enumerate(a):
            if (error := value_error(want[f"arr_{i}"], got[f"arr_{i}"], spec["dtype"])) is not None:
                return f"output {i}: {error}"
    return None


def near_truth(outputs: list[dict], expected_file: Path, actual_file: Path, truth_file: Path) -> bool:
    """Whether the actual answers miss the truth by no more than is allowed, or than `AS_GOOD` times as far as the expected ones do.

    The truth is what the same call gives in double precision. `outputs` are the specs of the answers, of one shape in all files.
    Places where the expected answers are not finite and the truth is have no say: there it is they that are wrong.
    """
    with np.load(expected_file) as want, np.load(actual_file) as got, np.load(truth_file) as truth:
        if len(truth.files) != len(outputs):
            return False
        return all(_as_good(want[f"arr_{i}"], got[f"arr_{i}"], truth[f"arr_{i}"], spec["dtype"]) for i, spec in enumerate(outputs))


def _as_good(want: np.ndarray, got: np.ndarray, truth: np.ndarray, dtype: str) -> bool:
    if dtype not in TOLERANCE:
        return np.array_equal(want, got)
    want, got, truth = map(_parts, (want, got, truth))
    counts = np.isfinite(want) | ~np.isfinite(truth)
    with np.errstate(over="ignore"):
        want, got, truth = want[counts].astype(np.float64), got[counts].astype(np.float64), truth[counts].astype(want.dtype).astype(np.float64)
    finite = np.isfinite(truth)
    # Of what is infinite on the way, the order of factors says whether it ends as an infinity or as NaN.
    if np.isfinite(got[~finite]).any() or not np.isfinite(got[finite]).all():
        return False
    if not finite.any():
        return True
    missed, missed_by_peer = (_missed(truth[finite], x[finite]) for x in (got, want))
    return missed <= max(TOLERANCE[dtype], AS_GOOD * missed_by_peer)


def _parts(x: np.ndarray) -> np.ndarray:
    return np.stack([x.real, x.imag]) if np.iscomplexobj(x) else x


def _missed(want: np.ndarray, got: np.ndarray) -> float:
    """How far `got` lies from `want` at most, by the largest magnitude there; both finite and not empty."""
    return float(np.abs(want - got).max() / (np.abs(want).max() or 1.0))


def value_error(want: np.ndarray, got: np.ndarray, dtype: str) -> str | None:
    """Returns how `got` misses `want`, or None. Integers and booleans must be equal, NaNs in the same places."""
    if dtype not in TOLERANCE:
        return None if np.array_equal(want, got) else f"{int((want != got).sum())} of {want.size} values differ"
    want, got = _parts(want), _parts(got)
    if not np.array_equal(np.isnan(want), np.isnan(got)):
        return "NaN in different places"
    finite = np.isfinite(want)
    if not np.array_equal(want[~finite], got[~finite], equal_nan=True):
        return "infinities differ"
    if not finite.any():
        return None
    worst = _missed(want[finite].astype(np.float64), got[finite].astype(np.float64))
    allowed = TOLERANCE[dtype]
    return None if worst <= allowed else f"error {worst:.1e} of the largest value, allowed {allowed:.0e}"
