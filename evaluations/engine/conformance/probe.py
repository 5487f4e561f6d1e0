"""What the probes work with: fresh ids and canaries, and calls with the contract's retries, bounded."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from aml.lib.clock import Clock
from aml.lib.ids import opaque_id
from evaluations.engine.conformance.findings import Call, from_failure
from evaluations.engine.conformance.report import Finding
from evaluations.engine.contract import Limits
from evaluations.engine.errors import Code
from evaluations.engine.retry import CallHistory, Stop, decide
from evaluations.engine.types import (
    AddRequest,
    AuthScheme,
    Endpoint,
    Exchange,
    MemoryService,
    Operation,
    SearchRequest,
)

Message = Mapping[str, Any]
KEPT_REQUEST_BYTES = 4_096
SPRING_2023 = 1_683_540_000_000  # 2023-05-08T10:00:00Z
MINUTE = 60_000


class Service(MemoryService, Protocol):
    """A memory service that also has a health URL."""

    async def health(self) -> Exchange: ...


@dataclass(frozen=True, slots=True)
class Budget:
    """What one check may cost. Seconds; attempts are of one call."""

    total: float = 5_400.0  # a service that takes 70 s a call, as some do, must be able to finish
    attempt: float = 300.0
    call: float = 90.0
    burst: float = 300.0
    attempts: int = 8
    attempts_before_first_success: int = 3  # a dead service is told of in seconds
    parallel: int = 4
    burst_calls: int = 200


@dataclass(frozen=True, slots=True)
class Scope:
    """What is checked: everything that ``run_checks`` was told."""

    endpoint: Endpoint
    track: str
    limits: Limits
    secret: bytes
    budget: Budget
    concurrency_add: int
    concurrency_search: int
    largest_add_bytes: int
    old_dates: bool  # a pack of the cycle holds dates of 1970 and before

    @property
    def authenticated(self) -> bool:
        return self.endpoint.auth is not AuthScheme.NONE


@dataclass(slots=True)
class Lab:
    """Shared by the probes of one check."""

    scope: Scope
    service: Service
    connect: Callable[[Endpoint], Service]
    clock: Clock
    random: random.Random
    successes: int = 0
    exchanges: list[Exchange] = field(default_factory=list)  # with the right key


class Probe:
    """One check's view of the lab. Its ids are its own, so that no check meets another's memories."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab = lab
        self.scope = lab.scope
        self.name = name
        self.exchanges: list[Exchange] = []

    # Ids

    def user(self, label: str = "") -> str:
        return opaque_id(self.scope.secret, "check", "user", self.name, label)

    def session(self, label: str = "") -> str:
        return opaque_id(self.scope.secret, "check", "session", self.name, label)

    def request(self, label: str = "") -> str:
        return opaque_id(self.scope.secret, "check", "add", self.name, label)

    def canary(self, label: str = "") -> str:
        """A made-up word that nothing else holds, such as ``Vutokapile``: text to every tokenizer."""
        message = f"canary\0{self.name}\0{label}".encode()
        digest = hmac.new(self.scope.secret, message, hashlib.sha256).digest()
        consonants, vowels = "bdfgklmnprtvz", "aeiou"
        pairs = zip(digest[0:10:2], digest[1:10:2], strict=True)
        return "".join(consonants[c % 13] + vowels[v % 5] for c, v in pairs).capitalize()

    # Findings

    def failed(self, call: Call, what: str, *, expected: str = "200 with a body of the contract") -> Finding:
        """The finding for a call that had to succeed, and did not."""
        return from_failure(call, what=what, expected=expected, authenticated=self.scope.authenticated)

    # Calls

    async def add(
        self,
        messages: Sequence[Message],
        *,
        label: str = "",
        user: str | None = None,
        session: str | None = None,
        replayed: bool = False,
    ) -> Call:
        """Add ``messages`` for the label's user; ``replayed`` says that the request was sent before."""
        request = AddRequest(
            request_id=self.request(label),
            user_id=user or self.user(label),
            session_id=session or self.session(label),
            messages=messages,
        )
        return await self.retried(
            Operation.ADD, lambda: self.lab.service.add(request), CallHistory(may_have_arrived=replayed)
        )

    async def search(
        self,
        query: str | Sequence[Message],
        *,
        label: str = "",
        user: str | None = None,
        top_k: int = 100,
        options: Sequence[str] | None = None,
    ) -> Call:
        request = SearchRequest(query, user or self.user(label), top_k, options)
        return await self.retried(Operation.SEARCH, lambda: self.lab.service.search(request), CallHistory())

    async def retried(
        self, operation: Operation, send: Callable[[], Awaitable[Exchange]], history: CallHistory
    ) -> Call:
        """Attempts by the contract's table, but no more and no longer than the budget allows."""
        exchanges: list[Exchange] = []
        began = self.lab.clock.monotonic()
        while True:
            exchange = self.record(await send())
            exchanges.append(exchange)
            wait = None if exchange.failure is None else self._wait(operation, exchange, history)
            if wait is None:
                return Call(tuple(exchanges))
            seconds, history = wait
            spent = self.lab.clock.monotonic() - began + seconds
            if len(exchanges) >= self._attempts() or spent > self.scope.budget.call:
                return Call(tuple(exchanges))
            await self.lab.clock.sleep(seconds)

    def _attempts(self) -> int:
        budget = self.scope.budget
        return budget.attempts if self.lab.successes else budget.attempts_before_first_success

    def _wait(
        self, operation: Operation, exchange: Exchange, history: CallHistory
    ) -> tuple[float, CallHistory] | None:
        failure = exchange.failure
        # An attempt that took the whole of its time isn't made again: a check must end.
        if failure is None or failure.code == Code.READ_TIMEOUT:
            return None
        if failure.code == Code.CONNECT_TIMEOUT and not self.lab.successes:
            return None
        decision = decide(
            history=history,
            failure=failure,
            operation=operation,
            now=self.lab.clock.now(),
            run_successes=self.lab.successes,
            limits=self.scope.limits,
            jitter=self.lab.random.random(),
        )
        return None if isinstance(decision, Stop) else (decision.seconds, decision.history)

    def record(self, exchange: Exchange, *, right_key: bool = True) -> Exchange:
        """Keep the exchange for the report, without the bulk of a large request."""
        kept = dataclasses.replace(exchange, request_body=exchange.request_body[:KEPT_REQUEST_BYTES])
        self.exchanges.append(kept)
        if right_key:
            self.lab.exchanges.append(kept)
            self.lab.successes += exchange.failure is None
        return kept


def said(*texts: str, start: int = SPRING_2023) -> list[dict[str, Any]]:
    """A conversation, one message a minute, user and assistant in turn."""
    return [
        {"role": ("user", "assistant")[i % 2], "content": text, "timestamp": start + i * MINUTE}
        for i, text in enumerate(texts)
    ]
