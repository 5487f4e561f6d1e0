"""One letter of a single-choice question."""

from __future__ import annotations

from typing import Any

from benchmarks.scorers.base import Scorer
from benchmarks.scorers.letters import single_letters
from benchmarks.types import Question, Score, Verdict


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None = None) -> Score:
    """None or several letters are wrong; ``format_failure`` tells them from a wrong letter."""
    letters = single_letters(question, answer)
    value = float(letters == (str(gold),))
    return Score(value=value, details={"letters": list(letters), "format_failure": len(letters) != 1})


SCORER = Scorer(name="choice", revision=1, score=score)
