"""Checks that send nothing: what all the exchanges of the other probes have shown."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evaluations.engine.conformance.findings import (
    OK,
    REFUSED,
    SHAPE_CODES,
    failed,
    not_applicable,
    not_tested,
    passed,
    warned,
)
from evaluations.engine.conformance.report import Finding
from evaluations.engine.errors import CODES, Code
from evaluations.engine.types import Exchange, Failure, Operation

SLOW = 60.0
A_DAY = 86_400.0
_ITEM_FIELDS = {"id", "content", "score", "created_at"}
_ADD_FIELDS = {"success", "request_id", "user_id", "session_id"}


@dataclass(frozen=True, slots=True)
class Observed:
    finding: Finding
    exchanges: tuple[Exchange, ...]


def observe(exchanges: Sequence[Exchange], *, authenticated: bool) -> dict[str, Observed]:
    """The observed checks by name, over ``exchanges`` made with the right key."""
    adds = [exchange for exchange in exchanges if exchange.operation is Operation.ADD]
    searches = [exchange for exchange in exchanges if exchange.operation is Operation.SEARCH]
    shape = SHAPE_CODES | {Code.UNEXPECTED_STATUS}
    return {
        "auth.accepts": _accepts(exchanges, authenticated),
        "add.schema": _codes(adds, shape, "Add", '{"success": true, …} with the three ids'),
        "add.echo": _codes(adds, {Code.ECHO_MISMATCH}, "Add", "the ids as they were sent"),
        "search.schema": _codes(searches, shape, "Search", '{"data": […]} with items of the contract'),
        "latency": _latency(adds, searches),
        "created_at": _created_at(searches),
        "id_types": _id_types(searches),
        "extra_fields": _extra_fields(adds, searches),
    }


def _accepts(exchanges: Sequence[Exchange], authenticated: bool) -> Observed:
    if not authenticated:
        return Observed(not_applicable("The version is registered without a key."), ())
    refused = [exchange for exchange in exchanges if exchange.status in REFUSED]
    if refused:
        failure = refused[0].failure
        reason = failure.sentence if failure else ""
        advice = CODES[Code(failure.code)].advice if failure else ""
        return Observed(
            failed(f"The right key was refused. {reason}".strip(), expected="200", advice=advice),
            tuple(refused),
        )
    taken = [exchange for exchange in exchanges if exchange.status == OK]
    if not taken:
        return Observed(not_tested("No call was answered, with the key or without."), ())
    return Observed(passed("The right key is accepted."), tuple(taken[:1]))


def _codes(exchanges: Sequence[Exchange], codes: Iterable[str], what: str, expected: str) -> Observed:
    answered = [exchange for exchange in exchanges if exchange.status == OK or _code(exchange) in codes]
    if not answered:
        return Observed(not_tested(f"No {what} was answered with 200."), ())
    bad = [exchange for exchange in answered if _code(exchange) in codes]
    if not bad:
        return Observed(passed(f"All {len(answered)} replies to {what} fit."), tuple(answered[:1]))
    failure = bad[0].failure
    assert failure is not None  # noqa: S101 - it has a code
    sentence = f"{len(bad)} of {len(answered)} replies to {what}: {failure.sentence}"
    advice = CODES[Code(failure.code)].advice
    return Observed(failed(sentence, expected=_expected(failure, expected), advice=advice), tuple(bad))


def _code(exchange: Exchange) -> str:
    return exchange.failure.code if exchange.failure else ""


def _expected(failure: Failure, otherwise: str) -> str:
    if failure.pointer and failure.expected:
        return f"{failure.pointer}: {failure.expected}"
    return failure.expected or otherwise


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that ``share`` of ``values`` do not exceed; ``values`` must not be empty."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def latencies(exchanges: Iterable[Exchange]) -> list[float]:
    return [exchange.timing.latency for exchange in exchanges if exchange.timing.latency is not None]


def _latency(adds: Sequence[Exchange], searches: Sequence[Exchange]) -> Observed:
    told, slowest = [], 0.0
    for what, exchanges in (("Add", adds), ("Search", searches)):
        if values := latencies(exchanges):
            figures = [percentile(values, share) for share in (0.50, 0.95, 0.99)]
            slowest = max(slowest, figures[1])
            told.append(f"{what} p50 {figures[0]:.3f} s, p95 {figures[1]:.3f} s, p99 {figures[2]:.3f} s")
    if not told:
        return Observed(not_tested("No call was answered."), ())
    sentence = f"{'; '.join(told)}."
    if slowest > SLOW:
        return Observed(
            warned(
                sentence,
                expected=f"below {SLOW:.0f} s at the 95th percentile",
                advice="A Full makes thousands of calls: at this pace it takes days.",
            ),
            (),
        )
    return Observed(passed(sentence), ())


def _warning(exchanges: Sequence[Exchange], kinds: Sequence[str]) -> tuple[list[Exchange], str]:
    prefixes = tuple(f"{kind}:" for kind in kinds)
    met = [
        (exchange, text) for exchange in exchanges for text in exchange.warnings if text.startswith(prefixes)
    ]
    return [exchange for exchange, _ in met], met[0][1] if met else ""


def _id_types(searches: Sequence[Exchange]) -> Observed:
    bad, sentence = _warning(searches, ("id_types", "duplicate_ids"))
    if bad:
        advice = "Return each item once, with an id that is a string."
        return Observed(warned(sentence, expected="different non-empty strings", advice=advice), tuple(bad))
    return _about_items(
        searches, lambda count: passed(f"All {count} ids are strings, none twice in a reply.")
    )


def _about_items(searches: Sequence[Exchange], finding: Callable[[int], Finding]) -> Observed:
    count = sum(len(exchange.items) for exchange in searches)
    return Observed(finding(count) if count else not_tested("No Search returned an item."), ())


def _created_at(searches: Sequence[Exchange]) -> Observed:
    bad, sentence = _warning(searches, ("created_at",))
    if bad:
        advice = "Use ISO 8601, such as 2026-07-01T12:00:00Z. Other forms are dropped from the prompt."
        return Observed(warned(sentence, expected="an ISO 8601 date or date-time", advice=advice), tuple(bad))
    # Every dated message of the check lies years off the present, so a date of today is that of arrival.
    arrival = [exchange for exchange in searches if any(map(_is_arrival(exchange), exchange.items))]
    if arrival:
        return Observed(
            warned(
                "created_at is the time of arrival, not of the event.",
                expected="the message's timestamp, or no created_at",
                advice="Store the timestamp of each message and return it; questions about time need it.",
            ),
            tuple(arrival),
        )
    dated = sum(item.created_at is not None for exchange in searches for item in exchange.items)
    return _about_items(
        searches, lambda count: passed(f"{dated} of {count} items hold a date, all well-formed.")
    )


def _is_arrival(exchange: Exchange) -> Callable[[Any], bool]:
    def check(item: Any) -> bool:
        moment = _moment(item.created_at)
        return moment is not None and abs(moment - exchange.started_at) < A_DAY

    return check


def _moment(created_at: str | None) -> float | None:
    try:
        moment = dt.datetime.fromisoformat(created_at or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _extra_fields(adds: Sequence[Exchange], searches: Sequence[Exchange]) -> Observed:
    extra = {f"Add: {name}" for exchange in adds for name in set(_object(exchange)) - _ADD_FIELDS}
    for exchange in searches:
        reply = _object(exchange)
        extra |= {f"Search: {name}" for name in set(reply) - {"data"}}
        data = reply.get("data")
        items = [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []
        extra |= {f"item: {name}" for item in items for name in set(item) - _ITEM_FIELDS}
    if not any(exchange.failure is None for exchange in (*adds, *searches)):
        return Observed(not_tested("No call succeeded."), ())
    if not extra:
        return Observed(passed("Replies hold the contract's fields only."), ())
    return Observed(passed(f"Further fields are ignored: {', '.join(sorted(extra)[:12])}."), ())


def _object(exchange: Exchange) -> dict[str, Any]:
    """A good reply's JSON object; empty where the kept body is cut."""
    if exchange.failure is not None:
        return {}
    try:
        reply = json.loads(exchange.response_body)
    except ValueError:
        return {}
    return reply if isinstance(reply, dict) else {}
