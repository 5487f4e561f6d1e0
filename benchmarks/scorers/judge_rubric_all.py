"""Every criterion must hold (the rule of CL-bench)."""

from __future__ import annotations

from typing import Any

from benchmarks.scorers.base import UNJUDGED, Scorer, graded, texts
from benchmarks.types import Question, Score, Verdict

VALUES = {"YES": 1.0, "NO": 0.0}


def criteria(gold: Any, answer: str) -> tuple[str, ...]:
    return texts(gold)


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None) -> Score:
    values = graded(verdict, values=VALUES, expected=len(texts(gold)))
    if values is None:
        return UNJUDGED
    return Score(value=min(values), details={"held": int(sum(values)), "criteria": len(values)})


SCORER = Scorer(name="judge_rubric_all", revision=1, score=score, grades=tuple(VALUES), criteria=criteria)
