"""From an answer, and a verdict where one is needed, to a Score."""

from __future__ import annotations

from typing import Any

from benchmarks.scorers import SCORERS, lexical
from benchmarks.scorers.abstain import declines
from benchmarks.scorers.base import gold_texts
from benchmarks.types import Question, Score, Verdict


def warm_up() -> None:
    """Load what the first score would load, a second and a half of it, while nobody waits for a turn."""
    lexical.stem("warm")


def needs_judge(question: Question, *, gold: Any, answer: str) -> bool:
    """False where the scorer asks no judge, and where a rule settles the answer without one."""
    scorer = SCORERS[question.scorer]
    if not scorer.judged or _settled(question, gold=gold, answer=answer):
        return False
    return bool(scorer.criteria_for(gold, answer))


def _settled(question: Question, *, gold: Any, answer: str) -> str | None:
    """The rule that makes an answer 0 whatever a judge says, by name."""
    if not answer.strip():
        return "empty"
    if not SCORERS[question.scorer].settled_by_rule or any(map(declines, gold_texts(gold))):
        return None
    return "declined" if declines(answer) else None


def score_answer(question: Question, *, gold: Any, answer: str, verdict: Verdict | None) -> Score:
    """The Score by the question's scorer; ``gold`` is the ask's own where it has one.

    Where a rule settles the answer no verdict counts; otherwise a judged scorer gives no value
    without one.
    """
    scorer = SCORERS[question.scorer]
    rule = _settled(question, gold=gold, answer=answer) if scorer.judged else None
    if rule:
        return Score(value=0.0, details={"rule": rule})
    return scorer.score(question, gold=gold, answer=answer, verdict=verdict)
