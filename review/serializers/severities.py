"""Severities as badges: icon, word and tone by the site's table of states."""

from __future__ import annotations

from collections import Counter
from typing import Any

from review.models import Case, Finding

#: The state whose icon and tone a severity takes; the word is its own.
BADGES: dict[str, str] = {
    Finding.Severity.OK: "pass",
    Finding.Severity.NOTE: "shown",
    Finding.Severity.WARNING: "warning",
    Finding.Severity.BLOCKER: "fail",
}
GRAVEST_FIRST = tuple(reversed(BADGES))


def finding_lines(case: Case) -> list[dict[str, Any]]:
    """The gravest first, each with badge and word."""
    found = sorted(case.findings.all(), key=lambda one: (GRAVEST_FIRST.index(one.severity), one.pk))
    return [
        {
            "badge": BADGES[one.severity],
            "word": one.get_severity_display(),
            "kind": one.kind,
            "text": one.text,
        }
        for one in found
    ]


def summary(case: Case) -> list[dict[str, Any]]:
    """How many findings of each severity that asks for attention; empty if all hold."""
    met = Counter(str(one.severity) for one in case.findings.all())
    return [
        {"badge": BADGES[severity], "number": met[severity], "word": Finding.Severity(severity).label}
        for severity in GRAVEST_FIRST
        if met[severity] and severity != Finding.Severity.OK
    ]
