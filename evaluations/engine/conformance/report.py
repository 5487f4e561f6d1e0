"""What a conformance check says: one result a name, and the report over all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aml.lib.redact import MASK, Redactor
from aml.lib.text import safe_text
from evaluations.engine.contract import CONTRACT_ID
from evaluations.engine.exchange_json import exchange_json
from evaluations.engine.types import AuthScheme, Endpoint, Exchange

FORMAT = "aml-conformance/1"
SHOWN_BYTES = 2_048  # of each body in the JSON


class Severity(StrEnum):
    GATE = "gate"  # failing it stops a Full
    WARNING = "warning"
    SHOWN = "shown"


class Outcome(StrEnum):
    PASS = "pass"  # noqa: S105 - an outcome, no password
    WARNING = "warning"
    FAIL = "fail"
    NOT_APPLICABLE = "not_applicable"
    NOT_TESTED = "not_tested"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe found, before it has a name and its exchanges."""

    outcome: Outcome
    sentence: str
    expected: str = ""
    advice: str = ""
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``exchanges`` are a few that show it, failed ones first; ``codes`` are the error codes met."""

    name: str
    severity: Severity
    outcome: Outcome
    sentence: str
    expected: str
    advice: str
    exchanges: tuple[Exchange, ...]
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """``complete`` is False when time ran out or the check itself broke: then nothing has been passed."""

    endpoint: Endpoint
    track: str
    started_at: float
    seconds: float
    complete: bool
    results: tuple[CheckResult, ...]

    @property
    def gates_passed(self) -> bool:
        return self.complete and not self.failed_gates

    @property
    def failed_gates(self) -> tuple[str, ...]:
        return tuple(
            result.name
            for result in self.results
            if result.severity is Severity.GATE and result.outcome is Outcome.FAIL
        )

    @property
    def counts(self) -> dict[Outcome, int]:
        met = Counter(result.outcome for result in self.results)
        return {outcome: met[outcome] for outcome in Outcome}

    def result(self, name: str) -> CheckResult:
        """Raises ``KeyError`` for a name that wasn't checked."""
        for result in self.results:
            if result.name == name:
                return result
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; the key occurs in no result of it, encoded or not."""
        redactor = Redactor(secrets=[self.endpoint.key.reveal] if self.endpoint.key else [])
        return {
            "format": FORMAT,
            "contract": CONTRACT_ID,
            "track": self.track,
            "endpoint": _endpoint_json(self.endpoint),
            "started_at": self.started_at,
            "seconds": round(self.seconds, 3),
            "complete": self.complete,
            "gates_passed": self.gates_passed,
            "counts": {str(outcome): count for outcome, count in self.counts.items()},
            "checks": [_result_json(result, redactor) for result in self.results],
        }


def _endpoint_json(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "add_url": endpoint.add_url,
        "search_url": endpoint.search_url,
        "health_url": endpoint.health_url,
        "status_url": endpoint.status_url,
        "auth": str(endpoint.auth),
        "key": None if endpoint.auth is AuthScheme.NONE else MASK,
    }


def _result_json(result: CheckResult, redactor: Redactor) -> dict[str, Any]:
    return {
        "name": result.name,
        "severity": str(result.severity),
        "outcome": str(result.outcome),
        "sentence": safe_text(redactor.clean(result.sentence)),
        "expected": result.expected,
        "advice": result.advice,
        "codes": list(result.codes),
        "exchanges": [
            exchange_json(exchange, redactor=redactor, limit=SHOWN_BYTES) for exchange in result.exchanges
        ],
    }
