"""Mean of 0, 0.5 and 1 over the criteria (BEAM's nuggets; halves count as halves)."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from benchmarks.scorers.base import UNJUDGED, Scorer, graded, texts
from benchmarks.types import Question, Score, Verdict

VALUES = {"0": 0.0, "0.5": 0.5, "1": 1.0}


def criteria(gold: Any, answer: str) -> tuple[str, ...]:
    return texts(gold)


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None) -> Score:
    values = graded(verdict, values=VALUES, expected=len(texts(gold)))
    return UNJUDGED if values is None else Score(value=fmean(values), details={"criteria": len(values)})


SCORER = Scorer(name="judge_rubric_mean", revision=1, score=score, grades=tuple(VALUES), criteria=criteria)
