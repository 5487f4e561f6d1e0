"""BEAM's event ordering: normalised Kendall tau-b times the F1 of aligned events (scoring.md, 1.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from benchmarks.scorers.base import UNJUDGED, Scorer, texts
from benchmarks.types import Question, Score, Verdict

NONE = "none"
MAX_EVENTS = 50
_BULLET = re.compile(
    r"^\s*(?:[-*•]|\(?\d{1,3}[.):\u3001]|第[一二三四五六七八九十\d]+[步件]?[,\uff0c:\uff1a]?)\s*"
)
_INLINE = re.compile(r"\s*(?:;|\uff1b|->|→|\bthen\b|，然后|\s(?=\(?\d{1,2}[.)]\s))\s*")


@dataclass(frozen=True, slots=True)
class OrderScore:
    precision: float
    recall: float
    f1: float
    tau_norm: float
    final: float


def listed_events(answer: str) -> tuple[str, ...]:
    """The events an answer lists: its lines, or the parts of its one line, without numbering."""
    lines = [line for line in answer.splitlines() if line.strip()]
    parts = lines if len(lines) > 1 else _INLINE.split(answer)
    events = (_BULLET.sub("", part).strip(" .,;") for part in parts)
    return tuple(event for event in events if event)[:MAX_EVENTS]


def _tau_b(a: Sequence[int], b: Sequence[int]) -> float | None:
    """Kendall's tau-b, None where one side is all ties."""
    concordant = discordant = ties_a = ties_b = 0
    for (a1, b1), (a2, b2) in combinations(list(zip(a, b, strict=True)), 2):
        x, y = (a1 > a2) - (a1 < a2), (b1 > b2) - (b1 < b2)
        concordant += x * y > 0
        discordant += x * y < 0
        ties_a += x == 0
        ties_b += y == 0
    pairs = len(a) * (len(a) - 1) // 2
    scale = (pairs - ties_a) * (pairs - ties_b)
    return (concordant - discordant) / math.sqrt(scale) if scale else None


def _ranks(events: Sequence[str], union: Sequence[str]) -> list[int]:
    """First places in ``events``; what is missing shares the place after the last."""
    place: dict[str, int] = {}
    for index, event in enumerate(events):
        place.setdefault(event, index)
    return [place.get(event, len(events)) for event in union]


def order_score(reference: Sequence[str], system: Sequence[str], *, beam: bool = False) -> OrderScore:
    """Both lists hold aligned names. One matched event alone has tau 1; ``beam`` keeps BEAM's 0 there.

    Precision is over the system's distinct aligned events, so that saying one twice costs nothing.
    """
    distinct = list(dict.fromkeys(system))
    matched = [event for event in distinct if event in set(reference)]
    precision = len(matched) / len(distinct) if distinct else 0.0
    recall = len(matched) / len(reference) if reference else 0.0
    f1 = 2 * precision * recall / (precision + recall) if matched else 0.0
    union = list(dict.fromkeys([*reference, *system]))
    tau = _tau_b(_ranks(reference, union), _ranks(system, union))
    if tau is None:
        tau = 1.0 if len(union) == 1 and matched and not beam else 0.0
    tau_norm = (tau + 1) / 2
    return OrderScore(precision=precision, recall=recall, f1=f1, tau_norm=tau_norm, final=tau_norm * f1)


def criteria(gold: Any, answer: str) -> tuple[str, ...]:
    """One criterion an event of the answer: which numbered reference event it is, or none."""
    reference = "; ".join(f"{number}. {event}" for number, event in enumerate(texts(gold), 1))
    return tuple(
        f"Which reference event is this one, by number, or none: {event!r}? Reference events: {reference}"
        for event in listed_events(answer)
    )


def menu(gold: Any) -> tuple[str, ...]:
    return (NONE, *(str(number) for number in range(1, len(texts(gold)) + 1)))


def score(question: Question, *, gold: Any, answer: str, verdict: Verdict | None) -> Score:
    """``verdict`` holds, for each listed event, the number of the reference event it equals or ``none``."""
    reference, events = texts(gold), listed_events(answer)
    if not events:
        return Score(value=0.0, details={"events": 0})
    if verdict is None or len(verdict.grades) != len(events) or not set(verdict.grades) <= set(menu(gold)):
        return UNJUDGED
    system = [f"other-{index}" if grade == NONE else grade for index, grade in enumerate(verdict.grades)]
    result = order_score([str(number) for number in range(1, len(reference) + 1)], system)
    details = {"events": len(events), "f1": result.f1, "tau_norm": result.tau_norm}
    return Score(value=result.final, details=details)


SCORER = Scorer(
    name="event_order",
    revision=1,
    score=score,
    grades=(NONE, *(str(number) for number in range(1, MAX_EVENTS + 1))),
    criteria=criteria,
    menu=menu,
)
