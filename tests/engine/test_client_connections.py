"""Connections, waiting, polling, and whatever else happens around a call."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluations.engine.client import HttpMemoryService
from evaluations.engine.contract import Limits
from evaluations.engine.errors import CODES, Code
from evaluations.engine.types import (
    Endpoint,
    Exchange,
)
from tests.engine.pairs import a_search, an_add, one_add, one_search, play, refusal
from tests.fakes.service import FakeService


def test_a_connection_is_kept_for_the_next_call() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Any:
        exchanges = [await client.search(a_search()) for _ in range(3)]
        return fake.connections, [exchange.timing.connect is None for exchange in exchanges]

    assert play(scenario) == (1, [False, True, True])


@pytest.mark.parametrize("behaviour", ["early", "down", "http10", "closes_after_reply"])
def test_a_spoiled_connection_is_never_used_again(behaviour: str) -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Exchange:
        await client.search(a_search())
        fake.switch("ok")
        await asyncio.sleep(0.05)
        return await client.search(a_search())

    exchange = play(scenario, behaviour)
    assert exchange.failure is None
    assert exchange.timing.connect is not None


def test_an_idle_connection_is_closed() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> int:
        await client.search(a_search())
        await asyncio.sleep(0.3)
        return len(fake._writers)

    assert play(scenario, limits=Limits.model_validate({"idle_close": 0.1})) == 0


def test_many_calls_share_as_many_connections_as_are_in_flight() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Any:
        async def worker(first: int) -> list[Exchange]:
            return [await client.add(an_add(number)) for number in range(first, first + 10)]

        done = await asyncio.gather(*[worker(number * 10) for number in range(16)])
        failures = [exchange.failure for batch in done for exchange in batch if exchange.failure]
        return failures, fake.connections, len(fake.stored)

    failures, connections, stored = play(scenario, seconds=0.005)
    assert failures == []
    assert connections <= 16
    assert stored == 160


def test_connections_are_opened_in_a_ramp() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> list[float]:
        await asyncio.gather(*[client.add(an_add(number)) for number in range(5)])
        return [hit.time for hit in fake.hits]

    times = play(scenario, limits=Limits.model_validate({"connect_ramp": 0.05}), seconds=0.5)
    assert times[-1] - times[0] > 0.15


def test_a_202_without_a_status_url_is_not_approved() -> None:
    assert refusal("accepted", operation=one_add).code == Code.ASYNC_NOT_APPROVED


def test_an_approved_202_is_polled_until_it_succeeds() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Any:
        return await client.add(an_add()), fake.paths()

    exchange, paths = play(scenario, "accepted", approved=True, polls=2, task_id="a/b c")
    assert exchange.failure is None
    assert paths["/tasks/a%2Fb%20c"] == 3
    assert exchange.timing.latency > 0.03


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"final": {"status": "failed", "error": "no room"}}, Code.ASYNC_FAILED),
        ({"final": {"status": "perhaps"}}, Code.SCHEMA_MISMATCH),
        ({"final": []}, Code.SCHEMA_MISMATCH),
        ({"task_id": ""}, Code.SCHEMA_MISMATCH),
        ({"task_id": "x" * 256}, Code.SCHEMA_MISMATCH),
        ({"polls": 10_000}, Code.READ_TIMEOUT),
    ],
)
def test_a_202_that_comes_to_nothing_has_its_code(options: dict[str, Any], code: Code) -> None:
    limits = Limits.model_validate({"attempt_total": 0.5, "poll_shortest": 0.01})
    assert refusal("accepted", operation=one_add, approved=True, limits=limits, **options).code == code


@pytest.mark.parametrize(("asked", "seconds"), [("5", 5.0), ("0.2", 0.2), ("soon", None), ("-1", None)])
def test_retry_after_in_seconds_is_read(asked: str, seconds: float | None) -> None:
    assert refusal("status", status=429, retry_after=asked).retry_after == seconds


def test_retry_after_as_a_date_is_read() -> None:
    wait = refusal("retry_after_date", seconds=30).retry_after
    assert wait is not None
    assert 25 < wait <= 31


def test_health_is_asked_beside_add_without_the_credential() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Any:
        return await client.health(), fake.hits[0]

    exchange, hit = play(scenario)
    assert exchange.failure is None
    assert (hit.path, "authorization" in hit.headers) == ("/health", False)


def test_a_redirect_is_not_followed() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Any:
        return await client.search(a_search()), len(fake.hits)

    exchange, hits = play(scenario, "status", status=302, location="http://169.254.169.254/latest")
    assert exchange.failure.code == Code.REDIRECT_REFUSED
    assert hits == 1


def test_a_private_address_is_blocked_where_the_installation_does_not_allow_it() -> None:
    async def scenario() -> Exchange:
        client = HttpMemoryService(Endpoint("https://127.0.0.1/add", "https://127.0.0.1/search"))
        return await client.add(an_add())

    failure = asyncio.run(scenario()).failure
    assert failure is not None
    assert (failure.code, failure.reached) == (Code.ADDRESS_BLOCKED, False)


def test_waiting_calls_survive_the_cancelling_of_another() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> list[Exchange]:
        calls = [asyncio.create_task(client.add(an_add(number))) for number in range(6)]
        await asyncio.sleep(0.02)
        calls[0].cancel()
        calls[3].cancel()
        done = await asyncio.gather(*calls, return_exceptions=True)
        return [answer for answer in done if isinstance(answer, Exchange)]

    exchanges = play(scenario, limits=Limits.model_validate({"connect_ramp": 0.05}), seconds=0.1)
    assert [exchange.failure for exchange in exchanges] == [None] * 4


def test_an_outage_and_its_end_are_seen_by_the_next_call() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> list[str | None]:
        seen = []
        for behaviour in ("ok", "down", "ok"):
            fake.switch(behaviour)
            failure = (await client.search(a_search())).failure
            seen.append(None if failure is None else failure.code)
        return seen

    assert play(scenario) == [None, Code.SERVER_ERROR, None]


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: " + "9" * 5000,
        "Content-Length: -1",
        "Content-Length: 1\r\nContent-Length: 2",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked\r\n\r\nzz",
        "Content-Encoding: br",
        "X\x00: y",
        "Location: \xff\xfe",
    ],
)
def test_heads_that_make_no_sense_end_in_a_code(head: str) -> None:
    assert refusal("raw", data=f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n{{").code in Code


@settings(deadline=None, max_examples=40)
@given(st.binary(max_size=300), st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 503 X\r\n\r\n"]))
def test_any_bytes_of_a_service_end_in_an_exchange(data: bytes, start: bytes) -> None:
    exchange = play(one_search, "raw", data=(start + data).decode("latin-1"))
    assert exchange.failure is not None
    assert orjson.dumps(exchange.failure)


def test_a_time_out_names_the_step_reached() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Exchange:
        return await client.add(an_add(text="x" * 20_000_000))

    failure = play(scenario, "unread", limits=Limits.model_validate({"attempt_total": 0.5})).failure
    assert failure.code == Code.READ_TIMEOUT
    assert "sending the request" in failure.sentence


def test_every_code_has_a_title_and_advice() -> None:
    assert set(CODES) == set(Code)
    assert all(info.title and info.advice.endswith(".") for info in CODES.values())
