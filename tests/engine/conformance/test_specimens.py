from __future__ import annotations

import base64
import json
import struct
import wave
from io import BytesIO

import pytest

from aml.lib.tracks import Track
from benchmarks.types import MAX_CHARACTERS
from evaluations.engine.conformance.answers import _supported
from evaluations.engine.conformance.specimens import (
    garbled,
    large_messages,
    media_parts,
    mp4,
    png,
    texts,
    wav,
)
from evaluations.engine.contract import Limits

LIMITS = Limits.model_validate({})


def test_no_specimen_holds_what_would_pass_for_a_sign_of_damage() -> None:
    for specimen in texts().values():
        assert garbled("\n".join(specimen.messages), specimen) == ""


@pytest.mark.parametrize(
    "reply",
    [
        "\ufffd\ufffd",
        "\\u96ea\\u7403",
        "雪球".encode().decode("latin-1"),
        "my cat is called ????",
    ],
)
def test_damaged_text_is_recognised(reply: str) -> None:
    assert garbled(reply, texts()["Chinese"])


@pytest.mark.parametrize(("track", "size"), [("textual", 65_536), ("coding", 1_048_576), ("textual", 100)])
def test_a_large_add_has_the_size_asked_for(track: str, size: int) -> None:
    messages = large_messages(size, track=track, limits=LIMITS)
    weight = sum(len(message["content"]) for message in messages)
    assert abs(weight - size) < 100
    longest = MAX_CHARACTERS[Track(track)]
    assert all(0 < len(message["content"]) <= longest for message in messages)


def test_a_large_multimodal_add_keeps_each_medium_below_its_limit() -> None:
    (message,) = large_messages(20 * 2**20, track="multimodal", limits=LIMITS)
    uris = [part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"]
    sizes = [len(base64.b64decode(uri.partition(",")[2])) for uri in uris]
    assert max(sizes) <= LIMITS.media_each
    assert abs(len(json.dumps(message)) - 20 * 2**20) < 20_000


def test_the_wave_file_can_be_read() -> None:
    with wave.open(BytesIO(wav())) as sound:
        assert (sound.getframerate(), sound.getnframes()) == (8_000, 800)


def test_the_pngs_padding_is_a_chunk_of_its_own() -> None:
    data = png(padding=1_000)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">I", data[data.index(b"fiLl") - 4 :][:4]) == (1_000,)


def test_the_mp4_begins_with_its_type() -> None:
    assert mp4()[4:8] == b"ftyp"


def test_only_declared_media_are_sent() -> None:
    assert set(media_parts(frozenset())) == {"an image"}
    assert set(media_parts(frozenset({"audio", "video"}))) == {"an image", "audio", "video"}


def test_a_reworded_memory_is_supported_and_an_invention_is_not() -> None:
    known = frozenset({"teach", "accor", "plays", "lunch"})
    assert _supported("The teacher of the children was playing accordion at lunch", known)
    assert not _supported("Probably bassoon because most orchestras require woodwind section", known)
