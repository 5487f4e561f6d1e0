"""What a scorer is: one function with the grades its judge may give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.types import Question, Score, Verdict


class ScoreFunction(Protocol):
    def __call__(self, question: Question, *, gold: Any, answer: str, verdict: Verdict | None) -> Score:
        """Never raises for what a model wrote; a gold of the wrong shape is a pack's fault and may."""
        ...


CriteriaFunction = Callable[[Any, str], tuple[str, ...]]
MenuFunction = Callable[[Any], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Scorer:
    """``grades`` is the judge's menu, empty where no judge is asked; any change of values is a new revision.

    ``criteria`` tells the judge what to grade, one grade each; ``menu`` replaces ``grades`` where
    the menu depends on the gold. ``settled_by_rule``: an empty answer, or one that declines although
    the gold does not, is 0 without a judge.
    """

    name: str
    revision: int
    score: ScoreFunction
    grades: tuple[str, ...] = ()
    criteria: CriteriaFunction | None = None
    menu: MenuFunction | None = None
    settled_by_rule: bool = True

    @property
    def judged(self) -> bool:
        return bool(self.grades)

    def grades_for(self, gold: Any) -> tuple[str, ...]:
        return self.menu(gold) if self.menu else self.grades

    def criteria_for(self, gold: Any, answer: str) -> tuple[str, ...]:
        return self.criteria(gold, answer) if self.criteria else ()


def texts(gold: Any) -> tuple[str, ...]:
    """A gold that is one string or a list of strings, as a tuple."""
    if isinstance(gold, str):
        return (gold,)
    if isinstance(gold, Sequence):
        return tuple(str(item) for item in gold)
    return () if gold is None else (str(gold),)


def gold_texts(gold: Any) -> tuple[str, ...]:
    """Every text in a gold of any shape, for rules that look at what it says."""
    if isinstance(gold, Mapping):
        return tuple(text for value in gold.values() for text in gold_texts(value))
    return texts(gold)


UNJUDGED = Score(reason="not judged")


def graded(verdict: Verdict | None, *, values: Mapping[str, float], expected: int) -> list[float] | None:
    """The values of a verdict's grades, or None where there is no complete verdict."""
    if verdict is None or len(verdict.grades) != expected:
        return None
    if any(grade not in values for grade in verdict.grades):
        return None
    return [values[grade] for grade in verdict.grades]
