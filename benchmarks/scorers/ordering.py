"""Letters in order: equal or not, with the normalised Kendall tau beside it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from benchmarks.scorers.base import Scorer
from benchmarks.scorers.letters import gold_letters, letter_list
from benchmarks.types import Question, Score, Verdict


def pairs_in_order(letters: tuple[str, ...], wanted: tuple[str, ...]) -> float:
    """Share of the gold's pairs that the answer puts in the same order, in [0, 1]."""
    place = {letter: index for index, letter in enumerate(letters)}
    pairs = list(combinations(wanted, 2))
    if not pairs:
        return float(letters == wanted)
    right = sum(1 for a, b in pairs if a in place and b in place and place[a] < place[b])
    return right / len(pairs)


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None = None) -> Score:
    letters, wanted = letter_list(question, answer), gold_letters(gold)
    malformed = not letters or len(set(letters)) != len(letters)
    details = {"letters": list(letters), "format_failure": malformed}
    if not malformed:
        details["pairs_in_order"] = pairs_in_order(letters, wanted)
    return Score(value=float(not malformed and letters == wanted), details=details)


SCORER = Scorer(name="ordering", revision=1, score=score)
