from __future__ import annotations

import base64
import json
from dataclasses import replace
from urllib.parse import quote

import pytest

from evaluations.engine.conformance.catalog import FIRST, LAST, MIDDLE, SEVERITIES
from evaluations.engine.conformance.observed import observe, percentile
from evaluations.engine.conformance.report import CheckResult, Outcome, Report, Severity
from evaluations.engine.types import AuthScheme, Endpoint, Exchange, MemoryItem, Operation, Secret, Timing

KEY = "sesame-open-81"
ENDPOINT = Endpoint("http://a/add", "http://a/search", AuthScheme.BEARER, Secret(KEY))
SEARCH = Exchange(
    Operation.SEARCH, "POST", "http://a/search", 1_700_000_000.0, Timing(latency=0.5), (), b"{}", status=200
)


def result(outcome: Outcome, severity: Severity = Severity.GATE, name: str = "text") -> CheckResult:
    return CheckResult(name, severity, outcome, "sentence", "", "", (), ())


def report(*results: CheckResult, complete: bool = True) -> Report:
    return Report(ENDPOINT, "textual", 0.0, 1.0, complete, results)


def test_a_failed_gate_stops_a_full() -> None:
    assert not report(result(Outcome.FAIL)).gates_passed


def test_a_warning_never_does() -> None:
    assert report(result(Outcome.WARNING), result(Outcome.FAIL, Severity.WARNING)).gates_passed


def test_an_incomplete_check_passes_nothing() -> None:
    assert not report(result(Outcome.PASS), complete=False).gates_passed


def test_counts_name_every_outcome() -> None:
    counts = report(result(Outcome.PASS), result(Outcome.PASS), result(Outcome.FAIL)).counts
    assert (counts[Outcome.PASS], counts[Outcome.FAIL], counts[Outcome.NOT_TESTED]) == (2, 1, 0)


def shown(exchange: Exchange) -> str:
    return json.dumps(report(replace(result(Outcome.FAIL), exchanges=(exchange,))).to_json())


def test_the_key_is_nowhere_in_the_json() -> None:
    exchange = replace(
        SEARCH,
        request_headers=(("Authorization", f"Bearer {KEY}"),),
        response_body=f"your key {KEY} is wrong".encode(),
    )
    failed = replace(result(Outcome.FAIL), exchanges=(exchange,), sentence=f"It said {KEY}.")
    assert KEY not in json.dumps(report(failed).to_json())


@pytest.mark.parametrize(
    "encoded", [base64.b64encode(KEY.encode()).decode(), KEY.encode().hex(), quote(f"{KEY}", safe="")]
)
def test_an_encoded_key_is_masked_too(encoded: str) -> None:
    assert encoded not in shown(replace(SEARCH, response_body=f"<p>{encoded}</p>".encode()))


def test_a_key_across_the_cut_is_masked() -> None:
    body = b"x" * 2_040 + KEY.encode() + b"y" * 100
    assert KEY[:8] not in shown(replace(SEARCH, response_body=body))


def test_every_name_has_one_probe_or_is_observed() -> None:
    probed = [name for spec in (*FIRST, *MIDDLE, *LAST) for name in spec.names]
    seen = [*probed, *observe([], authenticated=True)]
    assert sorted(seen) == sorted(SEVERITIES)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 50), (0.95, 95), (0.99, 99), (1.0, 100)])
def test_percentiles_are_values_that_were_met(share: float, expected: int) -> None:
    assert percentile([float(n) for n in range(100, 0, -1)], share) == expected


def test_the_percentile_of_one_value_is_that_value() -> None:
    assert percentile([3.0], 0.5) == percentile([3.0], 0.99) == 3.0


def test_slow_is_a_warning_and_not_a_failure() -> None:
    slow = replace(SEARCH, timing=Timing(latency=70.0))
    assert observe([slow], authenticated=False)["latency"].finding.outcome is Outcome.WARNING


def test_a_date_of_arrival_is_a_warning() -> None:
    item = MemoryItem("1", "x", None, "2023-11-14T22:13:20Z")  # the second of the exchange
    seen = observe([replace(SEARCH, items=(item,))], authenticated=False)
    assert seen["created_at"].finding.outcome is Outcome.WARNING


def test_further_fields_are_shown_and_allowed() -> None:
    body = b'{"data": [{"id": "1", "content": "x", "metadata": {}}], "took": 3}'
    finding = observe([replace(SEARCH, response_body=body)], authenticated=False)["extra_fields"].finding
    assert finding.outcome is Outcome.PASS
    assert "Search: took" in finding.sentence
    assert "item: metadata" in finding.sentence
