"""What a service may send, and the code that each reply ends in."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from evaluations.engine.client import HttpMemoryService
from evaluations.engine.contract import Limits, retryable
from evaluations.engine.errors import Code
from evaluations.engine.types import (
    AuthScheme,
    Endpoint,
    Exchange,
    Fault,
    Operation,
    Secret,
)
from tests.engine.pairs import KEY, a_search, an_add, one_add, one_search, play, refusal
from tests.fakes.service import FakeService


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
