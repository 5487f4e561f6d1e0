"""Equality after normalisation: NFKC, case folded, no articles, no punctuation, single spaces."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from benchmarks.scorers.base import Scorer, texts
from benchmarks.types import Question, Score, Verdict

_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normal_form(text: str) -> str:
    """Punctuation inside a word or number (``3.5``, ``QX-4417``) stays, at its edges it goes."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = (_bare(word) for word in _ARTICLES.sub(" ", folded).split())
    return " ".join(word for word in words if word)


def _bare(word: str) -> str:
    start, end = 0, len(word)
    while start < end and _is_punctuation(word[start]):
        start += 1
    while end > start and _is_punctuation(word[end - 1]):
        end -= 1
    return word[start:end]


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None = None) -> Score:
    given = normal_form(answer)
    return Score(value=float(bool(given) and given in {normal_form(text) for text in texts(gold)}))


SCORER = Scorer(name="exact", revision=1, score=score)
