"""What a service sends back loses our secrets and our texts before anyone stores it."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aml.lib.redact import MASK, Redactor, mask_headers, safe_excerpt
from aml.lib.text import safe_text, shorten, storable

KEY = "mk_7Qz/x+Lq0vTn2w==9aB&cDeFgH"


@pytest.mark.parametrize(
    "shown",
    [
        KEY,
        quote(KEY, safe=""),
        json.dumps(KEY),
        KEY.encode().hex(),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"u:{KEY}".encode()).decode(),
        base64.b64encode(f"user:{KEY}:".encode()).decode(),
        KEY[:15],
        KEY[-15:],
    ],
)
def test_a_key_is_removed_whole_encoded_and_in_part(shown: str) -> None:
    text = safe_excerpt(f'{{"got": "{shown}"}}'.encode(), [KEY])
    assert MASK in text
    assert not any(shown[at : at + 12] in text for at in range(len(shown) - 11))


def test_a_short_key_is_removed_where_it_stands_whole() -> None:
    assert safe_excerpt(b"key s3cr!", ["s3cr!"]) == f"key {MASK}"


def test_a_key_across_the_cut_leaves_no_piece() -> None:
    text = safe_excerpt(b"x" * 2040 + KEY.encode() + b"y" * 100, [KEY])
    assert KEY[:8] not in text


def test_our_own_messages_are_removed_from_an_error() -> None:
    message = "My aunt Rosa moved from Lisbon to Tromsø in the spring of 2019, and took both cats."
    body = json.dumps({"detail": {"content": message, "cut": message[:60]}}).encode()
    text = safe_excerpt(body, Redactor(texts=[message]))
    assert "Lisbon" not in text
    assert "detail" in text


def test_an_excerpt_is_cut_at_a_character() -> None:
    assert safe_excerpt("日本語".encode() * 1000, [], limit=10) == "日本語"


@given(st.binary(max_size=5000))
def test_any_bytes_become_text_that_can_be_stored(data: bytes) -> None:
    text = safe_excerpt(data, [KEY])
    assert storable(text)
    assert len(text.encode()) <= 2048


def test_headers_with_credentials_are_masked_and_long_ones_cut() -> None:
    masked = dict(mask_headers([("Authorization", "Bearer x"), ("Set-Cookie", "a=b"), ("X", "y" * 9999)]))
    assert (masked["Authorization"], masked["Set-Cookie"]) == (MASK, MASK)
    assert len(masked["X"]) == 512


def test_a_reply_header_that_repeats_the_key_is_cleaned() -> None:
    assert mask_headers([("X-Echo", KEY)], redactor=Redactor(secrets=[KEY])) == (("X-Echo", MASK),)


def test_control_characters_and_surrogates_become_visible() -> None:
    assert safe_text("a\x00b\x1b[31m\ud800\n") == "a\ufffdb\ufffd[31m\ufffd\n"


def test_a_text_is_shortened_with_an_ellipsis() -> None:
    assert shorten("abcdef", length=4) == "abc…"
    assert shorten("abcd", length=4) == "abcd"
