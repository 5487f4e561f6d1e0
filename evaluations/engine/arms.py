"""Control arms: memory services in process, run like an entrant, shown as unranked baselines.

No memory < full-text search < oracle, or something is wrong with the pack, the models or the platform.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from aml.lib.clock import Clock, SystemClock
from benchmarks.packs.files import evidence_messages
from benchmarks.types import Message, Question, Sample
from evaluations.engine.errors import Code, failure
from evaluations.engine.types import (
    AddRequest,
    Exchange,
    Failure,
    MemoryItem,
    Operation,
    SearchRequest,
    Timing,
)
from evaluations.reference.index import event_time
from evaluations.reference.store import Content, Hit, Outcome, Store, plain_text

Evidence = Mapping[tuple[str, str], Sequence[MemoryItem]]
UserOf = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Started:
    """One call under way; ``done`` makes its exchange."""

    clock: Clock
    arm: str
    operation: Operation
    request: dict[str, Any]
    at: float
    began: float

    def done(self, *, items: Sequence[MemoryItem] = (), failed: Failure | None = None) -> Exchange:
        reply = {"data": [_item_json(item) for item in items]} if self.operation is Operation.SEARCH else {}
        body = orjson.dumps(reply)
        latency = self.clock.monotonic() - self.began
        return Exchange(
            operation=self.operation,
            method="POST",
            url=f"arm:{self.arm}/{self.operation}",
            started_at=self.at,
            timing=Timing(first_byte=latency, latency=latency),
            request_headers=(),
            request_body=orjson.dumps(self.request),
            status=200 if failed is None else failed.status,
            response_body=body,
            response_size=len(body),
            failure=failed,
            items=tuple(items),
        )


def _item_json(item: MemoryItem) -> dict[str, Any]:
    full = {"id": item.id, "content": item.content, "score": item.score, "created_at": item.created_at}
    return {name: value for name, value in full.items() if value is not None}


@dataclass(slots=True)
class NoMemory:
    """Takes everything and finds nothing: what the Answer model knows by itself."""

    clock: Clock = field(default_factory=SystemClock)
    name: str = "no-memory"

    async def add(self, request: AddRequest) -> Exchange:
        return self._start(Operation.ADD, _add_json(request)).done()

    async def search(self, request: SearchRequest) -> Exchange:
        return self._start(Operation.SEARCH, _search_json(request)).done()

    async def aclose(self) -> None:
        return None

    def _start(self, operation: Operation, request: dict[str, Any]) -> _Started:
        return _Started(self.clock, self.name, operation, request, self.clock.now(), self.clock.monotonic())


@dataclass(slots=True)
class Oracle(NoMemory):
    """Finds exactly the messages that a question's key names as its evidence, for its own user only.

    Of those, only what has been added before: between Adds it knows no more than an entrant could.
    """

    evidence: Evidence = field(default_factory=dict)
    name: str = "oracle"
    _added: set[tuple[str, str]] = field(default_factory=set)

    def remember(self, user: str, messages: Iterable[Message]) -> None:
        """Takes messages of the pack as added before, by a process that has ended."""
        self._added.update((user, _query_key(_content(message.content))) for message in messages)

    async def add(self, request: AddRequest) -> Exchange:
        self._added.update((request.user_id, _query_key(message["content"])) for message in request.messages)
        return await NoMemory.add(self, request)

    async def search(self, request: SearchRequest) -> Exchange:
        known = self.evidence.get((request.user_id, _query_key(request.query)), ())
        items = [item for item in known if (request.user_id, _query_key(item.content)) in self._added]
        return self._start(Operation.SEARCH, _search_json(request)).done(items=items[: request.top_k])


class FullTextSearch(NoMemory):
    """The reference memory service without HTTP; ``path`` None keeps it in a temporary file."""

    def __init__(self, path: Path | None = None, *, clock: Clock | None = None) -> None:
        super().__init__(clock=clock or SystemClock(), name="full-text-search")
        self._store = Store(path)

    async def add(self, request: AddRequest) -> Exchange:
        started = self._start(Operation.ADD, _add_json(request))
        outcome = await self._store.add(
            request_id=request.request_id,
            user_id=request.user_id,
            session_id=request.session_id,
            messages=request.messages,
        )
        return started.done(failed=_conflict() if outcome is Outcome.CONFLICT else None)

    async def search(self, request: SearchRequest) -> Exchange:
        started = self._start(Operation.SEARCH, _search_json(request))
        hits = await self._store.search(
            query=plain_text(request.query),
            user_id=request.user_id,
            top_k=request.top_k,
            options=request.options or (),
        )
        return started.done(items=[_item(hit) for hit in hits])

    async def aclose(self) -> None:
        self._store.close()


def _conflict() -> Failure:
    return failure(
        Code.CONFLICT, sentence="The request_id came with another body before.", retryable=False, status=409
    )


def _item(hit: Hit) -> MemoryItem:
    return MemoryItem(hit.id, hit.content, hit.score, hit.created_at)


def _add_json(request: AddRequest) -> dict[str, Any]:
    return {
        "request_id": request.request_id,
        "user_id": request.user_id,
        "session_id": request.session_id,
        "messages": [dict(message) for message in request.messages],
    }


def _search_json(request: SearchRequest) -> dict[str, Any]:
    body = {"query": request.query, "user_id": request.user_id, "top_k": request.top_k}
    return body if request.options is None else body | {"options": list(request.options)}


def oracle_evidence(
    *, samples: Iterable[Sample], questions: Iterable[Question], user_of: UserOf
) -> dict[tuple[str, str], list[MemoryItem]]:
    """What ``Oracle`` finds: evidence by user and query.

    ``user_of`` gives a sample's ``user_id`` as the run sends it. Questions of one sample with the same words
    share their evidence.
    """
    by_id = {sample.id: sample for sample in samples}
    found: dict[tuple[str, str], list[Message]] = {}
    for question in questions:
        sample = by_id.get(question.sample)
        if sample is not None:
            key = user_of(sample.id), _query_key(_content(question.query))
            found.setdefault(key, []).extend(evidence_messages(sample, question))
    return {key: _evidence_items(messages) for key, messages in found.items()}


def _evidence_items(messages: Iterable[Message]) -> list[MemoryItem]:
    return [
        MemoryItem(f"evidence-{number}", _content(message.content), created_at=_created_at(message))
        for number, message in enumerate(dict.fromkeys(messages), start=1)
    ]


def _content(content: Any) -> Content:
    """Pack content as it travels: a string, or plain JSON parts."""
    if isinstance(content, str):
        return content
    return [part.model_dump(mode="json") for part in content]


def _query_key(query: Content | Sequence[Mapping[str, Any]]) -> str:
    return query if isinstance(query, str) else orjson.dumps(query, option=orjson.OPT_SORT_KEYS).decode()


def _created_at(message: Message) -> str | None:
    moment: dt.datetime | None = event_time(message.timestamp)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None
