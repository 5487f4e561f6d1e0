"""Counting and cutting in tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluations.engine import tokens


def test_counts_are_those_of_the_vocabulary() -> None:
    assert tokens.VOCABULARY == "o200k_base"
    assert [tokens.count(text) for text in ("", "hello world", "<|endoftext|>")] == [0, 2, 7]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.integers(min_value=-1, max_value=30))
def test_a_cut_is_a_prefix_within_its_limit(text: str, limit: int) -> None:
    cut = tokens.truncate(text, limit)
    assert text.startswith(cut)
    assert tokens.count(cut) <= max(limit, 0)
    assert tokens.count(text) <= tokens.at_most(text)


def test_a_text_that_fits_is_left_whole() -> None:
    assert tokens.truncate("hello 😀 world", 50) == "hello 😀 world"


@pytest.mark.parametrize("limit", range(8))
def test_a_character_is_never_cut_in_two(limit: int) -> None:
    assert "\ufffd" not in tokens.truncate("𠀀𠀁𠀂", limit)


def test_lone_surrogates_do_not_break_counting() -> None:
    assert tokens.count("a\ud800b") > 0
