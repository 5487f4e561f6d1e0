"""Strict reading of replies: every bad form has its code, and nothing else is ever raised."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aml.lib.text import storable
from evaluations.engine.contract import Limits
from evaluations.engine.errors import Code, ReplyRefused
from evaluations.engine.replies import Found, parse, read_accepted, read_add, read_search, read_status
from evaluations.engine.types import AddRequest, Failure, SearchRequest

LIMITS = Limits()
ADD = AddRequest("r:1", "u:1", "s:1", [{"role": "user", "content": "hello"}])
SEARCH = SearchRequest("hello", "u:1", top_k=3)
STORED = {"success": True, "request_id": "r:1", "user_id": "u:1", "session_id": "s:1"}


def add(body: bytes) -> Failure | None:
    try:
        read_add(body, request=ADD, limits=LIMITS)
    except ReplyRefused as refused:
        return refused.failure
    return None


def search(body: bytes, media: frozenset[str] = frozenset()) -> Found | Failure:
    try:
        return read_search(body, request=SEARCH, limits=LIMITS, media=media)
    except ReplyRefused as refused:
        return refused.failure


def item(**fields: Any) -> Found | Failure:
    return search(json.dumps({"data": [{"id": "1", "content": "text", **fields}]}).encode())


def code(answer: Found | Failure | None) -> str:
    assert isinstance(answer, Failure)
    assert not answer.retryable
    return answer.code


def uri(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", Code.NOT_JSON),
        (b"   ", Code.NOT_JSON),
        (b"<html>", Code.NOT_JSON),
        (b"{}{}", Code.NOT_JSON),
        (b"\xef\xbb\xbf{}", Code.NOT_JSON),
        (b'{"x": NaN}', Code.NOT_JSON),
        (b'{"x": -Infinity}', Code.NOT_JSON),
        (b'{"x": 1e999}', Code.NOT_JSON),
        (b'{"x": ' + b"9" * 1000 + b"}", Code.NOT_JSON),
        (b'{"x": 1, "x": 1}', Code.NOT_JSON),
        (b'{"a": {"x:": 1, "x\\u003a": "::"}}', Code.NOT_JSON),
        (b'{"x": "\\ud800"}', Code.NOT_JSON),
        (b'{"x": "a\x00b"}', Code.NOT_JSON),
        (b"[" * 65 + b"]" * 65, Code.NOT_JSON),
        (b"[" * 5000 + b"]" * 5000, Code.NOT_JSON),
        (b'{"x": "\xff"}', Code.NOT_UTF8),
        ('{"x": "é"}'.encode("latin-1"), Code.NOT_UTF8),
        (b"[]", Code.SCHEMA_MISMATCH),
        (b"null", Code.SCHEMA_MISMATCH),
    ],
)
def test_what_is_no_document_of_the_contract_has_its_code(body: bytes, expected: Code) -> None:
    assert code(search(body)) == expected
    assert code(add(body)) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 64 + b"]" * 64,
        b'{"a:b": "c:d", "e": {"e": ":"}}',
        b'{"a": "\\u003a\\u003A"}',
        b'["\\u0000"]',
        b"3",
    ],
)
def test_unusual_but_sound_json_is_read(body: bytes) -> None:
    assert parse(body, limits=LIMITS) == json.loads(body)


def test_a_reply_with_too_many_values_is_refused() -> None:
    few = Limits.model_validate({"reply_nodes": 10})
    with pytest.raises(ReplyRefused) as caught:
        parse(json.dumps([1] * 11).encode(), limits=few)
    assert caught.value.failure.code == Code.RESPONSE_TOO_LARGE


def test_an_add_that_echoes_its_ids_is_stored_and_further_fields_are_ignored() -> None:
    assert add(json.dumps({**STORED, "extra": [None]}).encode()) is None


@pytest.mark.parametrize("success", ["true", 1, None, False, {}, [True]])
def test_success_is_the_boolean_true_only(success: object) -> None:
    assert code(add(json.dumps({**STORED, "success": success}).encode())) == Code.SUCCESS_NOT_TRUE


@pytest.mark.parametrize("name", ["request_id", "user_id", "session_id"])
@pytest.mark.parametrize("echoed", ["", "default_user", "u:1 ", "U:1", 42, None, ["u:1"]])
def test_every_id_is_echoed_character_by_character(name: str, echoed: object) -> None:
    answer = add(json.dumps({**STORED, name: echoed}).encode())
    assert code(answer) == Code.ECHO_MISMATCH
    assert isinstance(answer, Failure)
    assert (answer.pointer, answer.expected) == (f"/{name}", getattr(ADD, name))


def test_items_keep_the_services_order() -> None:
    found = search(b'{"data": [{"id": "b", "content": "2", "score": 0.1}, {"id": "a", "content": "1"}]}')
    assert isinstance(found, Found)
    assert [(entry.id, entry.content, entry.score) for entry in found.items] == [
        ("b", "2", 0.1),
        ("a", "1", None),
    ]
    assert found.warnings == ()


def test_nothing_found_is_a_good_reply() -> None:
    assert search(b'{"data": []}') == Found(items=(), warnings=())


def test_more_items_than_asked_for_are_never_cut() -> None:
    body = json.dumps({"data": [{"id": str(at), "content": "x"} for at in range(4)]}).encode()
    assert code(search(body)) == Code.TOO_MANY_RESULTS


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"id": ""}, "/data/0/id"),
        ({"id": True}, "/data/0/id"),
        ({"id": 1.5}, "/data/0/id"),
        ({"id": None}, "/data/0/id"),
        ({"id": "a\x00"}, "/data/0/id"),
        ({"content": ""}, "/data/0/content"),
        ({"content": None}, "/data/0/content"),
        ({"content": []}, "/data/0/content"),
        ({"content": "a\x00b"}, "/data/0/content"),
        ({"content": ["text"]}, "/data/0/content/0/type"),
        ({"content": [{"type": "text", "text": ""}]}, "/data/0/content/0/text"),
        ({"content": [{"type": ["text"]}]}, "/data/0/content/0/type"),
        ({"content": [{"type": "audio_url"}]}, "/data/0/content/0/type"),
        ({"score": True}, "/data/0/score"),
        ({"score": "0.8"}, "/data/0/score"),
    ],
)
def test_a_bad_item_is_named_by_its_pointer(fields: dict[str, Any], pointer: str) -> None:
    answer = item(**fields)
    assert code(answer) == Code.SCHEMA_MISMATCH
    assert isinstance(answer, Failure)
    assert answer.pointer == pointer
    assert answer.expected
    assert answer.found


@pytest.mark.parametrize(
    "body", [b"{}", b'{"data": null}', b'{"data": {}}', b'{"data": [1]}', b'{"data": [[]]}']
)
def test_data_is_an_array_of_objects(body: bytes) -> None:
    assert code(search(body)) == Code.SCHEMA_MISMATCH


@pytest.mark.parametrize(
    "value",
    [
        "2026-07-01",
        "2026-07",
        "2026-07-01T12:00:00Z",
        "2026-07-01T12:00:00+00:00",
        "2026-07-01T12:00:00.000Z",
        "2026-07-01 12:00:00.123456",
        None,
    ],
)
def test_dates_of_iso_8601_are_kept_as_sent(value: str | None) -> None:
    found = item(created_at=value)
    assert isinstance(found, Found)
    assert (found.items[0].created_at, found.warnings) == (value, ())


@pytest.mark.parametrize(
    "value", [1760000000000, "yesterday", "2026-13-01", "", {}, "2026-07-01\x0012:00:00", True]
)
def test_other_dates_are_dropped_with_a_warning(value: object) -> None:
    found = item(created_at=value)
    assert isinstance(found, Found)
    assert found.items[0].created_at is None
    assert found.warnings[0].startswith("created_at: ")


def test_integer_and_repeated_ids_are_warnings() -> None:
    found = search(b'{"data": [{"id": 7, "content": "a"}, {"id": "7", "content": "b"}]}')
    assert isinstance(found, Found)
    assert [warning.partition(":")[0] for warning in found.warnings] == ["id_types", "duplicate_ids"]


MEDIA = [
    ("image", "image/png", b"\x89PNG\r\n\x1a\n0000"),
    ("image", "image/jpeg", b"\xff\xd8\xff\xe0"),
    ("image", "image/webp", b"RIFF0000WEBP"),
    ("audio", "audio/wav", b"RIFF0000WAVE"),
    ("audio", "audio/mpeg", b"ID3\x04"),
    ("audio", "audio/ogg", b"OggS"),
    ("video", "video/mp4", b"0000ftypisom"),
    ("video", "video/webm", b"\x1aE\xdf\xa3"),
]


def part(kind: str, url: object) -> bytes:
    content = [{"type": f"{kind}_url", f"{kind}_url": {"url": url}}]
    return json.dumps({"data": [{"id": "1", "content": content}]}).encode()


@pytest.mark.parametrize(("kind", "mime", "data"), MEDIA)
def test_media_whose_bytes_match_their_type_are_read(kind: str, mime: str, data: bytes) -> None:
    assert isinstance(search(part(kind, uri(mime, data)), frozenset({"audio", "video"})), Found)


@pytest.mark.parametrize(("kind", "mime", "data"), MEDIA)
def test_media_whose_bytes_are_something_else_are_refused(kind: str, mime: str, data: bytes) -> None:
    answer = search(part(kind, uri(mime, b"GIF89a" + data)), frozenset({"audio", "video"}))
    assert code(answer) == Code.SCHEMA_MISMATCH


@pytest.mark.parametrize(
    "url",
    ["https://example.org/a.png", "data:image/png;base64,%%%", "data:image/gif;base64,R0lG", None, 3, ""],
)
def test_media_are_data_uris(url: object) -> None:
    assert code(search(part("image", url))) == Code.SCHEMA_MISMATCH


def test_media_have_a_size_limit_each_and_together() -> None:
    small = Limits.model_validate({"media_each": 20, "media_total": 30})
    image = {"type": "image_url", "image_url": {"url": uri("image/png", b"\x89PNG\r\n\x1a\n" + b"0" * 10)}}
    body = json.dumps({"data": [{"id": "1", "content": [image, image]}]}).encode()
    with pytest.raises(ReplyRefused) as caught:
        read_search(body, request=SEARCH, limits=small)
    assert caught.value.failure.code == Code.RESPONSE_TOO_LARGE


@pytest.mark.parametrize(("task", "expected"), [("t-1", "t-1"), (17, "17")])
def test_a_task_id_is_text_or_an_integer(task: object, expected: str) -> None:
    assert read_accepted(json.dumps({"task_id": task}).encode(), limits=LIMITS) == expected


@pytest.mark.parametrize("task", ["", None, True, 1.5, "x" * 256, [], "a\x00"])
def test_other_task_ids_are_refused(task: object) -> None:
    with pytest.raises(ReplyRefused):
        read_accepted(json.dumps({"task_id": task}).encode(), limits=LIMITS)


@pytest.mark.parametrize(
    ("status", "done", "failed"),
    [
        ("succeeded", True, False),
        ("completed", True, False),
        ("running", False, False),
        ("pending", False, False),
        ("failed", True, True),
    ],
)
def test_a_task_status_says_whether_to_ask_again(status: str, done: bool, failed: bool) -> None:
    task = read_status(json.dumps({"status": status, "error": "no room"}).encode(), limits=LIMITS)
    assert (task.done, task.error is not None) == (done, failed)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["id", "content", "data", "type"]), inner)
    ),
    max_leaves=20,
)


@given(st.binary() | values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_end_in_a_value_or_a_failure(body: bytes) -> None:
    add(body)
    search(body, frozenset({"audio"}))


@given(values, values, values, values)
def test_any_item_ends_in_something_storable(id_: Any, content: Any, score: Any, created_at: Any) -> None:
    answer = item(id=id_, content=content, score=score, created_at=created_at)
    if isinstance(answer, Found):
        texts = [answer.items[0].id, json.dumps(answer.items[0].content), *answer.warnings]
    else:
        texts = [answer.sentence, answer.found or "", answer.expected or ""]
    assert all(storable(text) for text in texts)


@given(
    st.dictionaries(st.text(), st.text() | st.dictionaries(st.text(), st.integers(-(2**63), 2**63 - 1))),
    st.booleans(),
)
def test_the_count_of_colons_never_refuses_unique_keys(value: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    if storable(text) and "\\ud" not in text:
        assert parse(text.encode(), limits=LIMITS) == value
