"""Text from outside, made safe to show to a model: fenced, and unable to imitate the prompt.

Only what is shown is changed; records keep what was sent (scoring.md, 2.6).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from typing import Any

# Control characters but tab and newline; zero-width; bidi marks, embeddings and isolates; tag characters.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_OUR_TAGS = re.compile(
    r"<(?=\s*/?\s*(?:mem|media|question|options|answer|reference|criteria|menu)\b)", re.IGNORECASE
)
_ROLE_MARKERS = re.compile(
    r"<\|(?=[\w ]{1,40}\|>)|<(?=</?SYS>>|/?s>|/?(?:start|end)_of_turn>)|\[(?=/?INST\])", re.IGNORECASE
)
_ROLE_SHOWN = {"<": "\u2039", "[": "\u27e6"}


def call_nonce(secret: bytes, *parts: str) -> str:
    """16 hex digits for one model call: the same for the same parts, unguessable without ``secret``."""
    message = b"\x00".join(part.encode() for part in parts)
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:16]


def neutralise(text: str) -> str:
    """``text`` as a model may see it: nothing invisible, no fence of ours, no chat role marker."""
    visible = _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if "<" in visible:
        visible = _OUR_TAGS.sub("&lt;", visible)
    if "<" in visible or "[" in visible:
        visible = _ROLE_MARKERS.sub(lambda match: _ROLE_SHOWN[match.group()[0]] + match.group()[1:], visible)
    return visible


def fence(name: str, body: str, *, nonce: str) -> str:
    """``body`` between ``<name-nonce>`` tags; the caller has neutralised it."""
    return f"<{name}-{nonce}>\n{body}\n</{name}-{nonce}>"


def as_json(value: Any) -> str:
    """``value`` as JSON that holds no ``<``, so that it can imitate no tag."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def fill(template: str, slots: dict[str, str]) -> str:
    """``template`` with each ``{slot}`` replaced in one pass: what is filled in is never read again."""
    names = "|".join(map(re.escape, slots))
    return re.sub(rf"\{{({names})\}}", lambda match: slots[match.group(1)], template)
