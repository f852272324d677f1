"""A badge for a README: how much of PyTorch a framework answers as PyTorch does, as an SVG."""

from xml.sax.saxutils import escape

_COLOURS = ((0.99, "#2c8a4b"), (0.9, "#7a9a2c"), (0.7, "#b8860b"), (0.0, "#b8443a"))
_HEIGHT, _PER_LETTER, _PADDING = 20, 6.6, 12


def text_of(record: dict) -> tuple[str, float]:
    """What the badge of a campaign's record says, and the share of reached operations that are never wrong."""
    totals = record["totals"]
    share = 1 - totals["failing"] / max(totals["reached"], 1)
    return f"{share:.1%} of {totals['reached']} operations", share


def svg(record: dict, label: str = "as PyTorch") -> str:
    """The badge. Raises ValueError for a record that is not of generated calls."""
    if "scores" not in record:
        raise ValueError("a badge needs a record of `weir-autotest run`")
    said, share = text_of(record)
    colour = next(colour for least, colour in _COLOURS if share >= least)
    left, right = (len(part) * _PER_LETTER + _PADDING for part in (label, said))
    def words(x: float, part: str) -> str:
        return f'<text x="{x:.1f}" y="14">{escape(part)}</text>'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="{_HEIGHT}" role="img" '
            f'aria-label="{escape(label)}: {escape(said)}"><title>{escape(label)}: {escape(said)}</title>'
            f'<rect width="{left:.1f}" height="{_HEIGHT}" fill="#444"/><rect x="{left:.1f}" width="{right:.1f}" height="{_HEIGHT}" '
            f'fill="{colour}"/><g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
            f'{words(left / 2, label)}{words(left + right / 2, said)}</g></svg>\n')
