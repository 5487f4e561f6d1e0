"""The client against a service that misbehaves over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluations.engine.client import HttpMemoryService
from evaluations.engine.contract import Limits, retryable
from evaluations.engine.errors import CODES, Code
from evaluations.engine.types import (
    AddRequest,
    AuthScheme,
    Endpoint,
    Exchange,
    Failure,
    Fault,
    Operation,
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


def test_what_was_added_is_found() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Exchange:
        assert (await client.add(an_add())).failure is None
        return await client.search(a_search())

    found = play(scenario)
    assert found.failure is None
    assert [item.content for item in found.items] == ["hello world"]


def test_an_add_sends_exactly_the_contracts_fields_and_headers() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Any:
        await client.add(an_add())
        return fake.hits[0]

    hit = play(scenario)
    assert orjson.loads(hit.body) == {
        "request_id": "aml:r1",
        "user_id": "aml:u1",
        "session_id": "aml:s",
        "messages": [{"role": "user", "content": "hello world", "timestamp": 1760000000000}],
    }
    names = {
        "host",
        "user-agent",
        "accept",
        "accept-encoding",
        "content-type",
        "content-length",
        "authorization",
    }
    assert hit.headers.keys() == names
    assert hit.headers["accept-encoding"] == "identity"
    assert hit.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(("options", "sent"), [(None, False), (["a", "b"], True)])
def test_a_search_sends_options_only_where_there_are_some(options: list[str] | None, sent: bool) -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Any:
        await client.search(a_search(options=options))
        return orjson.loads(fake.hits[0].body)

    body = play(scenario)
    assert ("options" in body) == sent
    assert body["top_k"] == 100


def test_an_exchange_shows_no_credential() -> None:
    exchange = play(one_add, "echoes_request")
    assert KEY not in repr(exchange)
    assert dict(exchange.request_headers)["Authorization"] == "•••"


def test_an_error_body_is_kept_without_our_messages() -> None:
    text = "My aunt Rosa moved from Lisbon to Tromsø in the spring of 2019 with both cats."

    async def scenario(client: HttpMemoryService, fake: FakeService) -> Exchange:
        return await client.add(an_add(text=text))

    exchange = play(scenario, "echoes_request")
    assert exchange.failure is not None
    assert exchange.failure.code == Code.REQUEST_INVALID
    assert b"Lisbon" not in exchange.response_body
    assert b"detail" in exchange.response_body


def test_a_wrong_key_is_unauthorized() -> None:
    async def scenario() -> Exchange:
        async with FakeService(key="another") as fake:
            endpoint = Endpoint(
                fake.add_url, fake.search_url, AuthScheme.BEARER, Secret(KEY), allow_private=True
            )
            client = HttpMemoryService(endpoint)
            exchange = await client.search(a_search())
            await client.aclose()
            return exchange

    exchange = asyncio.run(scenario())
    assert exchange.failure is not None
    assert exchange.failure.code == Code.UNAUTHORIZED


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (201, Code.UNEXPECTED_STATUS),
        (204, Code.UNEXPECTED_STATUS),
        (202, Code.UNEXPECTED_STATUS),
        (301, Code.REDIRECT_REFUSED),
        (307, Code.REDIRECT_REFUSED),
        (400, Code.REQUEST_INVALID),
        (401, Code.UNAUTHORIZED),
        (403, Code.FORBIDDEN),
        (404, Code.NOT_FOUND),
        (405, Code.METHOD_REFUSED),
        (408, Code.NOT_READY),
        (409, Code.CONFLICT),
        (413, Code.PAYLOAD_TOO_LARGE),
        (415, Code.MEDIA_TYPE_REFUSED),
        (418, Code.UNEXPECTED_STATUS),
        (422, Code.REQUEST_INVALID),
        (425, Code.NOT_READY),
        (429, Code.RATE_LIMITED),
        (500, Code.SERVER_ERROR),
        (503, Code.SERVER_ERROR),
        (504, Code.PROXY_TIMEOUT),
        (522, Code.PROXY_TIMEOUT),
        (524, Code.PROXY_TIMEOUT),
        (530, Code.SERVER_ERROR),
    ],
)
def test_every_status_has_its_code_and_its_row_of_the_retry_table(status: int, code: Code) -> None:
    body = "" if status == 204 else "{}"
    failure = refusal("status", status=status, body=body)
    assert (failure.code, failure.status) == (code, status)
    assert failure.retryable == retryable(code, operation=Operation.SEARCH)
    assert failure.fault is Fault.PARTICIPANT
    assert str(status) in failure.sentence


BAD_REPLIES = {
    "not_utf8": Code.NOT_UTF8,
    "not_a_number": Code.NOT_JSON,
    "infinite": Code.NOT_JSON,
    "duplicate_keys": Code.NOT_JSON,
    "too_deep": Code.NOT_JSON,
    "huge_integer": Code.NOT_JSON,
    "surrogate": Code.NOT_JSON,
    "gzip_bomb": Code.NOT_JSON,
    "empty": Code.NOT_JSON,
    "html": Code.NOT_JSON,
    "nul": Code.SCHEMA_MISMATCH,
    "array": Code.SCHEMA_MISMATCH,
    "no_data": Code.SCHEMA_MISMATCH,
    "data_null": Code.SCHEMA_MISMATCH,
    "empty_id": Code.SCHEMA_MISMATCH,
    "empty_content": Code.SCHEMA_MISMATCH,
    "score_boolean": Code.SCHEMA_MISMATCH,
    "score_text": Code.SCHEMA_MISMATCH,
    "remote_media": Code.SCHEMA_MISMATCH,
    "false_media": Code.SCHEMA_MISMATCH,
    "too_many": Code.TOO_MANY_RESULTS,
    "endless_body": Code.RESPONSE_TOO_LARGE,
    "declared_too_large": Code.RESPONSE_TOO_LARGE,
    "huge_header": Code.RESPONSE_TOO_LARGE,
    "endless_1xx": Code.RESPONSE_TOO_LARGE,
}


@pytest.mark.parametrize(("behaviour", "code"), BAD_REPLIES.items())
def test_a_bad_search_reply_is_final_and_has_its_code(behaviour: str, code: Code) -> None:
    failure = refusal(behaviour)
    assert (failure.code, failure.retryable) == (code, False)


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        ("success_text", Code.SUCCESS_NOT_TRUE),
        ("success_one", Code.SUCCESS_NOT_TRUE),
        ("success_false", Code.SUCCESS_NOT_TRUE),
        ("echo_number", Code.ECHO_MISMATCH),
        ("echo_default_user", Code.ECHO_MISMATCH),
        ("echo_empty", Code.ECHO_MISMATCH),
        ("echo_missing", Code.ECHO_MISMATCH),
    ],
)
def test_a_bad_add_reply_is_final_and_has_its_code(behaviour: str, code: Code) -> None:
    failure = refusal(behaviour, operation=one_add)
    assert (failure.code, failure.retryable) == (code, False)


@pytest.mark.parametrize(
    "behaviour", ["http10", "no_length", "chunked", "extra_fields", "image", "hidden_error"]
)
def test_unusual_but_good_replies_are_read(behaviour: str) -> None:
    exchange = play(one_search, behaviour)
    assert exchange.failure is None


@pytest.mark.parametrize(
    ("behaviour", "warning"),
    [("integer_id", "id_types"), ("created_at_integer", "created_at"), ("created_at_words", "created_at")],
)
def test_what_the_contract_bears_with_is_a_warning(behaviour: str, warning: str) -> None:
    exchange = play(one_search, behaviour)
    assert exchange.failure is None
    assert exchange.warnings[0].startswith(warning)


@pytest.mark.parametrize(
    "behaviour", ["reset", "reset_unread", "silence", "half_body", "half_head", "garbage"]
)
def test_a_connection_that_ends_too_soon_is_lost_and_retryable(behaviour: str) -> None:
    failure = refusal(behaviour, operation=one_add)
    assert (failure.code, failure.retryable, failure.reached) == (Code.CONNECTION_LOST, True, True)


def test_nobody_listening_is_a_refusal_that_reached_nobody() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Exchange:
        await fake.stop()
        return await client.add(an_add())

    failure = play(scenario).failure
    assert (failure.code, failure.reached) == (Code.CONNECT_REFUSED, False)


@pytest.mark.parametrize("behaviour", ["hang", "drip"])
def test_one_deadline_spans_the_whole_attempt(behaviour: str) -> None:
    failure = refusal(behaviour, limits=Limits.model_validate({"attempt_total": 0.3}), seconds=0.2)
    assert failure.code == (Code.CONNECTION_LOST if behaviour == "hang" else Code.READ_TIMEOUT)


def test_a_reply_that_never_comes_is_a_read_timeout() -> None:
    failure = refusal("hang", limits=Limits.model_validate({"attempt_total": 0.2}))
    assert (failure.code, failure.retryable) == (Code.READ_TIMEOUT, True)
    assert "0.2 s" in failure.sentence


@pytest.mark.parametrize("behaviour", ["early", "early_then_reset"])
@pytest.mark.parametrize("size", [100, 8_000_000])
@pytest.mark.parametrize(("status", "code"), [(413, Code.PAYLOAD_TOO_LARGE), (401, Code.UNAUTHORIZED)])
def test_a_status_sent_before_the_body_was_read_is_the_outcome(
    behaviour: str, size: int, status: int, code: Code
) -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Exchange:
        return await client.add(an_add(text="x" * size))

    failure = play(scenario, behaviour, status=status).failure
    assert failure.code == code


def test_a_large_body_that_is_reset_says_how_far_it_came() -> None:
    async def scenario(client: HttpMemoryService, fake: FakeService) -> Exchange:
        return await client.add(an_add(text="x" * 20_000_000))

    failure = play(scenario, "reset_unread").failure
    assert failure.code == Code.CONNECTION_LOST
    assert "size limits" in failure.sentence


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
