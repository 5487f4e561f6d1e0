"""What the reference service keeps: Adds in one SQLite file, and per user an index made from them.

Writes go through one thread that commits what has queued up in one transaction, so any number of writers
never meet a lock, and one ``fsync`` serves them all. An Add that has returned is on the disk and is found by
the next Search.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import queue
import sqlite3
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from evaluations.reference.index import IndexedMessage, Place, UserIndex, event_time
from evaluations.reference.words import option_text, query_terms

_SCHEMA = """
CREATE TABLE IF NOT EXISTS adds (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    request_id TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    messages BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS adds_of_user ON adds (user_id, number);
"""
_BATCH = 512
_INDEXED_CHARACTERS = 24_000_000  # of all indexes in memory together; the least used go first

Message = Mapping[str, Any]
Content = str | Sequence[Mapping[str, Any]]


class Outcome(StrEnum):
    STORED = "stored"
    REPLAYED = "replayed"  # the same request_id and body were stored before
    CONFLICT = "conflict"  # the same request_id came with another body


@dataclass(frozen=True, slots=True)
class Hit:
    """One message found: its content as it was given, and its event time (ISO 8601, UTC)."""

    id: str
    content: Content
    score: float
    created_at: str | None


@dataclass(frozen=True, slots=True)
class _Write:
    request_id: str
    user_id: str
    session_id: str
    messages: bytes
    done: Future[Outcome]

    @property
    def digest(self) -> bytes:
        parts = (self.user_id.encode(), self.session_id.encode(), self.messages)
        return hashlib.sha256(b"".join(len(part).to_bytes(8) + part for part in parts)).digest()


class Store:
    """Thread-safe. ``path`` None keeps everything in a temporary file that goes with the store."""

    def __init__(self, path: Path | str | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="reference-memory-") if path is None else None
        self._path = str(path) if self._folder is None else f"{self._folder.name}/memory.db"
        self._queue: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._reader = self._connect()
        self._reader.executescript(_SCHEMA)
        self._reading = threading.Lock()
        self._indexes: OrderedDict[str, UserIndex] = OrderedDict()
        self._writer = threading.Thread(target=self._write_forever, name="reference-writer", daemon=True)
        self._writer.start()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=30)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")  # 200 means durable
        return db

    # Writing

    def submit(
        self, *, request_id: str, user_id: str, session_id: str, messages: Sequence[Message]
    ) -> Future[Outcome]:
        """Queue one Add. The future is done when it is on the disk; a failing disk is its exception."""
        body = orjson.dumps(list(messages), option=orjson.OPT_SORT_KEYS)
        write = _Write(request_id, user_id, session_id, body, Future())
        self._queue.put(write)
        return write.done

    async def add(
        self, *, request_id: str, user_id: str, session_id: str, messages: Sequence[Message]
    ) -> Outcome:
        future = self.submit(request_id=request_id, user_id=user_id, session_id=session_id, messages=messages)
        return await asyncio.wrap_future(future)

    def _write_forever(self) -> None:
        db = self._connect()
        while batch := self._next_batch():
            # A caller that has gone away has cancelled its future; from here on it no longer can.
            _settle(db, [write for write in batch if write.done.set_running_or_notify_cancel()])
        db.close()

    def _next_batch(self) -> list[_Write]:
        """What waits in the queue, at least one write; empty when the store closes."""
        first = self._queue.get()
        batch = []
        while first is not None:
            batch.append(first)
            if len(batch) == _BATCH or self._queue.empty():
                return batch
            first = self._queue.get()
        self._queue.put(None)  # comes after the writes before it, and is met again by the next call
        return batch

    # Reading

    async def search(self, *, query: str, user_id: str, top_k: int, options: Sequence[str] = ()) -> list[Hit]:
        return await asyncio.to_thread(
            self.search_now, query=query, user_id=user_id, top_k=top_k, options=options
        )

    def search_now(self, *, query: str, user_id: str, top_k: int, options: Sequence[str] = ()) -> list[Hit]:
        """The best ``top_k`` messages of ``user_id`` for any word of the query or the options."""
        terms = query_terms(query, *map(option_text, options))
        with self._reading:
            index = self._index(user_id)
            ranked = index.search(terms, limit=top_k)
            adds = _read_adds(self._reader, {hit.place.add for hit in ranked})
        return [_hit(hit.place, hit.score, adds[hit.place.add][hit.place.position]) for hit in ranked]

    def _index(self, user_id: str) -> UserIndex:
        # Out of the cache while it grows: an index that failed half-way must not be met again.
        index = self._indexes.pop(user_id, None) or UserIndex()
        index.extend(_after(self._reader, user_id, index.upto))
        self._indexes[user_id] = index
        self._evict()
        return index

    def _evict(self) -> None:
        held = sum(index.size for index in self._indexes.values())
        while len(self._indexes) > 1 and (held > _INDEXED_CHARACTERS or len(self._indexes) > 128):
            _, oldest = self._indexes.popitem(last=False)
            held -= oldest.size
            oldest.close()

    def close(self) -> None:
        """Finish what is queued, then let go of the file. A closed store takes nothing more."""
        self._queue.put(None)
        self._writer.join()
        with self._reading:
            for index in self._indexes.values():
                index.close()
            self._indexes.clear()
            self._reader.close()
        if self._folder is not None:
            self._folder.cleanup()


def _settle(db: sqlite3.Connection, batch: list[_Write]) -> None:
    """Store ``batch`` in one transaction, and tell each caller the outcome or why there is none."""
    try:
        outcomes = _store_all(db, batch)
    except Exception as error:  # a full disk fails these writes; the writer lives on for the next
        for write in batch:
            write.done.set_exception(error)
    else:
        for write, outcome in zip(batch, outcomes, strict=True):
            write.done.set_result(outcome)


def _store_all(db: sqlite3.Connection, batch: list[_Write]) -> list[Outcome]:
    db.execute("BEGIN IMMEDIATE")
    try:
        outcomes = [_store_one(db, write) for write in batch]
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    return outcomes


def _store_one(db: sqlite3.Connection, write: _Write) -> Outcome:
    stored = db.execute(
        "INSERT INTO adds (request_id, digest, user_id, session_id, messages) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (request_id) DO NOTHING",
        (write.request_id, write.digest, write.user_id, write.session_id, write.messages),
    )
    if stored.rowcount == 1:
        return Outcome.STORED
    row = db.execute("SELECT digest FROM adds WHERE request_id = ?", (write.request_id,)).fetchone()
    return Outcome.REPLAYED if row[0] == write.digest else Outcome.CONFLICT


def _after(db: sqlite3.Connection, user_id: str, number: int) -> Iterator[IndexedMessage]:
    rows = db.execute(
        "SELECT number, session_id, messages FROM adds WHERE user_id = ? AND number > ? ORDER BY number",
        (user_id, number),
    )
    for number, session_id, messages in rows:
        for position, message in enumerate(orjson.loads(messages)):
            text, moment = plain_text(message["content"]), message.get("timestamp")
            yield IndexedMessage(Place(number, position), session_id, text, moment)


def plain_text(content: Content) -> str:
    """The text of a message: the string, or the text parts, one a line."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


def _read_adds(db: sqlite3.Connection, numbers: Collection[int]) -> dict[int, list[Message]]:
    """The messages of these Adds, each read once for a whole reply."""
    rows = db.execute(
        "SELECT number, messages FROM adds WHERE number IN (SELECT value FROM json_each(?))",
        (orjson.dumps(list(numbers)).decode(),),
    )
    return {number: orjson.loads(messages) for number, messages in rows}


def _hit(place: Place, score: float, message: Message) -> Hit:
    created_at = _iso(message.get("timestamp"))
    return Hit(f"m-{place.add}-{place.position}", message["content"], round(score, 6), created_at)


@functools.lru_cache(maxsize=4096)  # the messages of a session often share a moment
def _iso(timestamp: int | None) -> str | None:
    moment = event_time(timestamp)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None
