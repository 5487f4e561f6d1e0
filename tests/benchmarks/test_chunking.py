"""Words, long messages and chunks."""

from __future__ import annotations

import pytest

from benchmarks.packs.chunking import chunk_messages, message_words, split_long_message, word_count
from benchmarks.types import Chunking, Message


def said(text: str) -> Message:
    return Message(role="user", content=text, timestamp=5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("one two", 2),
        ("  a\n b ", 2),
        ("我喜欢茶", 4),
        ("我喜欢tea时间 ok", 7),
        ("한국어", 3),
        ("it's", 1),
    ],
)
def test_a_word_is_a_run_without_space_and_every_cjk_character(text: str, words: int) -> None:
    assert word_count(text) == words


def test_a_long_message_is_cut_at_white_space_with_its_role_and_time() -> None:
    pieces = split_long_message(said("word " * 4_000))
    assert [len(str(piece.content)) <= 8_000 for piece in pieces] == [True] * 3
    assert " ".join(str(piece.content) for piece in pieces).split() == ["word"] * 4_000
    assert {(piece.role, piece.timestamp) for piece in pieces} == {("user", 5)}


def test_a_run_without_space_is_cut_at_the_limit() -> None:
    assert [len(str(piece.content)) for piece in split_long_message(said("x" * 17_000))] == [
        8_000,
        8_000,
        1_000,
    ]


def test_a_chunk_closes_at_twenty_messages() -> None:
    chunks = list(chunk_messages([said("hi")] * 45, chunking=Chunking()))
    assert [len(chunk) for chunk in chunks] == [20, 20, 5]


def test_a_chunk_closes_at_two_thousand_words() -> None:
    chunks = list(chunk_messages([said("w " * 900)] * 5, chunking=Chunking()))
    assert [len(chunk) for chunk in chunks] == [2, 2, 1]


def test_a_message_of_more_words_than_a_chunk_is_split() -> None:
    chunks = list(chunk_messages([said("字" * 4_500)], chunking=Chunking()))
    assert [message_words(chunk[0]) for chunk in chunks] == [2_000, 2_000, 500]
