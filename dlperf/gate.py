"""The gate: does a framework compute the reference's training? Losses and gradient norms of the first steps."""

from itertools import accumulate

FLOOR = {"fp32": 1e-4, "bf16": 2e-2}
GROWTH = 0.2  # of the floor per step: rounding differences grow as training amplifies them
MARGIN = 4  # times the reference's own spread
LIMIT = 0.25  # past a quarter of the value deviations no longer grow as they began, and tell nothing apart
GRACE = 1  # steps: where training amplifies rounding tenfold a step, one run may be a step ahead of the others
ROUNDING = {"fp32": 2.0**-24, "bf16": 2.0**-9}  # the largest relative error of rounding once
NUDGES = 2  # reruns from moved weights: one rerun may stay close by luck, as with batch norm over four values
RULE = ("For every step k, loss and global gradient norm (dropout 0, same weights and batches) must deviate from "
        f"{{reference}} by at most max({MARGIN} x the largest deviation up to k + {GRACE} of {{spread}}, "
        f"{{floor:g}} x (1 + {GROWTH:g} k)), relative to the reference. Where that passes {LIMIT:g}, the reference no longer "
        "agrees with itself, and judging ends.")
SPREAD = (f"{1 + NUDGES} reruns of the reference (summing in another order: channels_last and one thread; "
          f"every weight moved by a rounding error, {NUDGES} times)")
NAMES = {"loss": "loss", "grad_norm": "gradient norm"}


def rule(reference: str, precision: str) -> str:
    """Returns the rule in words, as records state it."""
    return RULE.format(reference=reference, spread=SPREAD, floor=FLOOR[precision])


def judge(trace: dict, reference: dict, spreads: list[dict], precision: str) -> dict:
    """Returns {verdict, deviation, allowed, step, judged, reason}.

    `deviation` and `allowed` are those of the step that comes closest to, or furthest past, what is allowed; `step` is the
    first that fails, None if all pass; `judged` counts the steps by trace. Each argument holds equally long lists
    "loss" and "grad_norm". A value that is not finite (None) fails; where the reference has none, nothing can be judged.
    """
    steps, judged = [], {}
    for name in NAMES:
        limits = allowances(name, reference, spreads, precision)
        judged[name] = len(limits)
        steps += [_step(k, name, trace[name][k], reference[name][k], *limit) for k, limit in enumerate(limits)]
    steps.sort(key=lambda s: s["step"])
    failed = [s for s in steps if not s["passes"]]
    # From the second step on a loss tells of the gradients too.
    if not failed and judged["loss"] < min(2, len(reference["loss"])):
        return {"verdict": "not-run", "deviation": None, "allowed": None, "step": None, "judged": judged,
                "reason": "the reference parts from itself before its second step"}
    closest = max(steps, key=lambda s: s["share"])
    return {"verdict": "fail" if failed else "pass", "deviation": closest["deviation"], "allowed": closest["allowed"],
            "step": failed[0]["step"] if failed else None, "judged": judged,
            "reason": _failure(failed[0], closest) if failed else _ended(judged, len(reference["loss"]))}


def allowances(name: str, reference: dict, spreads: list[dict], precision: str) -> list[tuple[float, float]]:
    """Returns (allowed, the reference's own spread up to the step after it) of every step up to the first that cannot be judged."""
    natural = [max((deviation(s[name][k], expected) for s in spreads), default=0.0) if expected is not None else float("inf")
               for k, expected in enumerate(reference[name])]
    found = []
    largest = list(accumulate(natural, max))
    for k, spread in enumerate(largest[GRACE:] + largest[-1:] * GRACE):
        allowed = max(MARGIN * spread, FLOOR[precision] * (1 + GROWTH * k))
        if allowed > LIMIT:
            break
        found.append((allowed, spread))
    return found


def deviation(value: float | None, expected: float) -> float:
    """Returns the relative deviation; expected values below 1e-6 count as 1e-6. No value is infinitely far."""
    return float("inf") if value is None else abs(value - expected) / max(abs(expected), 1e-6)


def _step(k: int, name: str, value, expected, allowed: float, spread: float) -> dict:
    found = deviation(value, expected)
    return {"step": k, "name": name, "value": value, "expected": expected, "allowed": allowed, "spread": spread,
            "deviation": None if value is None else found, "share": found / allowed, "passes": found <= allowed}


def _failure(first: dict, worst: dict) -> str:
    """Says which step failed first, what it had and what was allowed and why, and where it was worst."""
    where = f"step {first['step']}, {NAMES[first['name']]}: "
    if first["value"] is None:
        return where + f"not finite, the reference has {first['expected']:.6g}"
    why = (f"{MARGIN} x {first['spread']:.1e}, by which the reference parts from itself up to the next step"
           if first["allowed"] == MARGIN * first["spread"] else "the floor: the reference parts from itself by less")
    text = (f"{where}{first['value']:.6g}, the reference has {first['expected']:.6g}: {first['deviation']:.1e} apart, "
            f"{first['allowed']:.1e} allowed ({why})")
    if worst is first:
        return text
    apart = "not finite" if worst["value"] is None else f"{worst['deviation']:.1e} apart, {worst['allowed']:.1e} allowed"
    return f"{text}; worst at step {worst['step']}, {NAMES[worst['name']]}: {apart}"


def _ended(judged: dict, steps: int) -> str | None:
    short = [f"{NAMES[name]} for {count}" for name, count in judged.items() if count < steps]
    return f"judged {' and '.join(short)} of {steps} steps, then the reference parts from itself" if short else None
