"""Ranks and tie groups of a board's rows (packs.md, "Aggregating"). Pure: no database."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from evaluations.engine.comparing import RankRange


@dataclass(frozen=True, slots=True)
class Standing:
    """A row's place: ``group`` counts tie groups from 1, downwards."""

    name: str
    score: float
    rank: int
    rank_range: RankRange
    group: int


def ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """1 + the number of rows with a higher published score; equal scores share a rank."""
    return {name: 1 + sum(other > score for other in scores.values()) for name, score in scores.items()}


def tie_groups(scores: Mapping[str, float], *, separated: Collection[tuple[str, str]]) -> dict[str, int]:
    """Read downwards: a group holds the rows that can't be told from the group's first.

    ``separated`` holds (higher, lower) pairs, as ``comparing.separated`` gives them.
    """
    groups: dict[str, int] = {}
    group, first = 0, ""
    for name in _downwards(scores):
        if group == 0 or (first, name) in separated:
            group, first = group + 1, name
        groups[name] = group
    return groups


def standings(scores: Mapping[str, float], *, separated: Collection[tuple[str, str]]) -> list[Standing]:
    """Every row from the top, equal scores in order of name."""
    place, groups = ranks(scores), tie_groups(scores, separated=separated)
    return [
        Standing(
            name=name,
            score=scores[name],
            rank=place[name],
            rank_range=_rank_range(name, scores=scores, separated=separated),
            group=groups[name],
        )
        for name in _downwards(scores)
    ]


def _downwards(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda name: (-scores[name], name))


def _rank_range(
    name: str, *, scores: Mapping[str, float], separated: Collection[tuple[str, str]]
) -> RankRange:
    above = sum((other, name) in separated for other in scores)
    below = sum((name, other) in separated for other in scores)
    return RankRange(best=1 + above, worst=len(scores) - below)
