"""Text that PostgreSQL can hold and a page can show, whatever bytes it came from."""

from __future__ import annotations

import re
from typing import TypeVar

T = TypeVar("T")
REPLACEMENT = "\ufffd"
# C0 without tab, line feed and carriage return; DEL and C1; lone surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def safe_text(text: str) -> str:
    """``text`` with control characters and lone surrogates replaced by U+FFFD."""
    return _UNSAFE.sub(REPLACEMENT, text)


def storable(text: str) -> bool:
    """Whether PostgreSQL's ``text`` takes it as it is: no NUL, no lone surrogate."""
    if "\x00" in text:
        return False
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def shorten(text: str, *, length: int) -> str:
    """At most ``length`` characters, the last an ellipsis where something was cut."""
    return text if len(text) <= length else text[: length - 1] + "…"


def whole_number(text: str) -> int | None:
    """What 1 to 18 ASCII digits say, as a database's big integer holds it; None for any other text."""
    return int(text) if len(text) <= 18 and text.isascii() and text.isdigit() else None


#: A spreadsheet would run a cell that begins so.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


def spreadsheet_cell(value: T) -> T | str:
    """Text that a spreadsheet would take for a formula gets an apostrophe in front, and is text again."""
    if isinstance(value, str) and value.lstrip(" ").startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


# Marks that reorder or hide text: bidirectional embeddings, overrides and isolates, zero-width characters.
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffb]")
_LINE_ENDS = re.compile("[\t\n\r]")


def unwelcome_character(text: str, *, multiline: bool) -> str | None:
    """The first character that a person can't have meant to type, as ``U+202E``; None if there is none.

    Names refuse everything invisible or reordering. Prose (``multiline``) may hold line ends, tabs and
    the direction marks that right-to-left languages need, but no overrides.
    """
    patterns = [_UNSAFE, _REORDERING] if multiline else [_UNSAFE, _REORDERING, _INVISIBLE, _LINE_ENDS]
    found = [match for pattern in patterns if (match := pattern.search(text))]
    if not found:
        return None
    first = min(found, key=lambda match: match.start())
    return f"U+{ord(first.group()):04X}"
