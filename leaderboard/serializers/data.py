"""A board as JSON and CSV. Both hold what the page shows, and nothing of single questions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from aml.lib.clock import iso_z
from aml.lib.text import spreadsheet_cell
from leaderboard.access import Shown
from leaderboard.models import Snapshot
from leaderboard.types import Board, Measures, Row


def document(board: Board, snapshot: Snapshot | None) -> dict[str, Any]:
    """The board's document; ``snapshot.hash`` is SHA-256 over the canonical JSON of all but ``snapshot``."""
    return {**board.as_json(), "snapshot": snapshot_document(snapshot)}


def board_json(shown: Shown) -> str:
    """``document`` as a file to read: two blanks a level."""
    if shown.board is None:
        return "null"
    return json.dumps(document(shown.board, shown.snapshot), ensure_ascii=False, indent=2) + "\n"


def snapshot_document(snapshot: Snapshot | None) -> dict[str, Any] | None:
    if snapshot is None:
        return None
    return {
        "number": snapshot.number,
        "hash": snapshot.hash,
        "reason": snapshot.reason,
        "created_at": iso_z(snapshot.created_at),
    }


def board_csv(board: Board, snapshot: Snapshot | None) -> str:
    """One line a row: ranked, then listed without a rank, then baselines; empty where nothing is known."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=_columns(board), lineterminator="\r\n")
    writer.writeheader()
    for kind, rows in (("ranked", board.rows), ("unranked", board.unranked), ("baseline", board.baselines)):
        for row in rows:
            writer.writerow(_line(row, board=board, snapshot=snapshot, kind=kind))
    return stream.getvalue()


_HEAD = (
    "kind", "rank", "rank_low", "rank_high", "tie_group", "system", "version", "participant", "overall",
    "ci_low", "ci_high",
)  # fmt: skip
_TAIL = (
    "asks", "scored", "zero_by_failure", "coverage", *Measures.__slots__, "badges", "repository", "commit",
    "product_version", "run", "published_at", "cycle", "track", "division", "contract_hash", "snapshot",
)  # fmt: skip


def _columns(board: Board) -> list[str]:
    capabilities = (
        f"{column.id}_{part}" for column in board.columns for part in ("score", "ci_low", "ci_high")
    )
    return [*_HEAD, *capabilities, *_TAIL]


def _line(row: Row, *, board: Board, snapshot: Snapshot | None, kind: str) -> dict[str, Any]:
    plain = asdict(row)
    line = {name: plain[name] for name in (*_HEAD, *_TAIL) if name in plain}
    line |= {
        "kind": kind,
        "badges": " ".join(row.badges),
        "run": "" if kind == "baseline" else row.name,
        "snapshot": snapshot.number if snapshot else "",
        **asdict(row.measures),
        **(row.code or {}),
        **{name: getattr(board, name) for name in ("cycle", "track", "division", "contract_hash")},
        **dict(_figures(row)),
    }
    return {name: spreadsheet_cell(value) for name, value in line.items()}


def _figures(row: Row) -> Iterator[tuple[str, float | None]]:
    for figure in row.capabilities:
        yield f"{figure.id}_score", figure.score
        yield f"{figure.id}_ci_low", figure.ci_low
        yield f"{figure.id}_ci_high", figure.ci_high
