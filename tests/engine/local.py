"""A memory service and models in this process, for tests of the run itself."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from aml.lib.canonical import sha256_hex
from benchmarks.types import Sample
from evaluations.engine.errors import Code, failure
from evaluations.engine.journal import Journal, read_journal
from evaluations.engine.ledger import Ledger
from evaluations.engine.results import ask_scores
from evaluations.engine.run import PackRun, RunSettings
from evaluations.engine.spool import SampleSpool
from evaluations.engine.steps import UnitExecutor
from evaluations.engine.types import (
    AddRequest,
    AskScore,
    Completion,
    Exchange,
    Failure,
    MemoryItem,
    ModelSettings,
    Operation,
    SearchRequest,
    Timing,
)
from tests.engine.samples import questions

Fail = Callable[[str, int], Failure | None]  # (operation, number of the call) -> how it fails


def unavailable() -> Failure:
    return failure(Code.SERVER_ERROR, sentence="503", retryable=True, status=503)


def refused() -> Failure:
    return failure(Code.REQUEST_INVALID, sentence="400", retryable=False, status=400)


@dataclass
class LocalMemory:
    """Returns everything it holds for the user. Fails as told, before anything is stored."""

    fail: Fail = lambda _operation, _number: None
    delay: float = 0.0
    stored: dict[str, dict[str, str]] = field(default_factory=dict)  # user -> request id -> text
    deliveries: Counter[str] = field(default_factory=Counter)
    bodies: dict[str, bytes] = field(default_factory=dict)
    busy: Counter[str] = field(default_factory=Counter)
    calls: int = 0

    async def add(self, request: AddRequest) -> Exchange:
        body = orjson.dumps(request)
        assert self.bodies.setdefault(request.request_id, body) == body
        self.deliveries[request.request_id] += 1
        self.busy[request.user_id] += 1
        assert self.busy[request.user_id] == 1, "two Adds of one user at once"
        failed = await self._wait("add")
        self.busy[request.user_id] -= 1
        if failed is None:
            text = " ".join(str(message["content"]) for message in request.messages)
            self.stored.setdefault(request.user_id, {})[request.request_id] = text
        return self._exchange(Operation.ADD, body, failed)

    async def search(self, request: SearchRequest) -> Exchange:
        assert not self.busy[request.user_id], "a Search while an Add of its user is in flight"
        failed = await self._wait("search")
        held = self.stored.get(request.user_id, {})
        items = tuple(MemoryItem(id=key, content=text) for key, text in held.items())
        return self._exchange(Operation.SEARCH, orjson.dumps(request), failed, items)

    async def aclose(self) -> None:
        return None

    async def _wait(self, operation: str) -> Failure | None:
        self.calls += 1
        failed = self.fail(operation, self.calls)
        await asyncio.sleep(self.delay)
        return failed

    @staticmethod
    def _exchange(
        operation: Operation, body: bytes, failed: Failure | None, items: tuple[MemoryItem, ...] = ()
    ) -> Exchange:
        return Exchange(
            operation=operation,
            method="POST",
            url="local",
            started_at=0.0,
            timing=Timing(latency=0.001),
            request_headers=(),
            request_body=body,
            status=failed.status if failed else 200,
            response_sha256=sha256_hex(orjson.dumps(items)),
            failure=failed,
            items=() if failed else items,
        )


@dataclass
class LocalModel:
    """Answers with the last ``blue<n>`` it is shown, judges by equality; fails as told."""

    fail: Fail = lambda _operation, _number: None
    settings: ModelSettings = field(default_factory=lambda: ModelSettings(name="aml-offline-test"))
    calls: int = 0

    async def complete(self, prompt: str) -> Completion:
        self.calls += 1
        failed = self.fail("model", self.calls)
        await asyncio.sleep(0)
        if failed is not None:
            return Completion(failure=failed)
        found = re.findall(r"blue\d+", prompt)
        return Completion(text=f"<answer>{found[-1] if found else 'unknown'}</answer>", model="local")

    async def aclose(self) -> None:
        return None


@dataclass
class FastClock:
    """Real waiting a thousand times shorter than asked for, so that back-off takes no time."""

    speed: float = 1000.0

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() * self.speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self.speed)


def run_locally(
    folder: Path,
    *samples: Sample,
    memory: LocalMemory,
    model: LocalModel | None = None,
    settings: RunSettings | None = None,
    scorer: str = "exact",
) -> tuple[PackRun, dict[str, AskScore]]:
    """One pass over the samples with a journal in ``folder``: the run, and the scores by ask."""
    return asyncio.run(
        _run(folder, samples, memory, model or LocalModel(), settings or RunSettings(), scorer)
    )


async def _run(
    folder: Path,
    samples: tuple[Sample, ...],
    memory: LocalMemory,
    model: LocalModel,
    settings: RunSettings,
    scorer: str,
) -> tuple[PackRun, dict[str, AskScore]]:
    asked = questions(*samples, scorer=scorer)
    executor = UnitExecutor(
        memory=memory,
        answerer=model,
        judge_model=model,
        answer_template="{memories} {question} {options} {format} {nonce}",
        judge_template="{question} {reference} {answer} {criteria} {grades} {nonce}",
        budget=10_000,
        secret=b"secret",
    )
    with closing(SampleSpool(samples)) as spool:
        ledger = Ledger(spool, judged=lambda _question: scorer.startswith("judge"))
        for record in read_journal(folder / "journal.jsonl"):
            ledger.apply(record)
        with closing(Journal(folder)) as journal:
            made = PackRun(
                executor, ledger, spool, journal, asked, settings, clock=FastClock(), jitter=lambda: 0.5
            )
            await made.run()
        return made, {score.ask: score for score, _ in ask_scores(ledger, spool=spool, questions=asked)}
