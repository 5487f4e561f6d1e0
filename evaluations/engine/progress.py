"""The progress bars of a command-line run: done and total, rate and time left, a phase a line."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.progress import Task as Bar
from rich.text import Text

from evaluations.engine.ledger import Ledger
from evaluations.engine.run import PackRun
from evaluations.engine.types import UnitKind

PHASES = {
    UnitKind.ADD: "Adding",
    UnitKind.SEARCH: "Searching",
    UnitKind.ANSWER: "Answering",
    UnitKind.JUDGE: "Judging",
}
REFRESH_SECONDS = 0.5


class RateColumn(ProgressColumn):
    """Over the whole phase: what was done in this process by the time since its first unit."""

    def render(self, task: Bar) -> Text:
        rate = task.fields["rate"]
        return Text("" if rate is None else f"{rate:,.1f}/s", style="progress.data.speed")


@dataclass(slots=True)
class _Phase:
    bar: TaskID
    before: int  # done by an earlier process
    began: float | None = None
    rate: float | None = None
    done: int = 0

    def update(self, done: int) -> None:
        now = time.monotonic()
        if self.began is None and done > self.before:
            self.began = now - REFRESH_SECONDS
        if self.began is not None and done > self.done:
            self.rate = (done - self.before) / (now - self.began)
        self.done = done


class RunProgress:
    """Reads the ledger twice a second; ``async with`` around the run."""

    def __init__(self, run: PackRun, ledger: Ledger, *, console: Console) -> None:
        self._run, self._ledger = run, ledger
        self._bars = Bars(
            TextColumn("{task.description:<10}"),
            BarColumn(),
            MofNCompleteColumn(),
            RateColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            refresh_per_second=4,
        )
        self._phases: dict[UnitKind, _Phase] = {}
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        known = self._ledger.progress()
        for kind, title in PHASES.items():
            bar = self._bars.add_task(title, total=None, note="", rate=None)
            self._phases[kind] = _Phase(bar, known[kind].done)
        self._bars.start()
        self._watcher = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watcher is not None:
            self._watcher.cancel()
        self._show()
        self._bars.stop()

    async def _watch(self) -> None:
        while True:
            self._show()
            await asyncio.sleep(REFRESH_SECONDS)

    def _show(self) -> None:
        note = self._note()
        for kind, progress in self._ledger.progress().items():
            phase = self._phases.get(kind)
            if phase is None:
                continue
            phase.update(progress.done)
            shown = note if kind is UnitKind.ADD else ""
            self._bars.update(
                phase.bar, completed=progress.done, total=progress.total, note=shown, rate=phase.rate
            )

    def _note(self) -> str:
        failure = self._run.newest_failure
        if failure is None or not self._run.waiting_for_service:
            return ""
        state = "paused" if self._run.paused else "waiting"
        return f"{state}: {failure.code}"
