"""What a bundle says, as plain data: items (sealed), clusters (public) and the statement over both.

``items.jsonl`` holds one ask a line, salted with its sample's salt, so that the Merkle root over the
lines tells nothing to who has no salt. ``clusters.jsonl`` holds one line per sample and capability; its
sample is a hash under the same salt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

from aml.lib.canonical import canonical_json, sha256_hex
from evaluations.engine.aggregate import Cell, cells_of
from evaluations.engine.types import Aggregate, AskScore, Fault, Interval

FORMAT = "aml-bundle/1"
JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BundleItem:
    """One ask. Hashes are SHA-256 in hex; None where there was no such call."""

    score: AskScore
    salt: str
    request_sha256: str | None = None
    reply_sha256: str | None = None
    prompt_sha256: str | None = None
    answer: str | None = None
    answer_sha256: str | None = None
    grades: tuple[str, ...] | None = None
    judge_prompt_sha256: str | None = None

    @classmethod
    def of(
        cls,
        score: AskScore,
        *,
        salt: str,
        search: JsonObject | None,
        answer: JsonObject | None,
        judge: JsonObject | None,
    ) -> BundleItem:
        """From what ``engine.records`` keeps of the ask's three calls; None where there was none."""
        search, answer, judge = search or {}, answer or {}, judge or {}
        text = answer.get("answer")
        return cls(
            score=score,
            salt=salt,
            request_sha256=search.get("request_sha256"),
            reply_sha256=search.get("reply_sha256"),
            prompt_sha256=answer.get("prompt_sha256"),
            answer=text,
            answer_sha256=None if text is None else sha256_hex(text.encode()),
            grades=tuple(judge["grades"]) if "grades" in judge else None,
            judge_prompt_sha256=judge.get("prompt_sha256"),
        )

    @property
    def cluster(self) -> str:
        return cluster_id(self.score.sample, salt=self.salt)

    def encode(self) -> bytes:
        fields = {name: getattr(self, name) for name in self.__slots__ if name != "score"}
        return orjson.dumps(asdict(self.score) | fields, option=orjson.OPT_SORT_KEYS)

    @classmethod
    def decode(cls, line: bytes) -> BundleItem:
        """Raises ValueError, KeyError or TypeError for a line that is no item."""
        raw = dict(orjson.loads(line))
        names = AskScore.__slots__
        score = {name: raw.pop(name) for name in names}
        if score["failed_by"] is not None:
            score["failed_by"] = Fault(score["failed_by"])
        if raw["grades"] is not None:
            raw["grades"] = tuple(raw["grades"])
        return cls(score=AskScore(**score), **raw)


@dataclass(frozen=True, slots=True)
class StatementData:
    """What the writer is told; hashes, counts and format are its own.

    ``subject``: entry, version, fingerprint. ``contract``: the whole specification, whose canonical
    hash is the contract hash. ``scores`` must be what the clusters give, or ``verify`` will say so.
    """

    subject: JsonObject
    contract: JsonObject
    lineage: JsonObject
    scores: Aggregate
    offline: bool
    unofficial: bool
    self_run: bool
    outcome: str | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)


def cluster_id(sample: str, *, salt: str) -> str:
    return hashlib.sha256(f"{salt}\x00{sample}".encode()).hexdigest()[:32]


def cells(items: Sequence[BundleItem]) -> list[Cell]:
    """Sorted by salted name, which says nothing of the pack's order."""
    known = {item.score.sample: item.cluster for item in items}
    return cells_of((item.score for item in items), cluster=lambda score: known[score.sample])


def encode_cell(cell: Cell) -> bytes:
    return canonical_json(asdict(cell))


def encode_scores(scores: Aggregate) -> dict[str, Any]:
    return {
        "overall": _interval(scores.overall),
        "capabilities": [
            {
                "capability": one.capability,
                "weight": one.weight,
                "asks": one.asks,
                "scored": one.scored,
                "score": _interval(one.score),
            }
            for one in scores.capabilities
        ],
    }


def encode_counts(scores: Aggregate) -> dict[str, int]:
    return {
        "asks": scores.asks,
        "scored": scores.scored,
        "unscored": scores.unscored,
        "zero_by_failure": scores.zero_by_failure,
        "clusters": scores.clusters,
    }


def read_cells(data: bytes) -> Iterator[Cell]:
    """Raises ValueError or TypeError for a line that is no cell in its one spelling."""
    for line in split_lines(data):
        cell = Cell(**orjson.loads(line))
        if encode_cell(cell) != line or not 0 <= cell.zeros <= cell.scored <= cell.n:
            raise ValueError("a line of clusters.jsonl is not in canonical form")
        if not 0 <= cell.sum <= cell.scored:
            raise ValueError("a sum in clusters.jsonl is out of range")
        yield cell


def split_lines(data: bytes) -> list[bytes]:
    """Lines that each end in a line feed; raises ValueError where the last one does not."""
    if data and not data.endswith(b"\n"):
        raise ValueError("the last line is not whole")
    return data.split(b"\n")[:-1]


def _interval(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else asdict(interval)
