from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.types import Question, Sample
from evaluations.engine.arms import FullTextSearch, NoMemory, Oracle, oracle_evidence
from evaluations.engine.naming import user_id
from evaluations.engine.steps import add_request, search_request
from evaluations.engine.types import AddRequest, Exchange, MemoryService, SearchRequest

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "My heron is called Bo.", "timestamp": 1_683_540_000_000},
    {"role": "assistant", "content": "A fine name."},
]
SAMPLE = Sample.model_validate(
    {"id": "s1", "dataset": "d", "events": [{"add": {"session": "one", "messages": MESSAGES}}]}
)


def question(query: Any = "What is the heron called?", evidence: tuple[str, ...] = ("one:1",)) -> Question:
    return Question.model_validate(
        {
            "id": "q1",
            "sample": "s1",
            "dataset": "d",
            "capability": "A",
            "query": query,
            "scorer": "exact",
            "gold": "Bo",
            "evidence": evidence,
        }
    )


def added(user: str = "user-s1") -> AddRequest:
    return AddRequest("r1", user, "one", MESSAGES)


def asked(user: str = "user-s1", query: Any = "What is the heron called?") -> SearchRequest:
    return SearchRequest(query, user)


def drive(service: MemoryService, play: Callable[[MemoryService], Awaitable[Exchange]]) -> Exchange:
    async def both() -> Exchange:
        try:
            return await play(service)
        finally:
            await service.aclose()

    return asyncio.run(both())


async def add_and_search(service: MemoryService) -> Exchange:
    assert (await service.add(added())).failure is None
    return await service.search(asked())


def oracle(*questions: Question) -> Oracle:
    return Oracle(
        evidence=oracle_evidence(
            samples=[SAMPLE], questions=questions, user_of=lambda sample: f"user-{sample}"
        )
    )


def test_no_memory_finds_nothing() -> None:
    assert drive(NoMemory(), add_and_search).items == ()


def test_full_text_search_finds_what_was_added() -> None:
    items = drive(FullTextSearch(), add_and_search).items
    assert items[0].content == "My heron is called Bo."
    assert items[0].created_at == "2023-05-08T10:00:00Z"


def test_full_text_search_replays_and_refuses_like_the_service() -> None:
    async def play(service: MemoryService) -> Exchange:
        for _ in range(2):
            assert (await service.add(added())).failure is None
        return await service.add(added(user="other"))

    failure = drive(FullTextSearch(), play).failure
    assert failure is not None
    assert (failure.code, failure.status) == ("CONFLICT", 409)


def test_the_oracle_finds_the_evidence_and_nothing_else() -> None:
    items = drive(oracle(question()), add_and_search).items
    assert [(item.content, item.created_at) for item in items] == [
        ("My heron is called Bo.", "2023-05-08T10:00:00Z")
    ]


def test_the_oracle_knows_only_its_own_user() -> None:
    assert drive(oracle(question()), lambda service: service.search(asked(user="other"))).items == ()


def test_questions_with_the_same_words_share_their_evidence_once() -> None:
    arm = oracle(question(), question(evidence=("one:1", "one:2")))
    assert [item.content for item in drive(arm, add_and_search).items] == [
        "My heron is called Bo.",
        "A fine name.",
    ]


def test_a_query_of_parts_finds_its_evidence() -> None:
    parts = [{"type": "text", "text": "Who is this?"}]

    async def play(service: MemoryService) -> Exchange:
        assert (await service.add(added())).failure is None
        return await service.search(asked(query=parts))

    assert len(drive(oracle(question(query=parts)), play).items) == 1


def test_evidence_of_parts_is_found_as_it_was_sent() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    parts = [{"type": "text", "text": "This is Bo."}, picture]
    add = {"session": "one", "messages": [{"role": "user", "content": parts}]}
    sample = Sample.model_validate({"id": "s1", "dataset": "d", "events": [{"add": add}]})
    secret = b"secret"
    evidence = oracle_evidence(
        samples=[sample], questions=[question()], user_of=lambda name: user_id(secret, name)
    )

    async def play(service: MemoryService) -> Exchange:
        assert sample.events[0].add is not None
        await service.add(add_request(sample.events[0].add, secret=secret, sample="s1", event=0))
        return await service.search(search_request(question(), secret=secret, sample="s1"))

    assert [item.content for item in drive(Oracle(evidence=evidence), play).items] == [parts]


def test_the_oracle_does_not_find_what_has_not_been_added_yet() -> None:
    async def play(service: MemoryService) -> Exchange:
        await service.add(AddRequest("r1", "user-s1", "one", MESSAGES[1:]))
        return await service.search(asked())

    arm = oracle(question(evidence=("one:1", "one:2")))
    assert [item.content for item in drive(arm, play).items] == ["A fine name."]


def test_what_another_user_added_is_not_found() -> None:
    async def play(service: MemoryService) -> Exchange:
        await service.add(added(user="other"))
        return await service.search(asked())

    assert drive(oracle(question()), play).items == ()


def test_an_arms_exchange_is_like_a_services() -> None:
    exchange = drive(FullTextSearch(), add_and_search)
    assert exchange.status == 200
    assert b'"query":"What is the heron called?"' in exchange.request_body
    assert exchange.timing.latency is not None
