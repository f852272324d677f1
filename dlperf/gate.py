"""The gate: does a framework compute the reference's training? Losses and gradient norms of the first steps."""

FLOOR = {"fp32": 1e-4, "bf16": 2e-2}
GROWTH = 0.2  # of the floor per step: rounding differences grow as training amplifies them
MARGIN = 4  # times the reference's own spread
RULE = ("For every step k, loss and global gradient norm (dropout 0, same weights and batches) must deviate from "
        f"{{reference}} by at most max({MARGIN} x the largest deviation up to k of {{spread}}, "
        f"{{floor:g}} x (1 + {GROWTH:g} k)), relative to the reference.")
SPREAD = "the same framework summing in another order (channels_last, one thread)"


def rule(reference: str, precision: str) -> str:
    """Returns the rule in words, as records state it."""
    return RULE.format(reference=reference, spread=SPREAD, floor=FLOOR[precision])


def judge(trace: dict, reference: dict, spread: dict, precision: str) -> dict:
    """Returns {verdict, deviation, allowed}: the step that comes closest to, or furthest past, what is allowed.

    Each argument holds equally long lists "loss" and "grad_norm". A value that is not finite (None) fails.
    """
    worst = (0.0, 0.0, FLOOR[precision])
    for name in ("loss", "grad_norm"):
        natural = 0.0
        for k, (value, expected, other) in enumerate(zip(trace[name], reference[name], spread[name])):
            if value is None or expected is None:
                return {"verdict": "fail", "deviation": None, "allowed": None}
            natural = max(natural, deviation(other, expected)) if other is not None else natural
            allowed = max(MARGIN * natural, FLOOR[precision] * (1 + GROWTH * k))
            found = deviation(value, expected)
            worst = max(worst, (found / allowed, found, allowed))
    return {"verdict": "pass" if worst[0] <= 1 else "fail", "deviation": worst[1], "allowed": worst[2]}


def deviation(value: float, expected: float) -> float:
    """Returns the relative deviation; expected values below 1e-6 count as 1e-6."""
    return abs(value - expected) / max(abs(expected), 1e-6)
