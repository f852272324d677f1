"""How long a measurement may take: it plans for less, rather than be cut off."""

import time
from typing import Annotated, Optional

import typer

TimeLimitOption = Annotated[Optional[float], typer.Option(
    "--time-limit", min=1, help="Seconds. What would not end in them is not begun; the record says what was left out, and that is no failure.")]


class TimeLimit:
    """A limit that begins when it is made; without seconds there is none."""

    def __init__(self, seconds: float | None = None):
        self._end = None if seconds is None else time.monotonic() + seconds

    def __bool__(self) -> bool:
        return self._end is not None

    def allows(self, seconds: float = 0.0) -> bool:
        """Whether something that takes so long, begun now, would end in time."""
        return self._end is None or time.monotonic() + seconds < self._end
