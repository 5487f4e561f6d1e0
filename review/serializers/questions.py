"""Private: question, gold, answer, verdict and score of each ask; memories of one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.db.models import QuerySet

from aml.web import bodies
from benchmarks.models import read_questions
from benchmarks.types import Question
from evaluations.engine.steps import gold_of
from evaluations.engine.types import AskScore
from evaluations.models import Result, Run, Unit
from evaluations.models.ledger import KindChoice
from evaluations.runner.scores import ask_scores


def asks(run: Run) -> QuerySet[Unit]:
    """One Search an ask, in the pack's order."""
    searches = Unit.objects.filter(run=run, kind=KindChoice.SEARCH)
    return searches.select_related("event", "lane").order_by("lane__position", "position")


def question_rows(run: Run, units: Sequence[Unit]) -> list[dict[str, Any]]:
    questions = read_questions(run.pack_id, (unit.question for unit in units))
    found = Result.objects.filter(run=run, ask__in=[unit.ask for unit in units])
    results = {(result.ask, result.kind): result for result in found}
    scores = {score.ask: score for score in ask_scores(run)}
    return [_row(unit, questions[unit.question], results, scores[unit.ask]) for unit in units]


def _row(
    unit: Unit, question: Question, results: dict[tuple[str, str], Result], score: AskScore
) -> dict[str, Any]:
    search = results.get((unit.ask, KindChoice.SEARCH))
    answer = results.get((unit.ask, KindChoice.ANSWER))
    verdict = results.get((unit.ask, KindChoice.JUDGE))
    ask = unit.event.read().ask
    return {
        "unit": unit,
        "query": _text(question.model_dump(mode="json")["query"]),
        "options": question.option_texts() or [],
        "capability": question.capability,
        "scorer": question.scorer,
        "gold": gold_text(gold_of(ask, question) if ask else question.gold),
        "answer": answer.data.get("answer", "") if answer else "",
        "grades": ", ".join(verdict.data.get("grades", [])) if verdict else "",
        "judge_reason": verdict.data.get("reason", "") if verdict else "",
        "score": score.value,
        "why": score.reason or "",
        "items": search.data.get("items", 0) if search else None,
    }


def gold_text(gold: Any) -> str:
    return gold if isinstance(gold, str) else orjson.dumps(gold).decode()


def memories(unit: Unit) -> list[dict[str, Any]] | None:
    """What the Search of this ask brought, as the Answer model saw it; None if the body is gone."""
    result = Result.objects.filter(unit=unit).first()
    if result is None or not result.body:
        return None
    try:
        items: list[dict[str, Any]] = orjson.loads(bodies.get(result.body))
    except bodies.MissingBody:
        return None
    return [{**item, "text": _text(item["content"])} for item in items]


def _text(content: str | Sequence[Mapping[str, Any]]) -> str:
    """Content as one text, media by their addresses."""
    if isinstance(content, str):
        return content
    return "\n".join(
        part["text"] if part["type"] == "text" else part[part["type"]]["url"] for part in content
    )
