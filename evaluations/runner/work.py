"""What a claimed unit needs to be executed, read in the database's thread; and what comes back from it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson

from aml.web import bodies
from benchmarks.models import PackEvent, read_questions
from benchmarks.types import Add, Question
from evaluations.engine.answering import AnswerOutcome
from evaluations.engine.errors import Code, failure
from evaluations.engine.judging import JudgeOutcome
from evaluations.engine.steps import gold_of
from evaluations.engine.types import Exchange, Failure, MemoryItem
from evaluations.models import Attempt, Result, Run, Unit
from evaluations.models.ledger import KindChoice

log = logging.getLogger(__name__)
T = TypeVar("T")


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
    unreadable: bool = False  # its payload is missing or damaged: our fault, and no other unit's trouble


@dataclass(frozen=True, slots=True)
class Done:
    """A work and its outcome; exactly one of the outcomes is set."""

    work: Work
    exchange: Exchange | None = None
    answer: AnswerOutcome | None = None
    verdict: JudgeOutcome | None = None
    fault: Failure | None = None  # ours: something broke around the call


def broken() -> Failure:
    sentence = "Something broke on the platform's side. The call is made again by itself."
    return failure(Code.PLATFORM_ERROR, sentence=sentence, retryable=True)


def load(run: Run, taken: Iterable[tuple[Unit, Attempt]]) -> list[Work]:
    """Payloads of claimed units, with one query a table."""
    pairs = list(taken)
    units = [unit for unit, _ in pairs]
    events = {event.pk: event for event in _events(units)}
    questions = read_questions(run.pack_id, (unit.question for unit in units if unit.question))
    searches = _results(run, units, of=KindChoice.ANSWER, wanted=KindChoice.SEARCH)
    answers = _results(run, units, of=KindChoice.JUDGE, wanted=KindChoice.ANSWER)
    return [
        _work(
            unit, attempt, event=events.get(unit.event_id), question=questions.get(unit.question),
            search=searches.get(unit.ask), answer=answers.get(unit.ask),
        )
        for unit, attempt in pairs
    ]  # fmt: skip


def _work(
    unit: Unit,
    attempt: Attempt,
    *,
    event: PackEvent | None,
    question: Question | None,
    search: Result | None,
    answer: Result | None,
) -> Work:
    position = event.position if event else 0
    try:
        read = _present(event).read()
        if read.add is not None:
            return Work(unit, attempt, unit.lane.sample, position, add=read.add)
        question = _present(question)
        return Work(
            unit, attempt, unit.lane.sample, position, question=question, items=_items(search),
            gold=gold_of(_present(read.ask), question), answer=_answer(answer),
        )  # fmt: skip
    except (LookupError, ValueError, TypeError):
        log.exception("the payload of unit %s can't be read", unit.pk)
        return Work(unit, attempt, unit.lane.sample, position, unreadable=True)


def _present(value: T | None) -> T:
    if value is None:
        raise LookupError("the pack has no such row")
    return value


def _events(units: list[Unit]) -> Iterable[PackEvent]:
    return PackEvent.objects.filter(pk__in={unit.event_id for unit in units})


def _results(run: Run, units: list[Unit], *, of: str, wanted: str) -> dict[str, Result]:
    asks = [unit.ask for unit in units if unit.kind == of]
    if not asks:
        return {}
    return {result.ask: result for result in Result.objects.filter(run=run, kind=wanted, ask__in=asks)}


def _items(result: Result | None) -> tuple[MemoryItem, ...]:
    if result is None or not result.body:
        return ()
    return tuple(MemoryItem(**item) for item in orjson.loads(bodies.get(result.body)))


def _answer(result: Result | None) -> str:
    return "" if result is None else str(result.data["answer"])
