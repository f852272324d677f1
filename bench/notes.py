"""Release notes of speed: what became faster and slower from A to B, with intervals, in words and as a table."""

from collections import defaultdict

from weir_reports.bench_figures import CaseFigures
from weir_reports.intervals import Interval, geometric_mean

from .compare import Comparison

OPTIMISED = 1.10  # the whole interval of an op is above this


def notes(found: Comparison) -> str:
    """The release note in Markdown. Only cases that both sides ran and that were measured conclusively count."""
    measured = [f for f in found.figures if f.ratio is not None and f.verdict != "inconclusive"]
    by_op, by_group = defaultdict(list), defaultdict(list)
    for figures in measured:
        by_op[figures.case["op"]].append(figures)
        by_group[figures.case["group"]].append(figures)
    slower = {change.figures.case["op"] for change in found.slower}
    means = {op: _mean(cases) for op, cases in by_op.items()}
    optimised = sorted((op for op, mean in means.items() if mean.low is not None and mean.low >= OPTIMISED and op not in slower),
                       key=lambda op: -means[op].value)
    lines = [f"## Speed from {found.a.label} to {found.b.label}", ""]
    lines += [f"Of {len(by_op)} ops ({len(measured)} cases, {found.screen['plan']['threads']} thread) {len(optimised)} are optimised and "
              f"{len(slower)} have regressed. A ratio is the time of {found.a.label} over that of {found.b.label}, with its 95% interval."]
    if optimised:
        lines += ["", "**Optimised**", ""] + [_line(op, means[op], by_op[op]) for op in optimised]
    if found.slower:
        lines += ["", "**Regressed**", ""] + [f"- `{c.figures.name}`: {_show(c.figures.ratio)}" for c in found.slower]
    lines += ["", "| group | cases | geometric mean | least | most |", "|---|---|---|---|---|"]
    for group, cases in by_group.items():
        ratios = [f.ratio.value for f in cases]
        lines.append(f"| {group} | {len(cases)} | {_show(_mean(cases))} | {min(ratios):.2f} | {max(ratios):.2f} |")
    missing = [f for f in found.figures if f.state != "OK"]
    if missing:
        lines += ["", "Not compared: " + ", ".join(f"`{f.name}` ({f.state})" for f in missing) + "."]
    return "\n".join(lines) + "\n"


def _mean(cases: list[CaseFigures]) -> Interval:
    return geometric_mean([f.logs for f in cases], seed=len(cases)).exp()


def _line(op: str, mean: Interval, cases: list[CaseFigures]) -> str:
    least = f", least {min(f.ratio.value for f in cases):.2f}" if len(cases) > 1 else ""
    return f"- `{op}`: {_show(mean)} ({len(cases)} case{'s' * (len(cases) > 1)}{least})"


def _show(ratio: Interval) -> str:
    return f"{ratio.value:.2f}x" + ("" if ratio.low is None else f" [{ratio.low:.2f}, {ratio.high:.2f}]")
