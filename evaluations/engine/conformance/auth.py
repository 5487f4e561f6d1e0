"""Whether the key is asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable

from evaluations.engine.conformance.findings import (
    OK,
    REFUSED,
    Findings,
    failed,
    not_tested,
    passed,
)
from evaluations.engine.conformance.probe import Probe, said
from evaluations.engine.conformance.report import Finding
from evaluations.engine.types import AddRequest, AuthScheme, Endpoint, Exchange, SearchRequest, Secret

WRONG_KEY = Secret("aml-check-this-key-is-wrong")


async def auth_refuses(probe: Probe) -> Findings:
    endpoint = probe.scope.endpoint
    cases = {
        "a wrong key": dataclasses.replace(endpoint, key=WRONG_KEY),
        "a missing key": dataclasses.replace(endpoint, auth=AuthScheme.NONE, key=None),
    }
    for what, changed in cases.items():
        for exchange in await _both(probe, changed, what):
            if exchange.status in REFUSED:
                continue
            return {"auth.refuses": _not_refused(exchange, what)}
    return {"auth.refuses": passed("A wrong and a missing key are refused by Add and by Search.")}


def _not_refused(exchange: Exchange, what: str) -> Finding:
    call = f"{exchange.operation} with {what}".capitalize()
    if exchange.status is None:
        reason = exchange.failure.sentence if exchange.failure else ""
        return not_tested(f"{call} got no answer: {reason}")
    return failed(
        f"{call} was answered {exchange.status}.",
        expected="401 or 403",
        advice="Check the credential before anything else, on every URL."
        if exchange.status == OK
        else "Answer exactly 401 (or 403) when the credential is missing or wrong.",
    )


async def _both(probe: Probe, endpoint: Endpoint, label: str) -> list[Exchange]:
    """One Add and one Search with another credential; tried again only after a 5xx or a lost connection."""
    service = probe.lab.connect(endpoint)
    user = probe.user(label)
    add = AddRequest(probe.request(label), user, probe.session(label), said("I like green tea."))
    search = SearchRequest("green tea", user)
    try:
        exchanges = [
            await _answered(probe, lambda: service.add(add)),
            await _answered(probe, lambda: service.search(search)),
        ]
    finally:
        await service.aclose()
    return [probe.record(exchange, right_key=False) for exchange in exchanges]


async def _answered(probe: Probe, send: Callable[[], Awaitable[Exchange]]) -> Exchange:
    exchange = await send()
    for _ in range(2):
        if exchange.failure is None or not exchange.failure.retryable:
            break
        await probe.lab.clock.sleep(1)
        exchange = await send()
    return exchange
