"""The statistics of a session, re-exported from where the report computes them, so that both print one number."""

from weir_reports.bench_figures import CaseFigures, GroupFigures, case_figures, group_figures, verdict_of
from weir_reports.intervals import Interval, geometric_mean, two_level

__all__ = ["CaseFigures", "GroupFigures", "Interval", "case_figures", "geometric_mean", "group_figures", "two_level",
           "verdict_of"]
