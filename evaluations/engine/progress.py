"""The progress bars of a command-line run: done and total, rate and time left, a phase a line."""

from __future__ import annotations

import asyncio
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
    def render(self, task: Bar) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="progress.data.speed")


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
        self._tasks: dict[UnitKind, TaskID] = {}
        self._watcher: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        for kind, title in PHASES.items():
            self._tasks[kind] = self._bars.add_task(title, total=None, note="")
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
            if kind in self._tasks:
                shown = note if kind is UnitKind.ADD else ""
                self._bars.update(
                    self._tasks[kind], completed=progress.done, total=progress.total, note=shown
                )

    def _note(self) -> str:
        failure = self._run.newest_failure
        if failure is None or not self._run.waiting_for_service:
            return ""
        state = "paused" if self._run.paused else "waiting"
        return f"{state}: {failure.code}"
