"""A client and a fake service in one scenario, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from evaluations.engine.client import HttpMemoryService
from evaluations.engine.contract import Limits
from evaluations.engine.types import (
    AddRequest,
    AuthScheme,
    Endpoint,
    Exchange,
    Failure,
    SearchRequest,
    Secret,
)
from tests.fakes.service import FakeService

KEY = "mk-0123456789abcdefghijklmnop"
QUICK = Limits.model_validate({"attempt_total": 5.0, "poll_shortest": 0.01, "connect_ramp": 0.001})
Scenario = Callable[[HttpMemoryService, FakeService], Awaitable[Any]]


def an_add(number: int = 1, text: str = "hello world") -> AddRequest:
    messages = [{"role": "user", "content": text, "timestamp": 1760000000000}]
    return AddRequest(f"aml:r{number}", f"aml:u{number}", "aml:s", messages)


def a_search(**fields: Any) -> SearchRequest:
    return SearchRequest(**{"query": "hello", "user_id": "aml:u1", **fields})


@asynccontextmanager
async def pair(
    behaviour: str = "ok",
    *,
    limits: Limits = QUICK,
    track: str = "textual",
    approved: bool = False,
    **options: Any,
) -> AsyncIterator[tuple[HttpMemoryService, FakeService]]:
    async with FakeService(behaviour=behaviour, key=KEY, **options) as fake:
        endpoint = Endpoint(
            add_url=fake.add_url,
            search_url=fake.search_url,
            auth=AuthScheme.BEARER,
            key=Secret(KEY),
            status_url=fake.status_url if approved else None,
            allow_private=True,
        )
        client = HttpMemoryService(endpoint, limits=limits, track=track)
        try:
            yield client, fake
        finally:
            await client.aclose()


def play(scenario: Scenario, behaviour: str = "ok", **options: Any) -> Any:
    async def whole() -> Any:
        async with pair(behaviour, **options) as (client, fake):
            return await scenario(client, fake)

    return asyncio.run(whole())


async def one_add(client: HttpMemoryService, fake: FakeService) -> Exchange:
    return await client.add(an_add())


async def one_search(client: HttpMemoryService, fake: FakeService) -> Exchange:
    return await client.search(a_search())


def refusal(behaviour: str, *, operation: Scenario = one_search, **options: Any) -> Failure:
    exchange = play(operation, behaviour, **options)
    assert exchange.failure is not None
    return exchange.failure  # type: ignore[no-any-return]  # play is as untyped as its scenarios
