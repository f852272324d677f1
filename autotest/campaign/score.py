"""What a campaign found out about one overload in one dtype."""

from collections import Counter
from dataclasses import dataclass, field

from ..check.excuses import Excuse
from ..check.properties import PROPERTIES

#: Beside the properties: how many cases, of those asked to run otherwise than in eager mode, the subject does not answer in that either.
UNANSWERED = {"graph": "unanswered as a graph", "vmap": "unanswered in a batch", "forward": "unanswered in forward mode"}
#: From bad to good; the state of a cell is the worst of its cases.
STATES = ("FAIL", "LENIENT", "UNSUPPORTED", "ORACLE-LIMIT", "UNTESTED", "EXCUSED", "PASS")


@dataclass(frozen=True)
class Failure:
    """A case that failed: which, how, and the call as text."""

    overload: str
    dtype: str
    index: int
    property: str
    reason: str
    call: str
    choices: tuple = ()
    lenient: bool = False


@dataclass
class Score:
    """One overload in one dtype: how often each property was asked, and what broke."""

    overload: str
    path: str
    dtype: str
    made: int = 0
    valid: int = 0
    cases: int = 0
    asked: Counter = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    failed: Counter = field(default_factory=Counter)
    lenient: Counter = field(default_factory=Counter)
    excused: Counter = field(default_factory=Counter)  # values accepted without being compared, by property and kind
    excuses: list = field(default_factory=list)  # the first of each, with its call
    unsupported: str = ""
    lacking: dict = field(default_factory=dict)  # why, by property that the subject does not claim to have
    absent: Counter = field(default_factory=Counter)  # of the cases asked of a property, those the subject does not claim to answer
    oracle_limit: str = ""
    known: bool = False  # what fails here has failed before: no fresh process is asked

    KEEP = 4  # failures kept per property

    def states(self) -> dict:
        """The state of every property."""
        return {name: self._state(name) for name in PROPERTIES}

    def _state(self, name: str) -> str:
        if self.failed[name]:
            return "FAIL"
        if name == "crash":
            return "PASS" if self.cases else "UNTESTED"
        if self.absent[name] and self.absent[name] >= self.asked[name]:
            return "UNSUPPORTED"
        if self.lenient[name]:
            return "LENIENT"
        if self.oracle_limit and not self.valid:
            return "ORACLE-LIMIT"
        if not self.asked[name]:
            return "UNTESTED"
        return "EXCUSED" if any(of == name for of, _ in self.excused) else "PASS"

    def lacks(self, name: str, reason: str, asked: list) -> None:
        """Counts a case that the subject does not claim to answer: one property of it, with all others that were `asked`."""
        if name == "unsupported":
            self.unsupported = self.unsupported or reason
        else:
            self.lacking.setdefault(name, reason)
        self.absent.update({name, *asked, *(UNANSWERED[way] for way in asked if way in UNANSWERED)})

    def excuse(self, excuse: Excuse, call: str) -> None:
        """Counts an excuse; the first of each property and kind is kept with its call."""
        self.excused[excuse.property, excuse.kind] += 1
        if self.excused[excuse.property, excuse.kind] == 1:
            self.excuses.append((excuse, call))

    def add(self, failure: Failure) -> None:
        """Counts a failure; the first few of each property are kept."""
        counter = self.lenient if failure.lenient else self.failed
        counter[failure.property] += 1
        if counter[failure.property] <= self.KEEP:
            self.failures.append(failure)
