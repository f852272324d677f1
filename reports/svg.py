"""Plots as inline SVG.

`forest`: one row per figure, a dot for the estimate, a line for the interval, log scale. `line`: a share over records.
`track`: ratios over records. `sweep`: throughputs over batch sizes.
"""

import math
from html import escape

from .intervals import Interval

ROW = 24  # pixels from row to row
LABEL = 250  # width of the label column
PLOT = 420  # width of the scale
TEXT = 150  # width of the figure column
COLOURS = 7  # of the sweep's lines, in report.css
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def forest(rows: list[tuple[str, Interval, str, str]], title: str, axis: str) -> str:
    """Returns an SVG element. `rows`: (label, ratio interval, link, kind); never empty. Kind is "summary" for a mean, "hollow" for a figure that
    decides nothing, else "".

    The scale is logarithmic and symmetric about 1, so that twice as fast and half as fast look alike.
    """
    span = _span(rows)
    height = ROW * (len(rows) + 2) + 4
    body = [_axis(span, height, axis), *(_row(i, row, span) for i, row in enumerate(rows))]
    return (f'<svg class="forest" role="img" viewBox="0 0 {LABEL + PLOT + TEXT} {height}" '
            f'xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>{"".join(body)}</svg>')


def _span(rows) -> float:
    """Returns the half-width of the scale in ln units, at least a factor 1.25 and at most 100."""
    ends = [abs(math.log(x)) for _, r, _, _ in rows for x in (r.value, r.low, r.high) if x]
    return min(max(max(ends) * 1.08, math.log(1.25)), math.log(100))


def _x(ratio: float, span: float) -> float:
    position = max(-1.0, min(1.0, math.log(ratio) / span))
    return round(LABEL + PLOT * (position + 1) / 2, 1)


def _axis(span: float, height: int, axis: str) -> str:
    parts = []
    shown = [t for t in TICKS if abs(math.log(t)) <= span] if span > math.log(2) else [0.8, 0.9, 1, 1.1, 1.25]
    for tick in shown:
        x, kind = _x(tick, span), "one" if tick == 1 else "tick"
        parts.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="4" y2="{height - ROW - 14}"/>'
                     f'<text class="scale" x="{x}" y="{height - ROW}">{tick:g}×</text>')
    parts.append(f'<text class="scale" x="{LABEL + PLOT / 2}" y="{height - 7}">{escape(axis)}</text>')
    return "".join(parts)


def _row(index: int, row, span: float) -> str:
    label, ratio, link, kind = row
    y = ROW * index + ROW / 2 + 4
    side = "" if ratio.low is None or kind == "hollow" else " better" if ratio.low > 1 else " worse" if ratio.high < 1 else ""
    text = f"{ratio.value:.2f}×" + ("" if ratio.low is None else f" [{ratio.low:.2f}, {ratio.high:.2f}]")
    whisker = "" if ratio.low is None else (
        f'<line class="whisker" x1="{_x(ratio.low, span)}" x2="{_x(ratio.high, span)}" y1="{y}" y2="{y}"/>')
    x = _x(ratio.value, span)
    mark = (f'<path d="M{x - 7} {y}L{x} {y - 6}L{x + 7} {y}L{x} {y + 6}Z"/>' if kind == "summary"
            else f'<circle cx="{x}" cy="{y}" r="3.6"/>')
    return (f'<a href="{escape(link)}" class="row{side}{" " + kind if kind else ""}">'
            f'<rect class="hit" y="{y - ROW / 2}" width="{LABEL + PLOT + TEXT}" height="{ROW}"/>'
            f'<text x="0" y="{y + 4}">{escape(_short(label))}</text>{whisker}{mark}'
            f'<text class="figure" x="{LABEL + PLOT + 10}" y="{y + 4}">{text}</text></a>')


def line(points: list[tuple[str, float, str]], title: str) -> str:
    """Returns an SVG element. `points`: (label, share from 0 to 1, link), oldest first; never empty.

    The scale ends at 1 and begins at a round tenth below the lowest share.
    """
    width, height, left, bottom = LABEL + PLOT, 150, 48, 26
    least = math.floor(min(share for _, share, _ in points) * 10 - 1e-9) / 10
    places = [(round(left + (width - left - 90) * (i / max(len(points) - 1, 1)), 1),
               round(10 + (height - bottom - 20) * (1 - share) / (1 - least), 1)) for i, (_, share, _) in enumerate(points)]
    marks = "".join(f'<a href="{escape(link)}"><title>{escape(label)}: {share:.2%}</title><circle cx="{x}" cy="{y}" r="4"/></a>'
                    for (label, share, link), (x, y) in zip(points, places))
    scale = "".join(f'<text class="scale end" x="{left - 8}" y="{y}">{share:.0%}</text>'
                    for share, y in ((1, 14), (least, height - bottom - 6)))
    first, last = places[0], places[-1]
    names = f'<text x="{first[0]}" y="{height - 4}">{escape(points[0][0])}</text>' if len(points) > 1 else ""
    names += f'<text class="end" x="{last[0] + 80}" y="{height - 4}">{escape(points[-1][0])}</text>'
    path = "M" + "L".join(f"{x} {y}" for x, y in places)
    return (f'<svg class="trend" role="img" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
            f'<title>{escape(title)}</title>{scale}<path d="{path}"/>{marks}'
            f'<text x="{last[0] + 10}" y="{last[1] + 4}">{points[-1][1]:.1%}</text>{names}</svg>')


def track(series) -> str:
    """Returns an SVG element: the ratios of a `history.Series` with their 95% whiskers, a step where it changed."""
    width, height, left, top, bottom = LABEL + PLOT, 130, 56, 12, 24
    ends = [p.value + side * 1.96 * p.error for p in series.points for side in (-1, 1)]
    low, high = min(min(ends), math.log(0.97)), max(max(ends), math.log(1.03))

    def x(i: float) -> float:
        return round(left + (width - left - 20) * (i / max(len(series.points) - 1, 1)), 1)

    def y(value: float) -> float:
        return round(top + (height - top - bottom) * (high - value) / (high - low), 1)

    marks = "".join(
        f'<a href="records/{p.run_id[:12]}.html"><title>{escape(p.started[:10])} {escape(p.revision)}: {math.exp(p.value):.2f}×</title>'
        f'<line class="whisker" x1="{x(i)}" x2="{x(i)}" y1="{y(p.value - 1.96 * p.error)}" y2="{y(p.value + 1.96 * p.error)}"/>'
        f'<circle cx="{x(i)}" cy="{y(p.value)}" r="3.6"/></a>' for i, p in enumerate(series.points))
    steps = "".join(f'<line class="one" x1="{x(c.at - 0.5)}" x2="{x(c.at - 0.5)}" y1="{top}" y2="{height - bottom}"/>' for c in series.changes)
    scale = "".join(f'<text class="scale end" x="{left - 8}" y="{y(v) + 4}">{math.exp(v):.2f}×</text>' for v in (low, high))
    if low < 0 < high:
        scale += f'<line class="tick" x1="{left}" x2="{width - 20}" y1="{y(0)}" y2="{y(0)}"/>'
    names = (f'<text x="{left}" y="{height - 6}">{escape(series.points[0].started[:10])}</text>'
             f'<text class="end" x="{width - 20}" y="{height - 6}">{escape(series.points[-1].started[:10])}</text>')
    return (f'<svg class="trend" role="img" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
            f'<title>{escape(series.name)}</title>{scale}{steps}{marks}{names}</svg>')


def sweep(series: list[tuple[str, list[tuple[int, Interval]], str]], title: str) -> str:
    """Returns an SVG element. `series`: (label, [(batch size, samples per second)], link), none empty.

    Batch sizes stand on a log scale, throughput begins at 0; whiskers end where the plot does. Every line has its label at
    its end, its own colour (Okabe and Ito 2008), mark and dashes, so that none is told by colour alone.
    """
    width, height, left, right, top, bottom = LABEL + PLOT, 280, 60, 150, 14, 40
    sizes = sorted({size for _, points, _ in series for size, _ in points})
    most = 1.08 * max(rate.value for _, points, _ in series for _, rate in points)
    span = math.log(sizes[-1] / sizes[0]) or 1.0

    def x(size: int, i: float = (len(series) - 1) / 2) -> float:  # whiskers of one size stand side by side
        inner = width - left - right - 60
        return round(left + 30 + inner * math.log(size / sizes[0]) / span + 4 * (i - (len(series) - 1) / 2), 1)

    def y(rate: float) -> float:
        return round(height - bottom - (height - top - bottom) * min(max(rate / most, 0.0), 1.0), 1)

    axes = "".join(f'<text class="scale" x="{x(size)}" y="{height - bottom + 16}">{size}</text>' for size in sizes)
    axes += f'<text class="scale" x="{(left + width - right) / 2}" y="{height - 6}">samples per step</text>'
    for rate in (0.0, most / 2.16, most / 1.08):
        axes += (f'<line class="tick" x1="{left}" x2="{width - right}" y1="{y(rate)}" y2="{y(rate)}"/>'
                 f'<text class="scale end" x="{left - 8}" y="{y(rate) + 4}">{_rate(rate)}</text>')
    places = _apart([y(points[-1][1].value) + 4 for _, points, _ in series], 15)
    drawn = ""
    for i, ((label, points, link), place) in enumerate(zip(series, places)):
        path = "M" + "L".join(f"{x(size, i)} {y(rate.value)}" for size, rate in points)
        whiskers = "".join(f'<line x1="{x(size, i)}" x2="{x(size, i)}" y1="{y(rate.low)}" y2="{y(rate.high)}"/>'
                           for size, rate in points if rate.low is not None)
        marks = "".join(_mark(i, x(size, i), y(rate.value)) for size, rate in points)
        said = ", ".join(f"{size}: {_rate(rate.value)}" for size, rate in points)
        drawn += (f'<a href="{escape(link)}" class="c{i % COLOURS}"><title>{escape(label)}, samples/s at batch {said}</title>'
                  f'<path class="line" d="{path}"/>{whiskers}{marks}'
                  f'<text x="{width - right + 10}" y="{place}">{escape(_short(label, 20))}</text></a>')
    return (f'<svg class="trend sweep" role="img" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">'
            f'<title>{escape(title)}</title>{axes}{drawn}</svg>')


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 or not rate else f"{rate:.3g}"


def _mark(index: int, x: float, y: float) -> str:
    shapes = (f"M{x - 4} {y - 4}h8v8h-8Z", f"M{x - 5} {y}L{x} {y - 5}L{x + 5} {y}L{x} {y + 5}Z",
              f"M{x - 5} {y + 4}L{x} {y - 5}L{x + 5} {y + 4}Z", f"M{x - 5} {y - 4}L{x} {y + 5}L{x + 5} {y - 4}Z")
    return f'<circle cx="{x}" cy="{y}" r="4"/>' if index % 5 == 0 else f'<path d="{shapes[index % 5 - 1]}"/>'


def _apart(wanted: list[float], gap: float) -> list[float]:
    """Returns heights near the wanted ones, in their order, no two closer than `gap`, none above `gap`."""
    found, order = list(wanted), sorted(range(len(wanted)), key=lambda i: wanted[i])
    for lower, upper in zip(order[:0:-1], order[-2::-1]):
        found[upper] = min(found[upper], found[lower] - gap)
    above = 0.0
    for i in order:
        above = found[i] = max(found[i], above + gap)
    return [round(height, 1) for height in found]


def _short(label: str, limit: int = 38) -> str:
    return label if len(label) <= limit else label[: limit - 1] + "…"
