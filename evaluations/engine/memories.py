"""Memories as the Answer model sees them: in the order returned, within a budget of tokens.

Media stay data URIs between ``<media-nonce>`` tags, one a line; ``models.py`` turns them into the
provider's own parts. They cost a flat number of tokens, because providers count them by size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluations.engine import tokens
from evaluations.engine.fencing import fence, neutralise
from evaluations.engine.types import MemoryItem

MEDIA_TOKENS = 1_100
CUT_MARK = " […cut]"
NO_MEMORIES = "(The memory system returned no memories.)"
_MEDIA_KINDS = ("image_url", "audio_url", "video_url")


@dataclass(frozen=True, slots=True)
class ShownMemories:
    text: str
    tokens: int
    given: int  # items shown, the one that was cut included
    cut: int  # items dropped whole or cut


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    media: bool = False

    @property
    def tokens(self) -> int:
        return MEDIA_TOKENS if self.media else tokens.count(self.text)

    @property
    def most(self) -> int:
        return MEDIA_TOKENS if self.media else tokens.at_most(self.text)


def show_memories(items: Sequence[MemoryItem], *, budget: int, nonce: str) -> ShownMemories:
    """The longest prefix of ``items`` in ``budget`` tokens; the first that does not fit is cut and marked."""
    if not items:
        return ShownMemories(NO_MEMORIES, tokens.count(NO_MEMORIES), 0, 0)
    shown: list[str] = []
    left = budget
    for item in items:
        pieces = _pieces(item, nonce=nonce)
        used = _cost(pieces, nonce=nonce)
        if used > left:
            part = _cut(pieces, budget=left - _fence_tokens(nonce), nonce=nonce)
            shown.extend(part)
            left -= sum(tokens.count(text) for text in part)
            return ShownMemories(
                "\n".join(shown), budget - left, len(shown), len(items) - len(shown) + len(part)
            )
        shown.append(_fenced(pieces, nonce=nonce))
        left -= used
    return ShownMemories("\n".join(shown), budget - left, len(shown), 0)


def content_text(content: str | Sequence[Mapping[str, Any]], *, nonce: str) -> str:
    """Content of a question or an item as one text, media between their tags."""
    return "\n".join(piece.text for piece in _content_pieces(content, nonce=nonce))


def _pieces(item: MemoryItem, *, nonce: str) -> list[_Piece]:
    pieces = _content_pieces(item.content, nonce=nonce)
    if not item.created_at:
        return pieces
    date = f"[{neutralise(item.created_at)}]"
    if pieces and not pieces[0].media:
        return [_Piece(f"{date} {pieces[0].text}"), *pieces[1:]]
    return [_Piece(date), *pieces]


def _content_pieces(content: str | Sequence[Mapping[str, Any]], *, nonce: str) -> list[_Piece]:
    if isinstance(content, str):
        return [_Piece(neutralise(content))]
    return [_part_piece(part, nonce=nonce) for part in content]


def _part_piece(part: Mapping[str, Any], *, nonce: str) -> _Piece:
    kind = str(part.get("type"))
    if kind not in _MEDIA_KINDS:
        return _Piece(neutralise(str(part.get("text", ""))))
    url = str(part[kind]["url"])
    # A data URI holds no angle bracket or white space; anything else can't come from a checked reply.
    safe = neutralise(url).replace("<", "%3C").replace("\n", "")
    return _Piece(f"<media-{nonce}>{safe}</media-{nonce}>", media=True)


def _fence_tokens(nonce: str) -> int:
    return tokens.count(fence("mem", "", nonce=nonce)) + 1  # and the newline between items


def _cost(pieces: Sequence[_Piece], *, nonce: str) -> int:
    return sum(piece.tokens + 1 for piece in pieces) + _fence_tokens(nonce)


def _fenced(pieces: Sequence[_Piece], *, nonce: str) -> str:
    return fence("mem", "\n".join(piece.text for piece in pieces), nonce=nonce)


def _cut(pieces: Sequence[_Piece], *, budget: int, nonce: str) -> list[str]:
    """What fits of an item, marked as cut: no text where not even a word of it fits."""
    kept: list[_Piece] = []
    left = budget - tokens.count(CUT_MARK)
    for piece in pieces:
        if piece.tokens + 1 > left:
            head = "" if piece.media else tokens.truncate(piece.text, left - 1)
            if head.strip():
                kept.append(_Piece(head))
            break
        kept.append(piece)
        left -= piece.tokens + 1
    if not kept:
        return []
    return [_fenced([*kept[:-1], _Piece(kept[-1].text + CUT_MARK, kept[-1].media)], nonce=nonce)]
