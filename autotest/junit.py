"""A gate's outcome as JUnit XML, for the test views of CI systems."""

from pathlib import Path
from xml.etree import ElementTree

from .gate import GOOD, RANK, Table, Verdict


def write(path: Path, table: Table, verdict: Verdict) -> None:
    """One test case per cell: fallen cells fail, other cells that do not pass are skipped."""
    fell = {(change.op, change.phase): change for change in verdict.fell}
    cases = {(op, column): state for op, row in table.rows.items() for column, state in zip(table.columns, row)}
    cases |= {key: change.after for key, change in fell.items()}
    skipped = sum(RANK[state] < GOOD for state in cases.values()) - len(fell)
    suite = ElementTree.Element("testsuite", name=f"conformance.{table.group}", tests=str(len(cases)),
                                failures=str(len(fell)), skipped=str(skipped), errors="0")
    for (op, phase), state in cases.items():
        case = ElementTree.SubElement(suite, "testcase", classname=f"conformance.{table.group}.{op}", name=phase)
        change = fell.get((op, phase))
        if change:
            ElementTree.SubElement(case, "failure", message=str(change)).text = _printable(change.reason)
        elif RANK[state] < GOOD:
            ElementTree.SubElement(case, "skipped", message=state)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def _printable(text: str) -> str:
    """XML 1.0 forbids most control characters, and error messages contain anything."""
    return "".join(c for c in text if c >= " " or c in "\t\n")
