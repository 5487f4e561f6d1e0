"""From a finished run's rows to a case with its findings."""

from review.builder.cases import (
    close_case,
    open_case,
    open_missing_cases,
    refresh_findings,
    write_findings,
)

__all__ = ["close_case", "open_case", "open_missing_cases", "refresh_findings", "write_findings"]
