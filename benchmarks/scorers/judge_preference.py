"""How well an answer fits a person's preference, 0 to 1 (PersonaMem, generative)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.scorers.base import UNJUDGED, Scorer, graded
from benchmarks.types import Question, Score, Verdict

VALUES = {"0": 0.0, "0.25": 0.25, "0.5": 0.5, "0.75": 0.75, "1": 1.0}


def criteria(gold: Any, answer: str) -> tuple[str, ...]:
    """One criterion; ``{"preference": …, "positive": false}`` is something the person does not want."""
    if not isinstance(gold, Mapping):
        return (f"The answer fits this preference of the person: {gold}",)
    if gold.get("positive", True):
        return (f"The answer fits this preference of the person: {gold['preference']}",)
    return (f"The answer keeps clear of what the person does not want: {gold['preference']}",)


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None) -> Score:
    if not answer.strip():
        return Score(value=0.0, details={"rule": "empty"})
    values = graded(verdict, values=VALUES, expected=1)
    return UNJUDGED if values is None else Score(value=values[0])


# A request may be declined because of a preference, so declining is left to the judge.
SCORER = Scorer(
    name="judge_preference",
    revision=1,
    score=score,
    grades=tuple(VALUES),
    criteria=criteria,
    settled_by_rule=False,
)
