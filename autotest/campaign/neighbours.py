"""A call that is wrong in two ways: which of them is named first is nobody's contract.

The harness learns of the second from the call's neighbours, each made by the same choices but for one, which is simpler. Where
PyTorch no longer meets what it had named, and refuses the neighbour by the class of the subject's error while the subject
says the very same of both, the subject has named what PyTorch would have come to.
"""

import pickle
from dataclasses import replace

from ..cases.values import Raised
from ..check.properties import are_alike
from ..workers.worker import WorkerLost

_NOBODYS = Raised(("no class of anybody's",), "")


def names_another(lane, row: tuple, item, fault) -> bool:
    """Whether `fault`, of an `item` of this overload and dtype that both sides refuse, is only about what is named first."""
    if fault.raised is None or not item.choices:
        return False
    said = _words(fault.raised)
    return any(_says_too(lane, row, item.choices[:at] + (lower,) + item.choices[at + 1:], item, said)
               for at, choice in enumerate(item.choices) for lower in sorted({0, 1, choice // 2, choice - 1}) if 0 <= lower < choice)


def _says_too(lane, row: tuple, choices: tuple, item, said: str) -> bool:
    """Whether of the neighbour that `choices` make the subject says what it `said` of `item`, and PyTorch another thing than of it, of the subject's class."""
    try:
        neighbour, *others = pickle.loads(lane.ask("replay", *row, choices, timeout=5.0))
        now, before = neighbour.expected.raised, item.expected.raised
        if others or now is None or _words(now) == _words(before):
            return False
        alone = replace(neighbour, expected=replace(neighbour.expected, raised=_NOBODYS))  # so that the subject's error is told
        return any(fault.raised and _words(fault.raised) == said and are_alike(now, fault.raised) for fault in lane.faults_of(alone))
    except WorkerLost:
        return False


def _words(error: Raised) -> str:
    """What it says without the numbers, which are those of the call."""
    return "".join(letter for letter in str(error) if not letter.isdigit())
