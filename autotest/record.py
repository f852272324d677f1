"""The record of a run: a plain dict, the one truth that reports and the gate read."""

from dataclasses import asdict

from weir_reports.hashing import digest

from .campaign.run import Campaign, campaign_totals
from .opdb.cell import PHASES, totals
from .opdb.run import Result

SCHEMA = "weir.conformance/v1"
CAMPAIGN_SCHEMA = "weir.campaign/v1"


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


def campaign_record(campaign: Campaign) -> dict:
    """The record of a campaign: settings, totals, the states of every overload, and the failures kept."""
    content = {
        "schema": CAMPAIGN_SCHEMA,
        "started": campaign.started,
        "subject": {"name": campaign.settings.subject, "version": campaign.subject_version},
        "oracle": {"name": "torch", "version": campaign.oracle_version},
        "settings": asdict(campaign.settings),
        "seconds": campaign.seconds,
        "totals": campaign_totals(campaign),
        "scores": [{"overload": score.overload, "path": score.path, "dtype": score.dtype, "states": score.states(),
                    "made": score.made, "valid": score.valid, "unsupported": score.unsupported,
                    "oracle_limit": score.oracle_limit, "failures": [asdict(failure) for failure in score.failures]}
                   for score in campaign.scores],
    }
    return {**content, "run_id": digest(content)}
