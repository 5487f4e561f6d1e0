"""A board as data: what page, JSON, CSV and snapshot are all made from. Pure: no database.

Scores are fractions from 0 to 1, latencies and durations seconds, moments ISO 8601 in UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

FORMAT = "aml-board/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A capability: title and rubric by language (``en``, ``zh``)."""

    id: str
    title: Mapping[str, str]
    rubric: Mapping[str, str]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One capability of one row; without a score where it has too few asks to be shown."""

    id: str
    score: float | None
    ci_low: float | None
    ci_high: float | None
    asks: int
    scored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Cost and speed as the platform measured them; None where nothing was measured."""

    add_p50: float | None = None
    add_p95: float | None = None
    search_p50: float | None = None
    search_p95: float | None = None
    tokens_per_question: float | None = None
    ingest_seconds: float | None = None
    error_rate: float | None = None
    calls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row. Ranks and tie group are None for rows that are listed without a rank, and for baselines."""

    name: str  # public id of the run, or the baseline's arm
    system: str
    overall: float | None
    ci_low: float | None
    ci_high: float | None
    capabilities: tuple[Figure, ...]
    asks: int
    scored: int
    zero_by_failure: int
    coverage: float | None  # share of the asks that are not 0 by the participant's failure
    measures: Measures
    badges: tuple[str, ...]
    published_at: str
    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    tie_group: int | None = None
    slug: str = ""
    version: str = ""
    participant: str = ""
    code: Mapping[str, str] | None = None  # repository and commit, or product_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The rows of one track, division and evaluation contract. ``floor``: the difference of Overall below
    which the median pair of rows can't be told apart; None with fewer than two rows."""

    cycle: str
    track: str
    division: str
    contract_hash: str
    pack: str
    pack_title: str
    offline: bool
    unofficial: bool
    questions: int
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    unranked: tuple[Row, ...]
    baselines: tuple[Row, ...]
    floor: float | None = None
    format: str = FORMAT

    @property
    def is_empty(self) -> bool:
        return not (self.rows or self.unranked or self.baselines)

    def as_json(self) -> dict[str, Any]:
        """Plain JSON; what a snapshot keeps, and what its hash is over."""
        document: dict[str, Any] = _plain(asdict(self))
        return document


def _plain(value: Any) -> Any:
    """Tuples as lists, as they come back from JSON."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def board_of(document: Mapping[str, Any]) -> Board:
    """The board that ``as_json`` gave; fields that this code doesn't know are left out."""
    lists = {name: tuple(_row(row) for row in document[name]) for name in ("rows", "unranked", "baselines")}
    columns = tuple(Column(**_known(Column, column)) for column in document["columns"])
    return Board(**{**_known(Board, document), **lists, "columns": columns})


def _row(document: Mapping[str, Any]) -> Row:
    return Row(
        **{
            **_known(Row, document),
            "capabilities": tuple(Figure(**_known(Figure, one)) for one in document["capabilities"]),
            "measures": Measures(**_known(Measures, document["measures"])),
            "badges": tuple(document["badges"]),
        }
    )


def _known(kind: type[Any], document: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: document[field.name] for field in fields(kind) if field.name in document}
