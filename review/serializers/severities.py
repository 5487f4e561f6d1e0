"""Severities as badges: icon, word and tone by the site's table of states."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

from review.models import Case, Finding

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

#: The state whose icon and tone a severity takes; the word is its own, short enough for a badge.
BADGES: dict[str, str] = {
    Finding.Severity.OK: "pass",
    Finding.Severity.NOTE: "shown",
    Finding.Severity.WARNING: "warning",
    Finding.Severity.BLOCKER: "fail",
}
WORDS: dict[str, StrOrPromise] = {
    Finding.Severity.OK: _("holds"),
    Finding.Severity.NOTE: _("note"),
    Finding.Severity.WARNING: _("warning"),
    Finding.Severity.BLOCKER: _("blocker"),
}
GRAVEST_FIRST = tuple(reversed(BADGES))


def finding_lines(case: Case) -> list[dict[str, Any]]:
    """The gravest first, each with badge and word."""
    found = sorted(case.findings.all(), key=lambda one: (GRAVEST_FIRST.index(one.severity), one.pk))
    return [
        {
            "badge": BADGES[one.severity],
            "word": WORDS[one.severity],
            "kind": one.kind,
            "text": one.text,
        }
        for one in found
    ]


def summary(case: Case) -> list[dict[str, Any]]:
    """How many findings of each severity that asks for attention; empty if all hold."""
    met = Counter(str(one.severity) for one in case.findings.all())
    return [
        {"badge": BADGES[severity], "number": met[severity], "word": WORDS[severity]}
        for severity in GRAVEST_FIRST
        if met[severity] and severity != Finding.Severity.OK
    ]
