"""A line per step on the terminal, rewritten while it runs, and one line each in a log file or CI."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TextIO

QUIET_SECONDS = 5.0  # between lines of one step where the output is no terminal


@dataclass(slots=True)
class Steps:
    out: TextIO
    words: str = ""
    began: float = 0.0
    printed: float = 0.0
    open: bool = field(default=False)

    def report(self, words: str, done: int, total: int) -> None:
        now = time.monotonic()
        if words != self.words:
            self.end()
            self.words, self.began, self.printed = words, now, 0.0
        finished = 0 < total <= done
        if self.out.isatty():
            self._line(now, done, total, end="\r")
            self.open = True
        elif finished or now - self.printed >= QUIET_SECONDS:
            self._line(now, done, total, end="\n")
            self.printed = now

    def end(self) -> None:
        """Leave the line that is being rewritten."""
        if self.open:
            self.out.write("\n")
            self.open = False

    def _line(self, now: float, done: int, total: int, *, end: str) -> None:
        count = f"{done}/{total}" if total > 1 else ("done" if done else "…")
        self.out.write(f"  {self.words:<44} {count:>12}  {now - self.began:6.1f} s{end}")
        self.out.flush()
