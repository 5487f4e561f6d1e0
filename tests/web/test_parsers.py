"""A body that is no plain JSON is refused with what is wrong about it."""

from __future__ import annotations

import io

import pytest
from pytest_django import Settings
from rest_framework.exceptions import ParseError

from aml.web.parsers import MAX_DEPTH, StrictJSONParser


def parse(data: bytes) -> object:
    return StrictJSONParser().parse(io.BytesIO(data), "application/json", {})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "no JSON"),
        (b'{"a": NaN}', "no JSON"),
        (b'{"a": 1e400}', "no JSON"),
        (b'{"a": "\\ud800"}', "no JSON"),
        (b'{"a": "\xff"}', "no JSON"),
        (b'{"a": {"b": 1, "c": 2, "b": 3}}', "“b” twice"),
        (b"[" * 100_000 + b"]" * 100_000, "depth"),
        (b'{"a":' * 900 + b"1" + b"}" * 900, "deeper than"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "deeper than"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        parse(data)


def test_a_body_that_is_too_long_is_refused_unread(settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    stream = io.BytesIO(b'"' + b"a" * 100 + b'"')
    with pytest.raises(ParseError, match="longer than 10 bytes"):
        StrictJSONParser().parse(stream)
    assert stream.tell() == 11


def test_what_is_right_comes_through() -> None:
    assert parse('{"a": [1, 2.5, null, true, "记"]}'.encode()) == {"a": [1, 2.5, None, True, "记"]}
    assert parse(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) != []
