"""The conformance checks of the memory contract: by name, with the exchanges that show each result."""

from evaluations.engine.conformance.probe import Budget
from evaluations.engine.conformance.report import CheckResult, Outcome, Report, Severity
from evaluations.engine.conformance.run import CheckSettings, Progress, run_checks

__all__ = [
    "Budget",
    "CheckResult",
    "CheckSettings",
    "Outcome",
    "Progress",
    "Report",
    "Severity",
    "run_checks",
]
