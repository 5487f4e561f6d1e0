"""One unit, executed: what the command line and the platform share.

Requests are made from pack and secret alone, so that a retry, a resume or another process sends the
same id with the same body. Nothing here retries or stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.types import Add, Ask, Message, Question, Score
from evaluations.engine.answering import AnswerOutcome, answer_question, call_nonce
from evaluations.engine.judging import JudgeOutcome, judge_answer
from evaluations.engine.naming import request_id, session_id, user_id
from evaluations.engine.types import (
    AddRequest,
    AskScore,
    ChatModel,
    Exchange,
    Fault,
    MemoryItem,
    MemoryService,
    SearchRequest,
)


def add_request(add: Add, *, secret: bytes, sample: str, event: int) -> AddRequest:
    """The request of the Add at index ``event`` of the sample's events."""
    return AddRequest(
        request_id=request_id(secret, sample, event),
        user_id=user_id(secret, sample),
        session_id=session_id(secret, sample, add.session),
        messages=tuple(_message(message) for message in add.messages),
    )


def search_request(question: Question, *, secret: bytes, sample: str, top_k: int = 100) -> SearchRequest:
    return SearchRequest(
        query=_content(question.query),
        user_id=user_id(secret, sample),
        top_k=top_k,
        options=question.option_texts(),
    )


def gold_of(ask: Ask, question: Question) -> Any:
    """The ask's own gold where it has one: it may change over time."""
    return question.gold if ask.gold is None else ask.gold


def zero_by_failure(ask: str, *, question: Question, code: str) -> AskScore:
    """The ask's Search, or an Add before it, failed for good: 0 by the participant's failure."""
    return _ask_score(ask, question, value=0.0, reason=code, failed_by=Fault.PARTICIPANT)


def unscored(ask: str, *, question: Question, reason: str) -> AskScore:
    """Open, or never to be settled by a model: counted, and neither right nor wrong."""
    return _ask_score(ask, question, value=None, reason=reason)


def scored(ask: str, *, question: Question, score: Score) -> AskScore:
    return _ask_score(ask, question, value=score.value, reason=score.reason)


@dataclass(frozen=True, slots=True)
class UnitExecutor:
    """Executes units against one service and two models.

    ``budget`` is the answer model's input budget in tokens. Exchanges and outcomes carry their own
    failures; nothing is raised for what a service or a provider does.
    """

    memory: MemoryService
    answerer: ChatModel
    judge_model: ChatModel
    answer_template: str
    judge_template: str
    budget: int
    secret: bytes
    top_k: int = 100

    async def add(self, add: Add, *, sample: str, event: int) -> Exchange:
        return await self.memory.add(add_request(add, secret=self.secret, sample=sample, event=event))

    async def search(self, question: Question, *, sample: str) -> Exchange:
        request = search_request(question, secret=self.secret, sample=sample, top_k=self.top_k)
        return await self.memory.search(request)

    async def answer(self, question: Question, *, ask: str, items: Sequence[MemoryItem]) -> AnswerOutcome:
        return await answer_question(
            model=self.answerer,
            template=self.answer_template,
            question=question,
            items=items,
            budget=self.budget,
            nonce=call_nonce(self.secret, "answer", ask),
        )

    async def judge(self, question: Question, *, ask: str, gold: Any, answer: str) -> JudgeOutcome:
        return await judge_answer(
            model=self.judge_model,
            template=self.judge_template,
            question=question,
            gold=gold,
            answer=answer,
            nonce=call_nonce(self.secret, "judge", ask),
        )


def _ask_score(
    ask: str, question: Question, *, value: float | None, reason: str | None, failed_by: Fault | None = None
) -> AskScore:
    return AskScore(
        ask=ask,
        question=question.id,
        sample=question.sample,
        dataset=question.dataset,
        capability=question.capability,
        value=value,
        reason=reason,
        failed_by=failed_by,
    )


def _message(message: Message) -> dict[str, Any]:
    """Fields without a value are left out, never null (contract.md)."""
    sent: dict[str, Any] = {"role": message.role, "content": _content(message.content)}
    if message.timestamp is not None:
        sent["timestamp"] = message.timestamp
    return sent


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [part.model_dump(mode="json") for part in content]
