"""The source of every decision a generator makes, as a sequence that can be stored, replayed and shrunk.

Zero is always the simplest option, and a sequence that ends early goes on with zeros, so that deleting or lowering
choices gives simpler cases. Hypothesis works the same way; it is not used here because a PR run makes tens of
thousands of cases and it draws under a thousand a second.
"""

from _random import Random  # as random.Random, without the Python around its seeding
from itertools import accumulate


class Choices:
    """Draws from a seed, or replays `replay` first; `made` is what has been chosen so far."""

    def __init__(self, seed: int | None = None, replay: tuple = ()):
        self._draw = Random(seed).random if seed is not None else lambda: 0.0
        self._replay = replay
        self.made: list[int] = []

    def below(self, count: int) -> int:
        """An integer in [0, count). Raises ValueError if there is none."""
        if count <= 0:
            raise ValueError(f"nothing to choose from: {count} options")
        at = len(self.made)
        chosen = min(self._replay[at], count - 1) if at < len(self._replay) else int(self._draw() * count)
        self.made.append(chosen)
        return chosen

    def chance(self, probability: float) -> bool:
        """True with `probability`; False is the simpler answer."""
        return self.rare(probability) == 1

    def rare(self, *probabilities: float) -> int:
        """The number, from 1 on, of what happens, each thing with its probability; 0, the simplest answer, if nothing does.

        One draw, and the same for the first things whatever follows them: a new rare thing leaves the calls alone that it does not happen to.
        """
        at = len(self.made)
        if at < len(self._replay):
            chosen = min(self._replay[at], len(probabilities))
        else:
            drawn = self._draw()
            chosen = next((number for number, reached in enumerate(accumulate(probabilities), 1) if drawn > 1.0 - reached), 0)
        self.made.append(chosen)
        return chosen

    def pick(self, options):
        """One of a sequence, the simplest first."""
        return options[self.below(len(options))]

    def between(self, low: int, high: int) -> int:
        """An integer in [low, high]; `low` is the simplest."""
        return low + self.below(high - low + 1)
