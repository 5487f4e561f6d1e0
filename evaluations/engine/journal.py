"""The command line's memory on disk: one line a finished unit, and the Search replies beside them.

A line is whole or it is not there: a torn last line (the process died in the middle of a write) is cut
off before anything is appended. Replies are written before the line that names them, so that however the
process ends, a line never points at bytes that are missing. If the machine itself goes down, the last
second may be lost; its calls are then sent again under the same ids.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

SYNC_EVERY = 64  # lines
SYNC_SECONDS = 1.0

Record = dict[str, Any]


class JournalDamaged(Exception):
    """A line before the last, or a reply, can't be read: the file was edited or the disk has failed."""


@dataclass(frozen=True, slots=True)
class BodyRef:
    offset: int
    length: int


def read_journal(path: Path) -> Iterator[Record]:
    """The whole lines, in order; cuts a torn last line off the file."""
    if not path.exists():
        return
    good = 0
    with path.open("r+b") as file:
        for number, line in enumerate(file, start=1):
            record = _parse(line)
            if record is None:
                if file.read(1):
                    raise JournalDamaged(f"{path}: line {number} is damaged")
                break
            good += len(line)
            yield record
        file.truncate(good)


class Journal:
    """Appends records and bodies; ``sync`` now and then, at the latest after a second or 64 lines."""

    def __init__(self, folder: Path) -> None:
        self._lines = (folder / "journal.jsonl").open("ab")
        self._bodies = (folder / "replies.bin").open("a+b")
        self._end = self._bodies.seek(0, os.SEEK_END)
        self._unsynced = 0
        self._synced_at = time.monotonic()

    def append(self, record: Record) -> None:
        """Hands the line to the system at once, so that a killed process loses nothing."""
        self._bodies.flush()
        self._lines.write(orjson.dumps(record) + b"\n")
        self._lines.flush()
        self._unsynced += 1
        if self._unsynced >= SYNC_EVERY or time.monotonic() - self._synced_at >= SYNC_SECONDS:
            self.sync()

    def store(self, body: bytes) -> BodyRef:
        packed = zlib.compress(body, 1)
        ref = BodyRef(self._end, len(packed))
        self._bodies.write(packed)
        self._end += len(packed)
        return ref

    def load(self, ref: BodyRef) -> bytes:
        self._bodies.flush()
        packed = os.pread(self._bodies.fileno(), ref.length, ref.offset)
        try:
            return zlib.decompress(packed)
        except zlib.error as error:
            raise JournalDamaged(f"the reply at byte {ref.offset} of replies.bin is damaged") from error

    def sync(self) -> None:
        """To the disk: bodies first, then the lines that point at them."""
        for file in (self._bodies, self._lines):
            file.flush()
            os.fsync(file.fileno())
        self._unsynced, self._synced_at = 0, time.monotonic()

    def close(self) -> None:
        self.sync()
        self._lines.close()
        self._bodies.close()


def _parse(line: bytes) -> Record | None:
    if not line.endswith(b"\n"):
        return None
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None
