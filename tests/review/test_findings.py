"""Findings are functions of stored evidence, tested by table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from review import findings
from review.findings import (
    Calls,
    Counts,
    Eligibility,
    Evidence,
    Figures,
    Latencies,
    Replies,
    Severity,
    findings_of,
)

FIGURES = Figures(overall=0.6, low=0.5, high=0.7, capabilities=[{"capability": "recall", "asks": 100}])
OPEN_SOURCE = dict.fromkeys(findings.OPEN_SOURCE_MATERIALS, "there")
COMMERCIAL = dict.fromkeys(findings.COMMERCIAL_MATERIALS, "there")
GOOD = Evidence(
    counts=Counts(planned=100, asked=100, scored=100, unscored=0, zero_by_failure=0, open_units=0),
    zeros_succeeded_up_to=0.005,
    zeros_partial_up_to=0.2,
    calls=Calls(total=1000, failed=0, repeated=0),
    replies=Replies(searches=100, empty=0, answers=90, declined=0),
    latencies=Latencies(n=100, p50=0.1, p95=0.2, early=0.1, late=0.1),
    eligibility=Eligibility(
        division="open-source", materials=OPEN_SOURCE, statements_missing=(), check_passed=True,
        smoke_passed=True, endpoint_changed=False,
    ),
    stored=FIGURES,
    recomputed=FIGURES,
)  # fmt: skip


def severities(evidence: Evidence) -> dict[str, str]:
    """Kinds that ask for attention."""
    return {one.kind: str(one.severity) for one in findings_of(evidence) if one.severity is not Severity.OK}


def changed(part: str, **fields: Any) -> Evidence:
    return replace(GOOD, **{part: replace(getattr(GOOD, part), **fields)})


def test_a_clean_run_holds_in_every_respect() -> None:
    assert severities(GOOD) == {}
    assert len(findings_of(GOOD)) == len(findings.LOOKS)


@pytest.mark.parametrize(
    ("part", "fields", "expected"),
    [
        ("counts", {"asked": 99, "scored": 99}, {"counts": "blocker"}),
        ("counts", {"planned": 101}, {"counts": "blocker"}),
        ("counts", {"scored": 99}, {"counts": "blocker"}),
        ("counts", {"scored": 98, "unscored": 2}, {"counts": "blocker"}),
        ("counts", {"open_units": 1}, {"counts": "blocker"}),
        ("counts", {"scored": 99, "zero_by_failure": 1}, {"zeros_by_failure": "warning"}),
        ("counts", {"scored": 80, "zero_by_failure": 20}, {"zeros_by_failure": "warning"}),
        ("counts", {"scored": 79, "zero_by_failure": 21}, {"zeros_by_failure": "blocker"}),
        ("calls", {"failed": 9}, {}),
        ("calls", {"failed": 10}, {"error_rate": "note"}),
        ("calls", {"failed": 100}, {"error_rate": "warning"}),
        ("calls", {"repeated": 1}, {"repeated_calls": "note"}),
        ("replies", {"empty": 29}, {}),
        ("replies", {"empty": 30}, {"empty_searches": "warning"}),
        ("replies", {"declined": 53}, {}),
        ("replies", {"declined": 54}, {"abstentions": "warning"}),
        ("latencies", {"late": 0.299}, {}),
        ("latencies", {"late": 0.31}, {"latency": "warning"}),
        ("latencies", {"early": 0.31}, {"latency": "warning"}),
        ("latencies", {"p95": 2.0}, {"latency": "note"}),
        ("latencies", {"n": 19, "late": 9.0}, {}),
        ("eligibility", {"statements_missing": ("rules",)}, {"statements": "blocker"}),
        ("eligibility", {"check_passed": False}, {"check_before": "blocker"}),
        ("eligibility", {"smoke_passed": False}, {"smoke_before": "blocker"}),
        ("eligibility", {"endpoint_changed": True}, {"endpoint": "blocker"}),
        ("eligibility", {"division": "commercial"}, {"materials": "blocker"}),
        ("eligibility", {"division": "commercial", "materials": COMMERCIAL}, {}),
        ("recomputed", {"overall": 0.600001}, {"recomputed": "blocker"}),
        ("recomputed", {"high": 0.71}, {"recomputed": "blocker"}),
        ("recomputed", {"capabilities": [{"capability": "recall", "asks": 99}]}, {"recomputed": "blocker"}),
    ],
)
def test_each_deviation_is_found_and_nothing_else(
    part: str, fields: dict[str, Any], expected: dict[str, str]
) -> None:
    assert severities(changed(part, **fields)) == expected


@pytest.mark.parametrize("field", findings.OPEN_SOURCE_MATERIALS)
def test_each_material_of_an_open_source_method_is_required(field: str) -> None:
    evidence = changed("eligibility", materials={**OPEN_SOURCE, field: "  "})
    assert findings.materials(evidence).severity is Severity.BLOCKER
    assert field in findings.materials(evidence).text()


def test_a_run_without_a_score_can_not_be_published() -> None:
    nothing = Figures(overall=None, low=None, high=None, capabilities=[])
    assert severities(replace(GOOD, stored=nothing, recomputed=nothing)) == {"recomputed": "blocker"}


def test_nothing_called_and_nothing_asked_divides_by_nothing() -> None:
    empty = replace(
        GOOD,
        counts=Counts(planned=0, asked=0, scored=0, unscored=0, zero_by_failure=0, open_units=0),
        calls=Calls(total=0, failed=0, repeated=0),
        replies=Replies(searches=0, empty=0, answers=0, declined=0),
        latencies=Latencies(n=0),
    )
    assert severities(empty) == {}


def test_the_gravest_finding_comes_first() -> None:
    evidence = replace(
        GOOD, calls=Calls(total=10, failed=1, repeated=1), recomputed=replace(FIGURES, low=0.4)
    )
    order = [one.severity for one in findings_of(evidence)][:3]
    assert order == [Severity.BLOCKER, Severity.WARNING, Severity.NOTE]


def test_every_sentence_is_filled_by_its_data() -> None:
    assert all("%(" not in one.text() and one.text().endswith(".") for one in findings_of(GOOD))
