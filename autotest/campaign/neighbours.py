"""A call that is wrong in two ways: which of them is named first is nobody's contract.

The harness learns of the second from the call's neighbours, each made by the same choices but for one, which is simpler. Where
PyTorch no longer meets what it had named, and refuses the neighbour by the class of the subject's error while the subject
says the very same of both, the subject has named what PyTorch would have come to.
"""

import pickle
import re
from dataclasses import replace

from ..cases.values import Raised
from ..workers.worker import WorkerLost

_REFUSED = re.compile(r"(?:error: )?raised (?P<subject>.*), but torch raises ", re.DOTALL)
_NOBODYS = Raised(("no class of anybody's",), "")


def names_another(lane, row: tuple, item, fault) -> bool:
    """Whether `fault`, of an `item` of this overload and dtype that both sides refuse, is only about what is named first."""
    refused = _REFUSED.match(fault.reason)
    if not refused or not item.choices:
        return False
    said = _words(refused["subject"])
    return any(_says_too(lane, row, item.choices[:at] + (lower,) + item.choices[at + 1:], item, said)
               for at, choice in enumerate(item.choices) for lower in sorted({0, 1, choice // 2, choice - 1}) if 0 <= lower < choice)


def _says_too(lane, row: tuple, choices: tuple, item, said: str) -> bool:
    """Whether of the neighbour that `choices` make the subject says what it `said` of `item`, and PyTorch another thing than of it, of the subject's class."""
    try:
        neighbour, *others = pickle.loads(lane.ask("replay", *row, choices, timeout=5.0))
        now, before = neighbour.expected.raised, item.expected.raised
        if others or now is None or _words(str(now)) == _words(str(before)) or any(not fault.absent for fault in lane.faults_of(neighbour)):
            return False
        alone = replace(neighbour, expected=replace(neighbour.expected, raised=_NOBODYS))  # so that the subject's words are told
        return any((found := _REFUSED.match(fault.reason)) and _words(found["subject"]) == said for fault in lane.faults_of(alone))
    except WorkerLost:
        return False


def _words(message: str) -> str:
    """A message without its numbers, which are those of the call."""
    return "".join(letter for letter in message if not letter.isdigit())
