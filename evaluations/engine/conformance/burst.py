"""Two hundred calls at the declared concurrency, with the contract's retries and flow control."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from evaluations.engine import flow
from evaluations.engine.conformance.findings import Call, Findings, failed, passed, warned
from evaluations.engine.conformance.probe import Probe, said
from evaluations.engine.conformance.report import Finding
from evaluations.engine.retry import CallHistory, Stop, decide
from evaluations.engine.types import AddRequest, Exchange, Operation, SearchRequest

POLL = 0.25
SAMPLED = 20
SERVER_ERROR = 500


class Throttle:
    """How many calls are in flight, by the same reducer that a run uses."""

    def __init__(self, probe: Probe) -> None:
        scope, self._probe = probe.scope, probe
        self._clock = probe.lab.clock
        self.state = flow.start(
            add=scope.concurrency_add,
            search=scope.concurrency_search,
            limits=scope.limits,
            now=self._clock.monotonic(),
        )
        self._in_flight = 0
        self._changed = asyncio.Event()

    async def attempt(self, operation: Operation, send: Callable[[], Awaitable[Exchange]]) -> Exchange:
        """One attempt, once there is room for it."""
        while not self._room(operation):
            await self._change()
        self._in_flight += 1
        began = self._clock.monotonic()
        try:
            exchange = self._probe.record(await send())
        finally:
            self._in_flight -= 1
        self._note(operation, exchange, began)
        self._changed.set()
        self._changed = asyncio.Event()
        return exchange

    async def _change(self) -> None:
        """Until a call has ended; now and then anyway, because an open breaker waits for the clock alone."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), POLL)

    def _room(self, operation: Operation) -> bool:
        now = self._clock.monotonic()
        return flow.allowance(self.state, operation=operation, in_flight=self._in_flight, now=now) > 0

    def _note(self, operation: Operation, exchange: Exchange, began: float) -> None:
        failure = exchange.failure
        self.state = flow.on_result(
            self.state,
            operation=operation,
            # A 200 with a bad body is the schema checks' business; here the service has coped.
            ok=failure is None or exchange.status == 200,
            retryable=failure is not None and failure.retryable,
            began_at=began,
            now=self._clock.monotonic(),
            limits=self._probe.scope.limits,
        )


@dataclass(slots=True)
class _Burst:
    probe: Probe
    throttle: Throttle
    deadline: float

    async def call(self, operation: Operation, send: Callable[[], Awaitable[Exchange]]) -> Call:
        """One logical call until it succeeds, is refused for good, or the burst's time is up."""
        history, clock = CallHistory(), self.probe.lab.clock
        exchanges: list[Exchange] = []
        while True:
            exchange = await self.throttle.attempt(operation, send)
            exchanges.append(exchange)
            if exchange.failure is None:
                return Call(tuple(exchanges))
            decision = decide(
                history=history,
                failure=exchange.failure,
                operation=operation,
                now=clock.now(),
                run_successes=self.throttle.state.successes,
                limits=self.probe.scope.limits,
                jitter=self.probe.lab.random.random(),
            )
            history = decision.history
            if isinstance(decision, Stop) or clock.monotonic() + decision.seconds > self.deadline:
                return Call(tuple(exchanges))
            await clock.sleep(decision.seconds)

    async def add(self, number: int) -> Call:
        label = f"user {number}"
        text = f"In the year of the flood I was a guest at the inn called {self.probe.canary(label)}."
        request = AddRequest(
            self.probe.request(label), self.probe.user(label), self.probe.session(label), said(text)
        )
        return await self.call(Operation.ADD, lambda: self.probe.lab.service.add(request))

    async def search(self, number: int) -> Call:
        request = SearchRequest(
            "guest at the inn in the year of the flood", self.probe.user(f"user {number}")
        )
        return await self.call(Operation.SEARCH, lambda: self.probe.lab.service.search(request))


async def burst(probe: Probe) -> Findings:
    """Half Adds, each of its own user, then a Search for each; the calls of one half run at once."""
    budget = probe.scope.budget
    run = _Burst(probe, Throttle(probe), probe.lab.clock.monotonic() + budget.burst)
    users = range(max(1, budget.burst_calls // 2))
    adds = await asyncio.gather(*(run.add(number) for number in users))
    searches = await asyncio.gather(*(run.search(number) for number in users))
    calls = [*adds, *searches]
    return {"burst": _judge(probe, calls, searches)}


def _judge(probe: Probe, calls: list[Call], searches: list[Call]) -> Finding:
    retries = Counter(
        str(exchange.failure.code) for call in calls for exchange in call.exchanges if exchange.failure
    )
    lost = next((call for call in calls if not call.landed), None)
    told = ", ".join(f"{code} {count} times" for code, count in retries.most_common())
    if lost is not None:
        count = sum(not call.landed for call in calls)
        what = f"{count} of {len(calls)} calls never succeeded ({told}); the first"
        return probe.failed(lost, what, expected="every call succeeds in the end at the declared concurrency")
    if (errors := _server_errors(calls)) > len(calls):
        return failed(
            f"{len(calls)} calls met {errors} answers of 5xx before all had succeeded.",
            expected="fewer 5xx than calls",
            advice="Declare a lower concurrency for this version, or give the service more workers.",
        )
    if any(exchange.failure and exchange.failure.retryable for call in calls for exchange in call.exchanges):
        return warned(
            f"All {len(calls)} calls succeeded in the end; on the way: {told}.",
            expected="no failure at the declared concurrency",
            advice="Declare a lower concurrency for this version, or raise the service's limits.",
        )
    return _doubles(searches) or passed(_as_planned(probe, len(calls)))


def _as_planned(probe: Probe, calls: int) -> str:
    scope = probe.scope
    return (
        f"All {calls} calls succeeded at once, with up to {scope.concurrency_add} Adds"
        f" and {scope.concurrency_search} Searches in flight."
    )


def _server_errors(calls: list[Call]) -> int:
    return sum((exchange.status or 0) >= SERVER_ERROR for call in calls for exchange in call.exchanges)


def _doubles(searches: list[Call]) -> Finding | None:
    doubled = 0
    for call in searches[:: max(1, len(searches) // SAMPLED)][:SAMPLED]:
        contents = [item.content for item in call.items if isinstance(item.content, str)]
        doubled += len(set(contents)) < len(contents)
    if not doubled:
        return None
    return warned(
        f"{doubled} of {min(SAMPLED, len(searches))} users have the same memory twice after the burst.",
        expected="an Add that was retried is stored once",
        advice="Make request_id unique in the store, so that parallel deliveries meet each other.",
    )
