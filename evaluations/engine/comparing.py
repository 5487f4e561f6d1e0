"""Paired comparison of systems that answered the same asks (scoring.md, 2.10)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.types import Capability
from evaluations.engine.aggregate import Cell
from evaluations.engine.draws import (
    DRAWS,
    Clusters,
    Floats,
    capability_means,
    clusters_from_sums,
    clusters_of,
    draw,
    weighted,
)
from evaluations.engine.intervals import (
    FEW_CLUSTERS,
    NORMAL_975,
    finite_factor,
    interval,
    quantile,
    student,
)
from evaluations.engine.types import AskScore, Interval


@dataclass(frozen=True, slots=True)
class RankRange:
    """The ranks that a system may have: those of the systems it can't be told from."""

    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Separation:
    """``pairs`` are (higher, lower), surely told apart. ``floor``: the difference of Overall that the
    median pair needs for that; None where nothing is known of the spread."""

    pairs: frozenset[tuple[str, str]]
    floor: float | None


@dataclass(frozen=True, slots=True)
class _Drawn:
    overall: float
    draws: Floats | None


@dataclass(frozen=True, slots=True)
class _Design:
    clusters: int
    strata: int

    @property
    def known(self) -> bool:
        return self.clusters > self.strata


def paired_difference(
    a: Sequence[AskScore], b: Sequence[AskScore], *, capabilities: Sequence[Capability], seed: str
) -> Interval:
    """Overall of ``a`` minus Overall of ``b`` with its 95 % interval, both on the same draws.

    Raises ValueError unless both have values for the same asks, one or more in each capability.
    """
    design, (first, second) = _draw_all([a, b], capabilities=capabilities, seed=seed)
    difference = None
    if first.draws is not None and second.draws is not None:
        difference = first.draws - second.draws
    return interval(
        first.overall - second.overall,
        difference,
        clusters=design.clusters,
        strata=design.strata,
        bounds=(-1.0, 1.0),
    )


def rank_ranges(
    systems: Mapping[str, Sequence[AskScore]], *, capabilities: Sequence[Capability], seed: str
) -> dict[str, RankRange]:
    """Rank ranges by simultaneous paired differences: best = 1 + those surely above, worst = all but
    those surely below. Raises ValueError as ``paired_difference`` does."""
    above = separated(systems, capabilities=capabilities, seed=seed)
    return {
        name: RankRange(
            best=1 + sum((other, name) in above for other in systems),
            worst=len(systems) - sum((name, other) in above for other in systems),
        )
        for name in systems
    }


def separated(
    systems: Mapping[str, Sequence[AskScore]], *, capabilities: Sequence[Capability], seed: str
) -> frozenset[tuple[str, str]]:
    """Pairs (higher, lower) that the simultaneous comparison tells apart."""
    names = sorted(systems)
    if len(names) < 2:
        return frozenset()
    design, drawn = _draw_all([systems[name] for name in names], capabilities=capabilities, seed=seed)
    return _separation(dict(zip(names, drawn, strict=True)), design=design).pairs


def separation(
    systems: Mapping[str, Sequence[Cell]], *, weights: Mapping[str, float], seed: str
) -> Separation:
    """As ``separated``, from each system's count and sum by sample and capability.

    ``weights`` by capability. Raises ValueError unless all have values for the same asks, one or more in
    each capability.
    """
    names = sorted(systems)
    if len(names) < 2:
        return Separation(frozenset(), None)
    tables = [_table(systems[name], weights=weights) for name in names]
    overalls = [_overall_of_cells(systems[name], weights=weights) for name in names]
    first = tables[0]
    if any(table.samples != first.samples or (table.counts != first.counts).any() for table in tables):
        raise ValueError("the systems were not scored on the same asks")
    design, drawn = _draw_tables(tables, overalls=overalls, shares=list(weights.values()), seed=seed)
    return _separation(dict(zip(names, drawn, strict=True)), design=design)


def _table(cells: Sequence[Cell], *, weights: Mapping[str, float]) -> Clusters:
    if any(cell.scored != cell.n for cell in cells):
        raise ValueError("an ask has no value")
    totals = {(cell.dataset, cell.cluster, cell.capability): (cell.n, cell.sum) for cell in cells}
    return clusters_from_sums(totals, capabilities=list(weights))


def _overall_of_cells(cells: Sequence[Cell], *, weights: Mapping[str, float]) -> float:
    counts = {name: sum(cell.n for cell in cells if cell.capability == name) for name in weights}
    if not all(counts.values()):
        raise ValueError("a capability has no ask")
    return math.fsum(
        weight * (math.fsum(cell.sum for cell in cells if cell.capability == name) / counts[name])
        for name, weight in weights.items()
    )


def _draw_all(
    rows: Sequence[Sequence[AskScore]], *, capabilities: Sequence[Capability], seed: str
) -> tuple[_Design, list[_Drawn]]:
    asks = {_key(score) for score in rows[0]}
    if any({_key(score) for score in scores} != asks or len(scores) != len(asks) for scores in rows):
        raise ValueError("the systems were not scored on the same asks")
    if any(score.value is None for scores in rows for score in scores):
        raise ValueError("an ask has no value")
    return _draw_tables(
        [_clusters(scores, capabilities=capabilities) for scores in rows],
        overalls=[_overall(scores, capabilities=capabilities) for scores in rows],
        shares=[capability.weight for capability in capabilities],
        seed=seed,
    )


def _draw_tables(
    tables: Sequence[Clusters], *, overalls: Sequence[float], shares: Sequence[float], seed: str
) -> tuple[_Design, list[_Drawn]]:
    samples = tables[0].samples
    weights = draw(tables[0], seed=seed)
    drawn = [
        _Drawn(overall, None if weights is None else weighted(capability_means(weights, table), shares))
        for table, overall in zip(tables, overalls, strict=True)
    ]
    return _Design(len(samples), len({dataset for dataset, _ in samples})), drawn


def _key(score: AskScore) -> tuple[str, str, str, str]:
    return score.ask, score.dataset, score.sample, score.capability


def _clusters(scores: Sequence[AskScore], *, capabilities: Sequence[Capability]) -> Clusters:
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for score in scores:
        values[score.dataset, score.sample, score.capability].append(score.value or 0.0)
    return clusters_of(values, capabilities=[capability.id for capability in capabilities])


def _overall(scores: Sequence[AskScore], *, capabilities: Sequence[Capability]) -> float:
    values: dict[str, list[float]] = {capability.id: [] for capability in capabilities}
    for score in scores:
        values[score.capability].append(score.value or 0.0)
    if not all(values.values()):
        raise ValueError("a capability has no ask")
    return math.fsum(
        capability.weight * (math.fsum(values[capability.id]) / len(values[capability.id]))
        for capability in capabilities
    )


def _separation(drawn: Mapping[str, _Drawn], *, design: _Design) -> Separation:
    """Pairs whose difference exceeds its error times the 95 % point of the largest |t| of all pairs."""
    draws = {name: row.draws for name, row in drawn.items() if row.draws is not None}
    if not design.known or len(draws) < len(drawn):
        return Separation(frozenset(), None)
    largest = np.zeros(DRAWS)
    ratios: dict[tuple[str, str], float] = {}
    errors: list[float] = []
    for a, b in combinations(sorted(drawn), 2):
        difference, between = drawn[a].overall - drawn[b].overall, draws[a] - draws[b]
        error = float(np.std(between))
        ratios[a, b] = _ratio(difference, error)
        errors.append(error)
        if error > 0:
            largest = np.maximum(largest, np.abs(between - difference) / error)
    limit = quantile(sorted(largest.tolist()), 0.95) * _few_clusters(design)
    pairs = ((a, b) if ratio > 0 else (b, a) for (a, b), ratio in ratios.items() if abs(ratio) > limit)
    return Separation(frozenset(pairs), limit * quantile(sorted(errors), 0.5))


def _ratio(difference: float, error: float) -> float:
    """The difference in errors; without any error a difference is a sure one."""
    if error > 0:
        return difference / error
    return math.copysign(math.inf, difference) if difference else 0.0


def _few_clusters(design: _Design) -> float:
    """Widens the limit where few clusters make the draws' spread too small and too sure."""
    factor = finite_factor(design.clusters, design.strata)
    if design.clusters >= FEW_CLUSTERS:
        return factor
    return factor * student(design.clusters - design.strata) / NORMAL_975
