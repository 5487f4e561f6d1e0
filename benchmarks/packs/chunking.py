"""Words, long messages and chunks, as packs.md and the memory contract define them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from aml.lib.tracks import Track
from benchmarks.types import MAX_CHARACTERS, Chunking, Message

# One CJK character is a word by itself: kana, ideographs with their extensions, Hangul syllables.
_CJK = (
    "\u3005-\u3007\u3041-\u309f\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")


def word_count(text: str) -> int:
    """Runs of non-space characters, where every CJK character counts as one word."""
    return sum(1 for _ in _WORD.finditer(text))


def message_words(message: Message) -> int:
    """Words of a message's text; media parts hold none."""
    if isinstance(message.content, str):
        return word_count(message.content)
    return sum(word_count(part.text) for part in message.content if part.type == "text")


def split_long_message(message: Message, *, limit: int = MAX_CHARACTERS[Track.TEXTUAL]) -> list[Message]:
    """Pieces of at most ``limit`` characters, cut at white space, with the same role and time.

    A run of more than ``limit`` characters without a space is cut at the limit: there is no
    better place. Content made of parts is left as it is.
    """
    if not isinstance(message.content, str) or len(message.content) <= limit:
        return [message]
    pieces = _pieces(message.content, limit=limit)
    return [message.model_copy(update={"content": piece}) for piece in pieces]


def _pieces(text: str, *, limit: int) -> Iterator[str]:
    rest = text.strip()
    while len(rest) > limit:
        cut = _last_space(rest, limit=limit)
        yield rest[:cut].rstrip()
        rest = rest[cut:].lstrip()
    if rest:
        yield rest


def _last_space(text: str, *, limit: int) -> int:
    """Where to cut: the last white space at or before ``limit``, else ``limit`` itself."""
    for position in range(limit, 0, -1):
        if text[position].isspace():
            return position
    return limit


def _split_by_words(message: Message, *, max_words: int) -> list[Message]:
    """A message of more words than a whole chunk may hold, cut so that each piece fits."""
    if message_words(message) <= max_words or not isinstance(message.content, str):
        return [message]
    text = message.content
    starts = [match.start() for match in _WORD.finditer(text)][::max_words]
    bounds = [*starts, len(text)]
    pieces = [text[a:b].strip() for a, b in pairwise(bounds)]
    return [message.model_copy(update={"content": piece}) for piece in pieces]


def chunk_messages(messages: Iterable[Message], *, chunking: Chunking) -> Iterator[tuple[Message, ...]]:
    """Group a session's messages, in order, into Adds that keep ``chunking``'s two limits.

    Messages over 8,000 characters, or over a whole chunk's words, are split first.
    """
    chunk: list[Message] = []
    words = 0
    for message in _split(messages, chunking=chunking):
        size = message_words(message)
        if chunk and (len(chunk) >= chunking.max_messages or words + size > chunking.max_words):
            yield tuple(chunk)
            chunk, words = [], 0
        chunk.append(message)
        words += size
    if chunk:
        yield tuple(chunk)


def _split(messages: Iterable[Message], *, chunking: Chunking) -> Iterator[Message]:
    for message in messages:
        for piece in split_long_message(message):
            yield from _split_by_words(piece, max_words=chunking.max_words)
