"""A gate's outcome as JUnit XML, for the test views of CI systems."""

from pathlib import Path
from xml.etree import ElementTree

from .cell import GOOD, PHASES
from .gate import Verdict, states


def write(path: Path, record: dict, verdict: Verdict) -> None:
    """One test case per op and phase: fallen cells fail, other cells that do not pass are skipped."""
    fell = {(change.op, change.phase): change for change in verdict.fell}
    cases = {(op, phase): state for op, row in states(record).items() for phase, state in zip(PHASES, row)}
    cases |= {key: change.after for key, change in fell.items()}
    skipped = sum(state not in GOOD for state in cases.values()) - len(fell)
    suite = ElementTree.Element("testsuite", name=f"conformance.{record['dtype']}", tests=str(len(cases)),
                                failures=str(len(fell)), skipped=str(skipped), errors="0")
    for (op, phase), state in cases.items():
        case = ElementTree.SubElement(suite, "testcase", classname=f"conformance.{record['dtype']}.{op}", name=phase)
        change = fell.get((op, phase))
        if change:
            ElementTree.SubElement(case, "failure", message=str(change)).text = _printable(change.reason)
        elif state not in GOOD:
            ElementTree.SubElement(case, "skipped", message=state)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def _printable(text: str) -> str:
    """XML 1.0 forbids most control characters, and error messages contain anything."""
    return "".join(c for c in text if c >= " " or c in "\t\n")
