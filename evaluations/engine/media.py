"""Parts of a reply's content, and media whose bytes are what their type says."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aml.lib.text import storable
from evaluations.engine.contract import Limits
from evaluations.engine.errors import Code
from evaluations.engine.refusals import mismatch, refuse, shown

_DATA_URI = re.compile(r"data:([a-z]+/[a-z0-9]+);base64,", re.ASCII)


def _riff(form: bytes) -> Callable[[bytes], bool]:
    return lambda data: data[:4] == b"RIFF" and data[8:12] == form


def _is_mpeg(data: bytes) -> bool:
    """An ID3 tag, or an MPEG audio frame's eleven sync bits."""
    return data[:3] == b"ID3" or (len(data) > 1 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0)


SIGNATURES: dict[str, dict[str, Callable[[bytes], bool]]] = {
    "image": {
        "image/png": lambda data: data[:8] == b"\x89PNG\r\n\x1a\n",
        "image/jpeg": lambda data: data[:3] == b"\xff\xd8\xff",
        "image/webp": _riff(b"WEBP"),
    },
    "audio": {
        "audio/wav": _riff(b"WAVE"),
        "audio/mpeg": _is_mpeg,
        "audio/ogg": lambda data: data[:4] == b"OggS",
    },
    "video": {
        "video/mp4": lambda data: data[4:8] == b"ftyp",
        "video/webm": lambda data: data[:4] == b"\x1aE\xdf\xa3",
    },
}


@dataclass(slots=True)
class MediaTotal:
    """Decoded media bytes of one reply so far."""

    limits: Limits
    size: int = 0

    def add(self, *, size: int, pointer: str) -> None:
        self.size += size
        for value, limit, what in (
            (size, self.limits.media_each, "one medium"),
            (self.size, self.limits.media_total, "all media of a reply"),
        ):
            if value > limit:
                sentence = f"{pointer}: {what} may hold {limit} bytes decoded; this is {value}."
                refuse(Code.RESPONSE_TOO_LARGE, sentence, pointer, f"at most {limit} bytes", f"{value} bytes")


def read_part(part: Any, *, pointer: str, media: frozenset[str], total: MediaTotal) -> Mapping[str, Any]:
    """The part with its known fields only; raises ReplyRefused if it breaks the contract."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        text = part.get("text")
        if not isinstance(text, str) or not text or not storable(text):
            mismatch(f"{pointer}/text", "a non-empty string without NUL", shown(text))
        return {"type": "text", "text": text}
    allowed = {"image", *media} & SIGNATURES.keys()
    names = {f"{name}_url": name for name in sorted(allowed)}
    if not isinstance(kind, str) or kind not in names:
        mismatch(f"{pointer}/type", " or ".join(["text", *names]), shown(kind))
    holder = part.get(kind)
    url = holder.get("url") if isinstance(holder, dict) else None
    _check_uri(url, kind=names[kind], pointer=f"{pointer}/{kind}/url", total=total)
    return {"type": kind, kind: {"url": url}}


def _check_uri(url: Any, *, kind: str, pointer: str, total: MediaTotal) -> None:
    types = SIGNATURES[kind]
    expected = f"a base64 data URI of type {', '.join(types)}"
    match = _DATA_URI.match(url) if isinstance(url, str) else None
    if match is None or match[1] not in types:
        mismatch(pointer, expected, shown(url))
    try:
        data = binascii.a2b_base64(url[match.end() :], strict_mode=True)
    except ValueError:
        mismatch(pointer, "valid base64 with padding", shown(url))
    total.add(size=len(data), pointer=pointer)
    if not types[match[1]](data):
        mismatch(pointer, f"bytes that are {match[1]}", f"bytes beginning 0x{data[:8].hex()}")
