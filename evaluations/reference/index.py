"""One user's full-text index: built in memory from the stored messages, thrown away at will.

An index holds one user's messages and nothing else. So a word's rarity is counted over that user alone, a
reply doesn't change with what others store, and no query can reach another user's memory.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from evaluations.reference.words import index_text, match_expression

# Weights of the columns in BM25. Neighbours and date as context raised recall@20 on LoCoMo from .675 to .774.
_SEARCH = (
    "SELECT rowid, -bm25(words, 1.0, 0.4, 0.3, 0.2) FROM words WHERE words MATCH ?"
    " ORDER BY 2 DESC, rowid LIMIT ?"
)
_INSERT = "INSERT INTO words(rowid, hit, before, after, day) VALUES (?, ?, ?, ?, ?)"
_DELETE = "INSERT INTO words(words, rowid, hit, before, after, day) VALUES ('delete', ?, ?, ?, ?, ?)"
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message is kept: the number of its Add, and its position in it."""

    add: int
    position: int


@dataclass(frozen=True, slots=True)
class Ranked:
    place: Place
    score: float  # BM25, bigger is better


@dataclass(frozen=True, slots=True)
class IndexedMessage:
    place: Place
    session: str
    text: str
    timestamp: int | None  # Unix milliseconds


@dataclass(slots=True)
class _Row:
    rowid: int
    session: str
    hit: str
    before: str
    after: str
    day: str

    def values(self) -> tuple[int, str, str, str, str]:
        return self.rowid, self.hit, self.before, self.after, self.day


def event_time(timestamp: int | None) -> dt.datetime | None:
    """The moment of ``timestamp`` in UTC; None without one, or outside the years 1 to 9999."""
    if timestamp is None:
        return None
    try:
        return _EPOCH + dt.timedelta(milliseconds=timestamp)
    except OverflowError:
        return None


def _day(timestamp: int | None) -> str:
    moment = event_time(timestamp)
    return f"{moment:%A} {moment.day} {moment:%B %Y}" if moment else ""


class UserIndex:
    def __init__(self) -> None:
        self.upto = 0  # number of the last Add that was indexed
        self.size = 0  # characters held
        self._places: list[Place] = []
        self._last: _Row | None = None
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.execute(
            "CREATE VIRTUAL TABLE words USING fts5(hit, before, after, day, content='',"
            " tokenize=\"porter unicode61 remove_diacritics 2 categories 'L* M* N* Co So'\")"
        )

    def extend(self, messages: Iterable[IndexedMessage]) -> None:
        """Index ``messages``, which come after all that were indexed before."""
        self._db.execute("BEGIN")
        # The last message was written without a follower; it is written again once it has one.
        self._write(self._last, _DELETE)
        for message in messages:
            self._append(message)
        self._write(self._last)
        self._db.execute("COMMIT")

    def _append(self, message: IndexedMessage) -> None:
        self._places.append(message.place)
        text = index_text(message.text)
        row = _Row(len(self._places), message.session, text, "", "", _day(message.timestamp))
        if self._last is not None and self._last.session == message.session:
            row.before, self._last.after = self._last.hit, text
        self._write(self._last)
        self._last = row
        self.size += len(text)
        self.upto = message.place.add

    def _write(self, row: _Row | None, statement: str = _INSERT) -> None:
        if row is not None:
            self._db.execute(statement, row.values())

    def search(self, terms: Iterable[str], *, limit: int) -> list[Ranked]:
        """The best ``limit`` messages that hold any of ``terms``; ties in the order of telling."""
        expression = match_expression(terms)
        if not expression:
            return []
        rows = self._db.execute(_SEARCH, (expression, limit))
        return [Ranked(self._places[rowid - 1], score) for rowid, score in rows]

    def close(self) -> None:
        self._db.close()
