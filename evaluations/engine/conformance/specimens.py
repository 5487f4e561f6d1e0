"""What the probes send: texts in several scripts, bodies of a planned size, the smallest valid media."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aml.lib.tracks import Track
from benchmarks.types import CHUNK_MESSAGES, MAX_CHARACTERS
from evaluations.engine.contract import Limits

_SENTENCE = "The harbour was quiet in the morning and the boats lay still beneath the hill. "


@dataclass(frozen=True, slots=True)
class Specimen:
    """``telling`` is what should come back; no message holds a question mark, so that one is a sign."""

    messages: tuple[str, ...]
    query: str
    telling: str


def texts() -> dict[str, Specimen]:
    long = "My grandfather built a lighthouse of matches. " + _SENTENCE * 110
    chunk = tuple(f"On day {day} of the walk we passed a mill and ate {day + 2} plums." for day in range(20))
    return {
        "emoji": Specimen(
            ("The surprise party 🎉🦩 for my sister 👩‍🚀 is on a boat.",), "surprise party 🎉🦩", "🎉🦩"
        ),
        "Chinese": Specimen(
            ("我的猫叫雪球，喜欢睡在窗台上。", "好可爱的名字！"), "我的猫叫什么名字？", "雪球"
        ),
        "Arabic": Specimen(("قطتي اسمها ياسمين وتنام على السرير.",), "ما اسم قطتي؟", "ياسمين"),
        "8,000 characters": Specimen((long[:8_000],), "grandfather lighthouse matches", "lighthouse"),
        "a chunk of 20 messages": Specimen(chunk, "plums eaten on the walk past a mill", "plums"),
    }


def garbled(reply: str, specimen: Specimen) -> str:
    """A sign that text lost its characters on the way, in words; empty when there is none."""
    if "\ufffd" in reply:
        return "it holds the replacement character U+FFFD"
    if re.search(r"\\u[0-9a-fA-F]{4}", reply):
        return "it holds JSON escapes such as \\u4f60"
    if not specimen.telling.isascii():
        for encoding in ("latin-1", "cp1252"):
            if specimen.telling.encode().decode(encoding, "ignore") in reply:
                return f"UTF-8 was read as {encoding}"
        if re.search(r"\?{3,}", reply):
            return "question marks stand for the characters"
    return ""


def large_messages(size: int, *, track: str, limits: Limits) -> list[dict[str, Any]]:
    """Messages that make an Add of about ``size`` bytes, none longer than the track allows."""
    longest = MAX_CHARACTERS[Track(track)]
    if track == "multimodal" and size > longest * CHUNK_MESSAGES:
        return [_large_image(size, limits)]
    filler = _SENTENCE * (longest // len(_SENTENCE))
    count, rest = divmod(size, len(filler))
    contents = [filler] * count + [filler[:rest].strip() or "The end."]
    return [{"role": "user", "content": content} for content in contents]


def _large_image(size: int, limits: Limits) -> dict[str, Any]:
    """One message with images that carry ``size`` bytes of Base64 in all, none over a medium's limit."""
    left, parts = size * 3 // 4, [{"type": "text", "text": "Photos of the harbour."}]
    images: list[dict[str, Any]] = []
    while left > 0:
        weight = min(left, limits.media_each - 1_024)
        images.append(_part("image", "image/png", png(padding=weight)))
        left -= weight
    return {"role": "user", "content": [*parts, *images]}


def media_parts(declared: frozenset[str]) -> dict[str, Mapping[str, Any]]:
    """A part of each kind that may be sent to a service that declares ``declared``."""
    parts: dict[str, Mapping[str, Any]] = {"an image": _part("image", "image/png", png())}
    if "audio" in declared:
        parts["audio"] = _part("audio", "audio/wav", wav())
    if "video" in declared:
        parts["video"] = _part("video", "video/mp4", mp4())
    return parts


def _part(kind: str, media_type: str, data: bytes) -> dict[str, Any]:
    uri = f"data:{media_type};base64,{base64.b64encode(data).decode()}"
    return {"type": f"{kind}_url", f"{kind}_url": {"url": uri}}


def png(*, padding: int = 0) -> bytes:
    """A red square of 16 pixels; ``padding`` bytes ride along in a chunk that readers skip."""
    rows = b"".join(b"\0" + b"\xcc\x22\x22" * 16 for _ in range(16))
    header = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    if padding:
        chunks.insert(1, (b"fiLl", b"\x5a" * padding))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def wav() -> bytes:
    """A tenth of a second of silence, 8 kHz mono."""
    samples = b"\x80" * 800
    form = struct.pack("<HHIIHH", 1, 1, 8_000, 8_000, 1, 8)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(samples))
    return b"RIFF" + struct.pack("<I", len(body) + len(samples)) + body + samples


def mp4() -> bytes:
    """An MP4 without a track: file type, an empty movie header, no data."""
    kind = b"isom" + struct.pack(">I", 512) + b"isommp41"
    times = struct.pack(">IIIII", 0, 0, 0, 1_000, 0)
    matrix = struct.pack(">9I", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)
    rest = struct.pack(">IH10x", 0x10000, 0x100) + matrix + b"\0" * 24 + struct.pack(">I", 1)
    return _box(b"ftyp", kind) + _box(b"moov", _box(b"mvhd", times + rest)) + _box(b"mdat", b"")


def _box(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 8) + name + data
