"""Refusing a reply: what was expected, what was found, and where."""

from __future__ import annotations

from typing import NoReturn

import orjson

from aml.lib.text import safe_text, shorten
from evaluations.engine.errors import Code, ReplyRefused, failure

SHOWN = 120  # characters of a received value


def shown(value: object) -> str:
    """A received value as short, storable JSON text."""
    short = value[: SHOWN + 1] if isinstance(value, str) else value
    try:
        text = orjson.dumps(short).decode()
    except (TypeError, ValueError, RecursionError):
        text = repr(short)
    return shorten(safe_text(text), length=SHOWN)


def refuse(
    code: Code, sentence: str, pointer: str | None, expected: str | None, found: str | None
) -> NoReturn:
    """Raises ReplyRefused; every code of a bad reply is final."""
    raise ReplyRefused(
        failure(code, sentence=sentence, retryable=False, pointer=pointer, expected=expected, found=found)
    )


def mismatch(pointer: str, expected: str, found: str) -> NoReturn:
    sentence = f"{pointer or 'The reply'}: expected {expected}, found {found}."
    refuse(Code.SCHEMA_MISMATCH, sentence, pointer, expected, found)
