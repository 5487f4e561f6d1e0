"""LoCoMo's token F1 (Maharana et al., 2024; scoring.md, 1.1)."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from benchmarks.scorers.base import Scorer, texts
from benchmarks.scorers.lexical import stemmed_f1
from benchmarks.types import Question, Score, Verdict


def multi_hop_f1(answer: str, gold: str) -> float:
    """Mean over the gold's comma-separated parts of the best F1 of any part of the answer."""
    predictions = answer.split(",")
    return fmean(max(stemmed_f1(part, wanted) for part in predictions) for wanted in gold.split(","))


def locomo_f1(answer: str, gold: str, *, leaf: str | None) -> float:
    """F1 by the rule of the question's category, which ``leaf`` names."""
    if leaf == "multi-hop":
        return multi_hop_f1(answer, gold)
    if leaf == "open-domain":
        return stemmed_f1(answer, gold.split(";")[0].strip())
    return stemmed_f1(answer, gold)


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None = None) -> Score:
    """The best F1 over the accepted golds."""
    best = max(locomo_f1(answer, wanted, leaf=question.leaf) for wanted in texts(gold))
    return Score(value=min(best, 1.0))


SCORER = Scorer(name="token_f1", revision=1, score=score)
