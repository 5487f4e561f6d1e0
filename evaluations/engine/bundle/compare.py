"""The paired difference of two bundles over the same asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from benchmarks.types import Capability, Title
from evaluations.engine.bundle.content import BundleItem, read_cells, split_lines
from evaluations.engine.bundle.files import CLUSTERS, ITEMS, STATEMENT, BundleError, read_files
from evaluations.engine.comparing import paired_difference
from evaluations.engine.types import AskScore, Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """``difference`` is first minus second; ``notes`` say what makes it less than it seems."""

    difference: Interval
    capabilities: Mapping[str, Interval]
    notes: tuple[str, ...]


def compare_bundles(first: Path, second: Path) -> Comparison:
    """Raises ``BundleError`` where the two can't be paired. Does not verify them."""
    one, other = read_files(first), read_files(second)
    told, told_other = orjson.loads(one[STATEMENT]), orjson.loads(other[STATEMENT])
    sealed = ITEMS in one and ITEMS in other
    rows, rows_other = list(_scores(one, sealed=sealed)), list(_scores(other, sealed=sealed))
    weights = {entry["capability"]: entry["weight"] for entry in told["scores"]["capabilities"]}
    try:
        return Comparison(
            difference=_difference(rows, rows_other, weights=weights, statement=told),
            capabilities={
                name: _difference(
                    [row for row in rows if row.capability == name],
                    [row for row in rows_other if row.capability == name],
                    weights={name: 1.0},
                    statement=told,
                )
                for name in weights
            },
            notes=tuple(_notes(told, told_other)),
        )
    except ValueError as error:
        hint = "" if sealed else "; public bundles pair only if one key salted both, sealed ones always do"
        raise BundleError(f"the bundles can't be paired: {error}{hint}") from error


def _difference(
    rows: list[AskScore],
    others: list[AskScore],
    *,
    weights: Mapping[str, float],
    statement: Mapping[str, Any],
) -> Interval:
    capabilities = [_capability(name, weight) for name, weight in weights.items()]
    seed = statement["contract"]["hash"]
    return paired_difference(rows, others, capabilities=capabilities, seed=seed)


def _capability(name: str, weight: float) -> Capability:
    title = Title(en=name, zh=name)
    return Capability(id=name, title=title, rubric=title, weight=weight)


def _scores(files: Mapping[str, bytes], *, sealed: bool) -> Iterator[AskScore]:
    if sealed:
        yield from (BundleItem.decode(line).score for line in split_lines(files[ITEMS]))
        return
    # Every ask of a cell at the cell's mean: sums and counts, which is all that pairing uses, are the same.
    for cell in read_cells(files[CLUSTERS]):
        value = cell.sum / cell.n if cell.scored == cell.n else None
        for number in range(cell.n):
            name = f"{cell.cluster}/{cell.capability}/{number}"
            yield AskScore(name, name, cell.cluster, cell.dataset, cell.capability, value)


def _notes(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    if one["contract"]["hash"] != other["contract"]["hash"]:
        yield "the two were scored under different contracts"
    if one["offline"] or other["offline"]:
        yield "offline models: deterministic stand-ins, not a language model"
    if one["unofficial"] or other["unofficial"]:
        yield "unofficial"
