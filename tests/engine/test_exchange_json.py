from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aml.lib.redact import Redactor
from evaluations.engine.errors import Code, failure
from evaluations.engine.exchange_json import exchange_json
from evaluations.engine.types import Exchange, Operation, Timing

KEY = "sesame-open-81"
SEARCH = Exchange(
    Operation.SEARCH, "POST", "http://a/search", 1_700_000_000.0, Timing(latency=0.5), (), b"{}", status=200
)


def test_whole_bodies_stay_as_they_are() -> None:
    body = json.dumps({"data": "x" * 100_000})
    assert exchange_json(replace(SEARCH, response_body=body.encode()))["response_body"] == body


def test_whole_bytes_that_are_no_text_are_given_as_base64() -> None:
    assert exchange_json(replace(SEARCH, response_body=b"\xff"))["response_body"] == "base64:/w=="


def test_an_excerpt_says_that_it_was_cut() -> None:
    shown = exchange_json(replace(SEARCH, response_body=b"abcdef"), limit=4)
    assert shown["response_body"] == "abcd…"


def test_bytes_that_are_no_text_can_be_excerpted() -> None:
    shown = exchange_json(replace(SEARCH, response_body=b"\xff\x00abc"), limit=100)
    assert shown["response_body"] == "\ufffd\ufffdabc"


def test_a_failure_is_told_without_the_key() -> None:
    failed = failure(Code.NOT_JSON, sentence=f"Got {KEY}.", found=f"x{KEY}", pointer="/data", retryable=False)
    shown = exchange_json(replace(SEARCH, failure=failed), redactor=Redactor(secrets=[KEY]))
    assert (shown["failure"]["code"], shown["failure"]["pointer"]) == ("NOT_JSON", "/data")
    assert KEY not in json.dumps(shown)


@given(body=st.binary(max_size=200))
def test_any_body_gives_json_that_can_be_stored(body: bytes) -> None:
    shown = exchange_json(replace(SEARCH, request_body=body, response_body=body), limit=64)
    assert "\\u0000" not in json.dumps(shown)
