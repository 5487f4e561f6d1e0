from __future__ import annotations

from evaluations.reference.words import (
    MAX_QUERY_TERMS,
    index_text,
    match_expression,
    option_text,
    query_terms,
)


def test_stop_words_are_not_asked_for() -> None:
    assert query_terms("What is the name of her dog?") == ["name", "dog"]


def test_a_query_of_nothing_but_stop_words_asks_for_them() -> None:
    assert query_terms("Who are you?") == ["who", "are", "you"]


def test_a_possessive_asks_for_its_owner() -> None:
    assert query_terms("Caroline's job") == ["caroline", "job"]


def test_chinese_is_cut_into_characters_and_pairs() -> None:
    assert index_text("雪球").split() == ["雪", "球", "雪球"]


def test_full_width_letters_are_folded() -> None:
    assert index_text("ＡＢＣ") == "ABC"


def test_query_syntax_is_text() -> None:
    assert match_expression(['a"b', "OR"]) == '"a""b" OR "OR"'


def test_a_long_query_is_cut() -> None:
    assert len(query_terms(" ".join(f"word{i}" for i in range(1_000)))) == MAX_QUERY_TERMS


def test_an_option_is_asked_for_without_its_letter() -> None:
    assert [option_text(option) for option in ("A. a newt", "B) toad", "A toad")] == [
        "a newt",
        "toad",
        "A toad",
    ]
