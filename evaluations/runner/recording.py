"""From an outcome to what the ledger records: result data, score, bodies. Runs before the transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from aml.web import bodies
from benchmarks.types import Question, Score, Verdict
from evaluations.engine import records
from evaluations.engine.exchange_json import exchange_json
from evaluations.engine.scoring import needs_judge, score_answer
from evaluations.engine.types import Failure
from evaluations.records.completion import Finished
from evaluations.runner.work import Done


def record(batch: Sequence[Done], *, whole: bool) -> list[Finished]:
    """``Finished`` for each outcome, with its bodies stored: the rows come after, so none names a missing body."""
    blobs = [_blobs(done, whole=whole) for done in batch]
    stored = iter(bodies.put_many([blob for pair in blobs for blob in pair if blob is not None]))
    finished = []
    for done, (items, exchange) in zip(batch, blobs, strict=True):
        body = "" if items is None else next(stored)
        exchange_body = "" if exchange is None else next(stored)
        finished.append(_finished(done, body=body, exchange_body=exchange_body))
    return finished


def _blobs(done: Done, *, whole: bool) -> tuple[bytes | None, bytes | None]:
    """What the Answer model will see of a Search; and the ``whole`` exchange where a trace shows content."""
    exchange = done.exchange
    if exchange is None:
        return None, None
    items = orjson.dumps(exchange.items) if exchange.failure is None and done.work.question else None
    return items, orjson.dumps(exchange_json(exchange)) if whole else None


def _finished(done: Done, *, body: str, exchange_body: str) -> Finished:
    work = done.work
    common: dict[str, Any] = {
        "unit": work.unit, "attempt": work.attempt, "body": body, "exchange_body": exchange_body,
        "exchange": done.exchange, "failure": _failure(done),
    }  # fmt: skip
    if common["failure"] is not None:
        return Finished(**common)
    if done.answer is not None and work.question is not None:
        return Finished(**common, **_answered(done, work.question))
    if done.verdict is not None and work.question is not None:
        return Finished(**common, **_judged(done, work.question))
    exchange = done.exchange
    data = {"items": len(exchange.items), **records.exchange_record(exchange)} if exchange else {}
    return Finished(**common, data=data)


def _failure(done: Done) -> Failure | None:
    outcome = done.exchange or done.answer or done.verdict
    return done.fault if outcome is None else outcome.failure


def _answered(done: Done, question: Question) -> dict[str, Any]:
    outcome = done.answer
    if outcome is None:
        raise ValueError("no answer to record")
    judge = needs_judge(question, gold=done.work.gold, answer=outcome.answer)
    fields: dict[str, Any] = {
        "data": records.answer_record(outcome, needs_judge=judge),
        "needs_judge": judge,
        "latency": outcome.completion.latency,
    }
    if judge:
        return fields
    return fields | _scored(score_answer(question, gold=done.work.gold, answer=outcome.answer, verdict=None))


def _judged(done: Done, question: Question) -> dict[str, Any]:
    outcome = done.verdict
    verdict: Verdict | None = outcome.verdict if outcome else None
    if outcome is None or verdict is None:
        raise ValueError("no verdict to record")
    score = score_answer(question, gold=done.work.gold, answer=done.work.answer, verdict=verdict)
    return {
        "data": records.judge_record(outcome),
        "latency": outcome.completion.latency,
        **_scored(score),
    }


def _scored(score: Score) -> dict[str, Any]:
    return {"score": score.value, "reason": (score.reason or "")[:80]}
