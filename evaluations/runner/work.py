"""What a claimed unit needs to be executed, read in the database's thread; and what comes back from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from aml.web import bodies
from benchmarks.models import PackEvent, read_questions
from benchmarks.types import Add, Ask, Question
from evaluations.engine.answering import AnswerOutcome
from evaluations.engine.judging import JudgeOutcome
from evaluations.engine.steps import gold_of
from evaluations.engine.types import Exchange, Failure, MemoryItem
from evaluations.models import Attempt, Result, Run, Unit
from evaluations.models.ledger import KindChoice


@dataclass(frozen=True, slots=True)
class Work:
    """One claimed call with its payload: an Add's messages, or an ask's question and what came before."""

    unit: Unit
    attempt: Attempt
    sample: str
    event: int
    add: Add | None = None
    question: Question | None = None
    gold: Any = None
    items: tuple[MemoryItem, ...] = ()
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A work and its outcome; exactly one of the outcomes is set."""

    work: Work
    exchange: Exchange | None = None
    answer: AnswerOutcome | None = None
    verdict: JudgeOutcome | None = None
    fault: Failure | None = None  # ours: something broke around the call


def load(run: Run, taken: Iterable[tuple[Unit, Attempt]]) -> list[Work]:
    """Payloads of claimed units, with one query a table."""
    pairs = list(taken)
    units = [unit for unit, _ in pairs]
    events = {event.pk: event for event in _events(units)}
    questions = read_questions(run.pack_id, (unit.question for unit in units if unit.question))
    searches = _results(run, units, of=KindChoice.ANSWER, wanted=KindChoice.SEARCH)
    answers = _results(run, units, of=KindChoice.JUDGE, wanted=KindChoice.ANSWER)
    works = []
    for unit, attempt in pairs:
        event = events[unit.event_id]
        read = event.read()
        if read.add is not None:
            works.append(Work(unit, attempt, unit.lane.sample, event.position, add=read.add))
            continue
        question = questions[unit.question]
        works.append(
            Work(
                unit, attempt, unit.lane.sample, event.position, question=question,
                gold=gold_of(_ask(read.ask), question), items=_items(searches.get(unit.ask)),
                answer=_answer(answers.get(unit.ask)),
            )
        )  # fmt: skip
    return works


def _events(units: list[Unit]) -> Iterable[PackEvent]:
    return PackEvent.objects.filter(pk__in={unit.event_id for unit in units})


def _results(run: Run, units: list[Unit], *, of: str, wanted: str) -> dict[str, Result]:
    asks = [unit.ask for unit in units if unit.kind == of]
    if not asks:
        return {}
    return {result.ask: result for result in Result.objects.filter(run=run, kind=wanted, ask__in=asks)}


def _ask(ask: Ask | None) -> Ask:
    if ask is None:
        raise ValueError("an ask's event holds no ask")
    return ask


def _items(result: Result | None) -> tuple[MemoryItem, ...]:
    if result is None or not result.body:
        return ()
    return tuple(MemoryItem(**item) for item in orjson.loads(bodies.get(result.body)))


def _answer(result: Result | None) -> str:
    return "" if result is None else str(result.data["answer"])
