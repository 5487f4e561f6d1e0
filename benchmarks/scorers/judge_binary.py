"""CORRECT or WRONG by the judge, against a reference answer."""

from __future__ import annotations

from typing import Any

from benchmarks.scorers.base import UNJUDGED, Scorer, graded
from benchmarks.types import Question, Score, Verdict

VALUES = {"CORRECT": 1.0, "WRONG": 0.0}
CRITERION = (
    "The answer commits to what the reference states (any accepted wording, format or language), "
    "contradicts none of it, and does not hedge between alternatives. "
    "Naming only the topic, or giving another value, is WRONG."
)


def criteria(gold: Any, answer: str) -> tuple[str, ...]:
    return (CRITERION,)


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None) -> Score:
    values = graded(verdict, values=VALUES, expected=1)
    return UNJUDGED if values is None else Score(value=values[0])


SCORER = Scorer(name="judge_binary", revision=1, score=score, grades=tuple(VALUES), criteria=criteria)
