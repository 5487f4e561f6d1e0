"""The driver: one asyncio loop that claims units of all runnable runs and executes them.

The database is touched in one thread of its own, turn by turn; calls run in the loop. A driver may be
killed at any point: what it held comes back when its claims end, and is sent again under the same ids.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from aml.lib.ids import public_id
from evaluations.engine.scoring import warm_up
from evaluations.models.ledger import MODEL_KINDS, SERVICE_KINDS
from evaluations.records import claims, heartbeats
from evaluations.runner import checks, finalise, survey
from evaluations.runner.holding import Held, Running
from evaluations.runner.reconcile import reconcile
from evaluations.runner.shells import Models, Shell, recipe
from evaluations.runner.survey import Candidate
from evaluations.runner.turns import Ask, Turn, turn
from evaluations.runner.work import Work

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

POLL = 0.25  # seconds between looks for work when nothing ends
BATCH = 8  # results that are flushed at once
LINGER = 0.01  # seconds that a smaller batch waits for company
RENEW = 10.0  # seconds between renewals of claims and the heartbeat
CHECKS_AT_ONCE = 4  # each bursts up to what its version declares
DRAIN = 30.0  # seconds that calls get to end when the driver must stop


class Driver:
    """``seconds`` is how long it claims; None until told to stop. ``smoke_only`` keeps it for Smokes."""

    def __init__(
        self,
        *,
        seconds: float | None = None,
        smoke_only: bool = False,
        on_handover: Callable[[], None] = lambda: None,
        chores: Sequence[Callable[[], object]] = (reconcile,),
        chores_every: float | None = None,
    ) -> None:
        self.token = f"d-{public_id()}"
        self._seconds = seconds
        self._smoke_only = smoke_only
        self._on_handover = on_handover
        self._chores = chores
        self._chores_every = settings.RECONCILE_SECONDS if chores_every is None else chores_every
        self._runs: dict[int, Running] = {}
        self._held = Held()  # claims that are renewed
        self._checks: set[int] = set()  # checks under way
        self._models = Models()
        self._tasks: set[asyncio.Task[None]] = set()
        self._database = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="chores")
        self._stopping = False
        self._claiming = True

    def stop(self) -> None:
        """Claim nothing more, give calls their time, return what is left. Safe from a signal handler."""
        self._stopping = True

    async def run(self) -> None:
        self._wake = asyncio.Event()
        await asyncio.get_running_loop().run_in_executor(self._beside, warm_up)
        ends = _now() + self._seconds if self._seconds is not None else None
        beating = [asyncio.create_task(self._beat()), asyncio.create_task(self._do_chores())]
        try:
            while not (self._stopping or (ends is not None and _now() >= ends)):
                await self._round(claiming=True)
                await self._pause()
            self._claiming = False
            await self._say_alive()  # before the successor looks whether one is wanted
            await self._db(self._on_handover)
            await self._drain()
        finally:
            for task in beating:
                task.cancel()
            await self._close()

    async def _round(self, *, claiming: bool) -> None:
        mine = [run_id for run_id, running in self._runs.items() if running.done or running.unsent]
        candidates = await self._survey(mine) if claiming else []
        by_id = {candidate.run_id: candidate for candidate in candidates}
        for run_id in dict.fromkeys([*by_id, *mine]):
            await self._turn(run_id, by_id.get(run_id))
        if claiming:
            await self._take_check()
        await self._forget_idle(by_id)

    async def _survey(self, mine: list[int]) -> list[Candidate]:
        found = await self._db(survey.candidates, smoke_only=self._smoke_only, also=mine)
        return found or []

    async def _turn(self, run_id: int, candidate: Candidate | None) -> None:
        running = await self._running(run_id, candidate)
        if running is None:
            return
        done, unsent = running.done, running.unsent
        running.done, running.unsent = [], []
        ask = Ask(
            token=self.token,
            done=done,
            unsent=[work.attempt for work in unsent],
            whole_exchanges=running.shell.is_smoke,
            service=self._service_room(running, candidate) if candidate else 0,
            models=self._model_room(running, candidate) if candidate else 0,
        )
        since = _now()
        result = await self._db(turn, run_id, ask)
        if result is None:  # the database was away: record the same again
            running.done[:0], running.unsent[:0] = done, unsent
            return
        self._held.drop([*(item.work for item in done), *unsent])
        self._accept(running, result, since=since)
        if result.all_final:
            await self._db(finalise.finish, run_id)

    def _room(self, running: Running, kinds: frozenset[str], share: int, budget: int) -> int:
        used = sum(other.held(kinds) for other in self._runs.values())
        return max(0, min(share - running.held(kinds), budget - used))

    def _service_room(self, running: Running, candidate: Candidate) -> int:
        budget = settings.DRIVER_BUDGET
        return self._room(running, SERVICE_KINDS, max(1, math.ceil(budget * candidate.share)), budget)

    def _model_room(self, running: Running, candidate: Candidate) -> int:
        return min(
            self._room(running, MODEL_KINDS, settings.MODEL_BUDGET, settings.MODEL_BUDGET),
            candidate.model_room,
        )

    def _accept(self, running: Running, result: Turn, *, since: float) -> None:
        running.caps = result.caps
        for work in result.works:
            self._held.take(work, since=since)
            running.queues.setdefault(work.unit.kind, deque()).append(work)
        fresh = {work.unit.pk for work in result.works}
        for kind in result.held_back if result.active else frozenset(running.queues):
            queue = running.queues.get(kind, deque())
            # A probe is what the breaker let through just now; everything else goes back unsent.
            running.unsent += [work for work in queue if work.unit.pk not in fresh]
            running.queues[kind] = deque(work for work in queue if work.unit.pk in fresh)
            running.caps[kind] = max(1, running.flying.get(kind, 0) + len(running.queues[kind]))
        self._fill(running)

    def _fill(self, running: Running) -> None:
        for kind, queue in running.queues.items():
            while queue and running.flying.get(kind, 0) < running.caps.get(kind, 0):
                work = queue.popleft()
                if not self._held.certain(work, now=_now()):
                    running.unsent.append(work)
                    continue
                running.flying[kind] = running.flying.get(kind, 0) + 1
                self._start(self._call(running, work))

    def _start(self, job: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(job)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _call(self, running: Running, work: Work) -> None:
        try:
            done = await running.shell.execute(work)
        finally:
            running.flying[work.unit.kind] -= 1
        running.done.append(done)
        if not self._stopping:
            self._fill(running)
        self._wake.set()

    async def _running(self, run_id: int, candidate: Candidate | None) -> Running | None:
        """The run's shell, built anew when its memory key was rotated."""
        running = self._runs.get(run_id)
        if candidate is None or (running and running.shell.key_set_at == candidate.key_set_at):
            return running
        made = await self._db(recipe, run_id)
        if made is None:
            return running
        shell = Shell(made, answerer=self._models.get(made.answer), judge=self._models.get(made.judge))
        if running is None:
            self._runs[run_id] = running = Running(shell=shell)
        else:
            running.retired.append(running.shell)  # calls in flight end on the old one
            running.shell = shell
        return running

    async def _take_check(self) -> None:
        if len(self._checks) >= CHECKS_AT_ONCE:
            return
        claimed = await self._db(checks.claim, token=self.token)
        if claimed is not None:
            self._checks.add(claimed.pk)
            self._start(self._check(claimed))

    async def _check(self, claimed: checks.ClaimedCheck) -> None:
        try:
            await checks.execute(claimed, db=self._db)
        finally:
            self._checks.discard(claimed.pk)

    async def _pause(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wake.wait(), POLL)
        self._wake.clear()
        if sum(len(running.done) for running in self._runs.values()) < BATCH:
            await asyncio.sleep(LINGER)

    async def _beat(self) -> None:
        while True:
            asked, since = self._held.units, _now()
            kept = await self._db(claims.renew, token=self.token, units=asked)
            if kept is not None:
                self._held.renewed(kept, asked=asked, since=since)
            await self._db(checks.renew, token=self.token, keys=list(self._checks))
            await self._say_alive()
            await asyncio.sleep(min(RENEW, settings.CLAIM_SECONDS / 3))

    async def _say_alive(self) -> None:
        await self._db(
            heartbeats.beat, name=self.token, flying=len(self._held), smoke_only=self._smoke_only,
            claiming=self._claiming,
        )  # fmt: skip

    async def _do_chores(self) -> None:
        """Reconcile from here too: where every worker process drives, nobody else is left to do it."""
        loop = asyncio.get_running_loop()
        while True:
            for chore in self._chores:
                await loop.run_in_executor(self._beside, _done_alone, chore)
            await asyncio.sleep(self._chores_every)

    async def _drain(self) -> None:
        """Unsent works go back at once; calls in flight get their time, longer if nobody waits for us."""
        for running in self._runs.values():
            running.unsent += [work for queue in running.queues.values() for work in queue]
            running.queues.clear()
        limit = _now() + (DRAIN if self._stopping else settings.CALL_SECONDS)
        while self._tasks and _now() < limit:
            await self._round(claiming=False)
            await self._pause()
            if self._stopping:
                limit = min(limit, _now() + DRAIN)
        await self._cancel_calls()
        await self._round(claiming=False)

    async def _cancel_calls(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _close(self) -> None:
        await self._cancel_calls()
        await self._db(claims.release, token=self.token)
        await self._db(checks.release, token=self.token)
        await self._db(heartbeats.gone, name=self.token)
        for running in self._runs.values():
            await running.aclose()
        await self._models.aclose()
        await asyncio.get_running_loop().run_in_executor(self._database, _disconnect)
        self._database.shutdown()
        self._beside.shutdown()

    async def _forget_idle(self, candidates: dict[int, Candidate]) -> None:
        for run_id in [key for key, running in self._runs.items() if running.idle and key not in candidates]:
            await self._runs.pop(run_id).aclose()

    async def _db(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """``function`` in the ledger's thread; None where the database or the function failed.

        A failure is logged and nothing else: the loop comes round again, and the ledger is unchanged.
        """
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._database, lambda: function(*args, **kwargs))
        except (OperationalError, InterfaceError) as error:
            log.warning("database away: %s", type(error).__name__)
            await loop.run_in_executor(self._database, _disconnect)
        except Exception:
            log.exception("the ledger's thread failed")
        await asyncio.sleep(1.0)
        return None


def _now() -> float:
    return asyncio.get_running_loop().time()


def _disconnect() -> None:
    # Looked up here, in the ledger's thread: connections belong to threads.
    connection.close()


def _done_alone(chore: Callable[[], object]) -> None:
    """In the chores' thread: planning a large run takes seconds, and turns must not wait for it."""
    try:
        chore()
    except Exception:
        log.exception("a chore failed; it is tried again")
    finally:
        connection.close()
