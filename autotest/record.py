"""The record of a run: a plain dict, the one truth that reports and the gate read."""

from weir_reports.hashing import digest

from .cell import PHASES, totals
from .run import Result

SCHEMA = "weir.conformance/v1"


def record(result: Result) -> dict:
    """The record of a finished run, named by the hash of its content as every record is."""
    settings = result.settings
    content = {
        "schema": SCHEMA,
        "started": result.started,
        "subject": {"name": settings.subject, "version": result.subject_version},
        "oracle": {"name": "torch", "version": result.oracle_version},
        "dtype": settings.dtype,
        "totals": totals(result.cells),
        "cells": [{"op": cell.op, "variant": cell.variant,
                   **{phase: cell.states[phase] for phase in PHASES}, "reason": cell.reason}
                  for cell in result.cells],
    }
    return {**content, "run_id": digest(content)}
