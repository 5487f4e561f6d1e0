"""Credentials and our own messages taken out of what a service sends back, before it is stored or shown."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from urllib.parse import quote

from aml.lib.text import safe_text, shorten

MASK = "•••"
SENSITIVE_HEADERS = frozenset(
    {"authorization", "x-api-key", "cookie", "set-cookie", "proxy-authorization", "x-auth-token"}
)
HEADERS_KEPT = 64
HEADER_LENGTH = 512
_SECRET_BLOCK = 8
_TEXT_BLOCK = 24
_TEXT_TOTAL = 1024 * 1024  # of our own texts looked for: more costs time and finds little in 2 KB


class Redactor:
    """Removes ``secrets`` (also encoded, also in part: from about 11 characters on) and ``texts``.

    Texts are removed where at least 47 characters in a row agree, JSON-escaped or not.
    """

    def __init__(self, *, secrets: Iterable[str] = (), texts: Iterable[str] = ()) -> None:
        self._needles = tuple(form for secret in secrets if secret for form in _secret_forms(secret))
        self._blocks = tuple(
            dict.fromkeys(block for needle in self._needles for _, block in _blocks(needle, _SECRET_BLOCK, 4))
        )
        self._texts = tuple(_capped(texts))

    def clean(self, text: str) -> str:
        spans = [*self._secret_spans(text), *self._text_spans(text)]
        return _masked(text, spans) if spans else text

    def _secret_spans(self, text: str) -> Iterator[tuple[int, int]]:
        # Replies without a trace of the key are the rule, and this runs on every one of them.
        if not any(block in text for block in self._blocks):
            return
        for needle in self._needles:
            for start, block in _blocks(needle, _SECRET_BLOCK, 4):
                yield from _occurrences(text, needle=needle, start=start, block=block)

    def _text_spans(self, text: str) -> Iterator[tuple[int, int]]:
        if not self._texts:
            return
        windows = {text[at : at + _TEXT_BLOCK] for at in range(len(text) - _TEXT_BLOCK + 1)}
        for needle in self._texts:
            for start, block in _blocks(needle, _TEXT_BLOCK, _TEXT_BLOCK):
                if block in windows:
                    yield from _occurrences(text, needle=needle, start=start, block=block)


def safe_excerpt(data: bytes, secrets: Iterable[str] | Redactor, *, limit: int = 2048) -> str:
    """The beginning of ``data`` as text: decoded leniently, redacted, at most ``limit`` UTF-8 bytes.

    Redaction looks at more than it keeps, so that a secret across the cut is found whole.
    """
    redactor = secrets if isinstance(secrets, Redactor) else Redactor(secrets=secrets)
    text = data[: 2 * limit].decode("utf-8", "replace")
    cleaned = safe_text(redactor.clean(text))
    return cleaned.encode()[:limit].decode("utf-8", "ignore")


def mask_headers(
    headers: Iterable[tuple[str, str]], *, redactor: Redactor | None = None
) -> tuple[tuple[str, str], ...]:
    """Header pairs safe to store: credentials masked, long values and long lists cut."""
    kept: list[tuple[str, str]] = []
    for name, value in headers:
        if len(kept) == HEADERS_KEPT:
            break
        if name.lower() in SENSITIVE_HEADERS:
            shown = MASK
        elif redactor is not None:
            shown = redactor.clean(value)
        else:
            shown = value
        kept.append((shorten(safe_text(name), length=64), shorten(safe_text(shown), length=HEADER_LENGTH)))
    return tuple(kept)


def _secret_forms(secret: str) -> list[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    forms = [secret, quote(secret, safe=""), json.dumps(secret)[1:-1], raw.hex()]
    for offset in range(3):
        # Base64 of a text that holds the secret depends on where in a group of three bytes it starts.
        encoded = base64.b64encode(b"\x00" * offset + raw).decode().rstrip("=")
        forms.append(encoded[offset + 1 if offset else 0 : -1])
    return [form for form in dict.fromkeys(forms) if form]


def _capped(texts: Iterable[str]) -> Iterator[str]:
    left = _TEXT_TOTAL
    for text in texts:
        if left <= 0:
            return
        part = text[:left]
        left -= len(part)
        yield from dict.fromkeys(
            (part, json.dumps(part)[1:-1], json.dumps(part, ensure_ascii=False)[1:-1]),
        )


def _blocks(needle: str, size: int, stride: int) -> Iterator[tuple[int, str]]:
    if len(needle) <= size:
        # Short secrets are looked for whole; short texts are everyday words and are left alone.
        if size == _SECRET_BLOCK:
            yield 0, needle
        return
    for start in range(0, len(needle) - size + 1, stride):
        yield start, needle[start : start + size]


def _occurrences(text: str, *, needle: str, start: int, block: str) -> Iterator[tuple[int, int]]:
    """Where ``block`` of ``needle`` stands in ``text``, each widened as far as both agree."""
    at = text.find(block)
    while at >= 0:
        low, high = at, at + len(block)
        left, right = start, start + len(block)
        while low > 0 and left > 0 and text[low - 1] == needle[left - 1]:
            low, left = low - 1, left - 1
        while high < len(text) and right < len(needle) and text[high] == needle[right]:
            high, right = high + 1, right + 1
        yield low, high
        at = text.find(block, high)


def _masked(text: str, spans: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    position = 0
    for low, high in sorted(spans):
        if low > position or not pieces:
            pieces += [text[position:low], MASK]
        position = max(position, high)
    return "".join([*pieces, text[position:]])
