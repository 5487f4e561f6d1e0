"""Drives a pack through a service and two models, on one machine and without a database.

One loop claims what the flow control allows and starts it; a finished unit is one journal record; a
retry goes back into the ledger with the time when it is due, so that waiting holds no slot.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import orjson

from aml.lib.clock import Clock, SystemClock
from benchmarks.types import Ask, Question
from evaluations.engine import flow, retry
from evaluations.engine.answering import AnswerOutcome
from evaluations.engine.contract import Limits
from evaluations.engine.journal import Journal, Record
from evaluations.engine.judging import JudgeOutcome
from evaluations.engine.ledger import Job, Ledger
from evaluations.engine.records import (
    ANSWERED,
    ANSWERED_TRIES,
    DONE,
    answer_record,
    exchange_record,
    failure_record,
    judge_record,
)
from evaluations.engine.scoring import needs_judge
from evaluations.engine.spool import SampleSpool
from evaluations.engine.steps import UnitExecutor, gold_of
from evaluations.engine.types import Exchange, Failure, Fault, MemoryItem, Operation, UnitKind

OPERATION = {UnitKind.ADD: Operation.ADD, UnitKind.SEARCH: Operation.SEARCH}
IDLE_SECONDS = 1.0  # the loop looks again at least this often
LONGEST_MODEL_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class RunSettings:
    concurrency_add: int = 8
    concurrency_search: int = 16
    concurrency_models: int = 8
    model_attempts: int = 20  # then the ask stays open, for a later ``--resume``
    answered_attempts: int = ANSWERED_TRIES  # for failures of ``records.ANSWERED``; then the ask is unscored
    limits: Limits = field(default_factory=lambda: Limits())


def _jitter() -> float:
    return random.SystemRandom().random()


@dataclass(slots=True)
class PackRun:
    """One pass over everything that is open. Build it anew to resume."""

    executor: UnitExecutor
    ledger: Ledger
    spool: SampleSpool
    journal: Journal
    questions: Mapping[str, Question]
    settings: RunSettings = field(default_factory=RunSettings)
    clock: Clock = field(default_factory=SystemClock)
    jitter: Callable[[], float] = _jitter
    stopped: str | None = None  # why claiming ended before everything was done
    newest_failure: Failure | None = None  # for whoever watches
    _flow: flow.FlowState = field(init=False)
    _calls: dict[int, tuple[UnitKind, float]] = field(default_factory=dict)  # in flight: kind, begun at
    _models: int = 0
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._flow = flow.start(
            add=self.settings.concurrency_add,
            search=self.settings.concurrency_search,
            limits=self.settings.limits,
            now=self._now(),
        )

    async def run(self) -> None:
        """Returns when nothing is left to do, or when ``stopped`` says why not."""
        self.ledger.start()
        try:
            async with asyncio.TaskGroup() as tasks:
                while self.stopped is None:
                    self._wake.clear()
                    self._claim(tasks)
                    if self.ledger.finished:
                        break
                    await self._pause()
        finally:
            self.journal.sync()

    @property
    def paused(self) -> bool:
        """Whether the service has been failing for so long that a person should look."""
        return flow.outage(self._flow, now=self._now(), limits=self.settings.limits)

    @property
    def waiting_for_service(self) -> bool:
        return self._flow.breaker_open

    def _claim(self, tasks: asyncio.TaskGroup) -> None:
        if flow.outage_over(self._flow, now=self._now(), limits=self.settings.limits):
            self.stopped = "the service has been failing for too long"
            return
        if self._flow.breaker is not None:
            self._probe(tasks, opened_at=self._flow.breaker.opened_at)
        else:
            for kind in OPERATION:
                self._claim_calls(tasks, kind=kind)
        for kind in (UnitKind.JUDGE, UnitKind.ANSWER):
            while self._models < self.settings.concurrency_models:
                job = self.ledger.take(kind, now=self._now())
                if job is None:
                    break
                self._models += 1
                tasks.create_task(self._model_call(job))

    def _claim_calls(self, tasks: asyncio.TaskGroup, *, kind: UnitKind) -> None:
        in_flight = sum(begun is kind for begun, _ in self._calls.values())
        allowed = flow.allowance(self._flow, operation=OPERATION[kind], in_flight=in_flight, now=self._now())
        for _ in range(allowed):
            job = self.ledger.take(kind, now=self._now())
            if job is None:
                return
            self._start_call(tasks, job=job)

    def _probe(self, tasks: asyncio.TaskGroup, *, opened_at: float) -> None:
        in_flight = sum(began >= opened_at for _, began in self._calls.values())
        if flow.allowance(self._flow, operation=Operation.ADD, in_flight=in_flight, now=self._now()):
            job = self.ledger.take_probe(now=self._now())
            if job is not None:
                self._start_call(tasks, job=job)

    def _start_call(self, tasks: asyncio.TaskGroup, *, job: Job) -> None:
        self._calls[id(job)] = (job.kind, self._now())
        tasks.create_task(self._call(job))

    async def _pause(self) -> None:
        times = (self.ledger.next_due(), flow.next_probe_at(self._flow))
        soonest = min((time for time in times if time is not None), default=self._now() + IDLE_SECONDS)
        # A moment at least, or a due job that no window lets in would make this a busy loop.
        sleep = asyncio.ensure_future(self.clock.sleep(min(max(soonest - self._now(), 0.005), IDLE_SECONDS)))
        wake = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait((sleep, wake), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            wake.cancel()

    # Calls to the service

    async def _call(self, job: Job) -> None:
        job.attempts += 1
        began = self._now()
        try:
            exchange = await self._exchange(job)
        finally:
            del self._calls[id(job)]
            self._wake.set()
        now = self._now()
        self._settle_call(job, exchange=exchange, now=now)
        self._flow = flow.on_result(
            self._flow,
            operation=OPERATION[job.kind],
            ok=exchange.failure is None,
            retryable=exchange.failure is not None and exchange.failure.retryable,
            began_at=began,
            now=now,
            limits=self.settings.limits,
        )

    async def _exchange(self, job: Job) -> Exchange:
        sample = job.lane.sample
        if job.kind is UnitKind.SEARCH:
            return await self.executor.search(self._question(job), sample=sample)
        add = self.spool.event(sample, job.unit.event).add
        if add is None:
            raise AssertionError("an add unit names an event without an Add")
        return await self.executor.add(add, sample=sample, event=job.unit.event)

    def _settle_call(self, job: Job, *, exchange: Exchange, now: float) -> None:
        if exchange.failure is None:
            found = self._reply(exchange) if job.kind is UnitKind.SEARCH else {}
            self._finish(job, {"state": DONE, **exchange_record(exchange), **found})
            return
        self.newest_failure = exchange.failure
        decision = retry.decide(
            history=job.history or retry.CallHistory(),
            failure=exchange.failure,
            operation=OPERATION[job.kind],
            now=now,
            run_successes=self._flow.successes,
            limits=self.settings.limits,
            jitter=self.jitter(),
        )
        if isinstance(decision, retry.Wait):
            job.history = decision.history
            self.ledger.again(job, due=now + decision.seconds)
        elif exchange.failure.fault is Fault.PARTICIPANT:
            record = exchange_record(exchange) | failure_record(exchange.failure)
            self._finish(job, {**record, "stop": decision.reason})
        else:
            self.ledger.leave_open(job)

    def _reply(self, exchange: Exchange) -> Record:
        ref = self.journal.store(orjson.dumps(exchange.items))
        return {"body": [ref.offset, ref.length], "items": len(exchange.items)}

    # Calls to the models

    async def _model_call(self, job: Job) -> None:
        job.attempts += 1
        try:
            outcome = await (self._answer(job) if job.kind is UnitKind.ANSWER else self._judge(job))
        finally:
            self._models -= 1
            self._wake.set()
        if outcome.failure is None:
            self._finish(job, {"state": DONE, **self._outcome_record(job, outcome)})
            return
        self._settle_model_failure(job, outcome.failure)

    def _settle_model_failure(self, job: Job, failure: Failure) -> None:
        self.newest_failure = failure
        settled = failure.code in ANSWERED and job.attempts >= self.settings.answered_attempts
        if settled or not failure.retryable:
            self._finish(job, failure_record(failure))
        elif job.attempts < self.settings.model_attempts:
            self.ledger.again(job, due=self._now() + self._model_wait(job.attempts, failure))
        else:
            self.ledger.leave_open(job)

    async def _answer(self, job: Job) -> AnswerOutcome:
        reply = self.ledger.asks[str(job.unit.ask)].reply
        if reply is None:
            raise AssertionError("an answer without a Search reply")
        items = [MemoryItem(**item) for item in orjson.loads(self.journal.load(reply))]
        return await self.executor.answer(self._question(job), ask=str(job.unit.ask), items=items)

    async def _judge(self, job: Job) -> JudgeOutcome:
        question = self._question(job)
        answer = self.ledger.asks[str(job.unit.ask)].answer
        return await self.executor.judge(
            question,
            ask=str(job.unit.ask),
            gold=gold_of(self._ask(job), question),
            answer=answer["answer"] if answer else "",
        )

    def _model_wait(self, attempts: int, failure: Failure) -> float:
        highest = min(LONGEST_MODEL_WAIT, 0.5 * 2.0 ** min(attempts, 10))
        return max(failure.retry_after or 0.0, 0.5 + self.jitter() * highest)

    def _outcome_record(self, job: Job, outcome: AnswerOutcome | JudgeOutcome) -> Record:
        if isinstance(outcome, JudgeOutcome):
            return judge_record(outcome)
        question = self._question(job)
        gold = gold_of(self._ask(job), question)
        wanted = needs_judge(question, gold=gold, answer=outcome.answer)
        return answer_record(outcome, needs_judge=wanted)

    # Small things

    def _finish(self, job: Job, record: Record) -> None:
        named: Record = {
            "lane": job.lane.sample,
            "position": job.unit.position,
            "kind": job.kind,
            "event": job.unit.event,
            "attempts": job.attempts,
            "at": round(self.clock.now(), 3),
        }
        if job.unit.ask is not None:
            named |= {"ask": job.unit.ask, "question": job.unit.question}
        record = named | record
        self.journal.append(record)
        self.ledger.finish(job, record)

    def _question(self, job: Job) -> Question:
        return self.questions[str(job.unit.question)]

    def _ask(self, job: Job) -> Ask:
        ask = self.spool.event(job.lane.sample, job.unit.event).ask
        if ask is None:
            raise AssertionError("a unit of an ask names an event without one")
        return ask

    def _now(self) -> float:
        return self.clock.monotonic()
