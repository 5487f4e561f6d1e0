"""The outcome of a sandbox run of a task's tests, as a score.

The sandbox reports through the verdict: grades ``applied``/``not applied``,
``passed``/``failed`` and ``right file``/``other file``, in this order.
"""

from __future__ import annotations

from typing import Any

from benchmarks.scorers.base import Scorer
from benchmarks.types import Question, Score, Verdict

APPLIED, PASSED, RIGHT_FILE = "applied", "passed", "right file"


def sandbox_verdict(*, applied: bool, passed: bool, right_file: bool, reason: str = "") -> Verdict:
    """What a sandbox run found, in the form that ``score`` reads."""
    grades = (
        APPLIED if applied else "not applied",
        PASSED if passed else "failed",
        RIGHT_FILE if right_file else "other file",
    )
    return Verdict(grades=grades, reason=reason)


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None) -> Score:
    """1 if the patch applies and the tests pass; unscored without a sandbox run."""
    if not answer.strip():
        return Score(value=0.0, details={"applied": False, "passed": False, "right_file": False})
    if verdict is None or len(verdict.grades) != 3:
        return Score(reason="tests not run")
    applied, passed, right_file = (
        grade == wanted for grade, wanted in zip(verdict.grades, (APPLIED, PASSED, RIGHT_FILE), strict=True)
    )
    details = {"applied": applied, "passed": passed, "right_file": right_file}
    return Score(value=float(applied and passed), details=details)


SCORER = Scorer(name="code_tests", revision=1, score=score)
