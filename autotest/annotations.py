"""A gate's outcome as GitHub annotations: one error per fallen cell, at the cell's line of the baseline.

Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from pathlib import Path

from .gate import Change, Verdict

_MOST = 10  # GitHub shows ten errors per step


def lines(verdict: Verdict, baseline: Path) -> list[str]:
    """Workflow commands for the first fallen cells, and one that counts the rest."""
    text = baseline.read_text().splitlines() if baseline.exists() else []
    shown = [_error(change, baseline, _line_of(change.op, text)) for change in verdict.fell[:_MOST]]
    rest = len(verdict.fell) - len(shown)
    return shown + ([f"::error title=conformance::and {rest} more cells fell"] if rest else [])


def _error(change: Change, baseline: Path, line: int) -> str:
    message = "\n".join([str(change), change.reason]).strip()
    return f"::error file={_escape(str(baseline), ':,')},line={line},title={_escape(change.op, ':,')} fell::{_escape(message)}"


def _line_of(row: str, text: list[str]) -> int:
    return next((number for number, line in enumerate(text, 1) if line.lstrip().startswith(f'"{row}":')), 1)


def _escape(text: str, also: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" + also else c for c in text)
