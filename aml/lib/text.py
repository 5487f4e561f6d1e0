"""Text that PostgreSQL can hold and a page can show, whatever bytes it came from."""

from __future__ import annotations

import re

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
