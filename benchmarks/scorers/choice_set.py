"""A set of letters: all or nothing, with the Jaccard index beside it."""

from __future__ import annotations

from typing import Any

from benchmarks.scorers.base import Scorer
from benchmarks.scorers.letters import gold_letters, letter_list
from benchmarks.types import Question, Score, Verdict


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None = None) -> Score:
    letters, wanted = letter_list(question, answer), set(gold_letters(gold))
    malformed = not letters or len(set(letters)) != len(letters)
    given = set(letters)
    jaccard = len(given & wanted) / len(given | wanted) if given | wanted else 0.0
    return Score(
        value=float(not malformed and given == wanted),
        details={"letters": list(letters), "format_failure": malformed, "jaccard": jaccard},
    )


SCORER = Scorer(name="choice_set", revision=1, score=score)
