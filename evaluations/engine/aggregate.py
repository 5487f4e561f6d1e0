"""Scores of asks to capabilities and Overall, with 95 % intervals (packs.md, "Aggregating").

The denominator is the plan: an ask without a value leaves its capability, and Overall, without one.
All figures come from count and sum of each sample and capability, so that a public bundle, which holds
nothing else and salts the samples' names, gives the same to the digit.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.types import Capability
from evaluations.engine.draws import (
    Clusters,
    Floats,
    capability_means,
    clusters_from_sums,
    draw,
    weighted,
)
from evaluations.engine.intervals import interval
from evaluations.engine.types import Aggregate, AskScore, CapabilityScore, Fault, Interval

AGGREGATION = "aml-aggregate/1"


@dataclass(frozen=True, slots=True)
class Cell:
    """One sample's asks of one capability: ``n`` of them, ``scored`` with a value (zeros by the
    participant's failure, ``zeros``, among them), and the exact ``sum`` of the values."""

    cluster: str  # the sample, or its salted name
    dataset: str
    capability: str
    n: int
    scored: int
    zeros: int
    sum: float


@dataclass(frozen=True, slots=True)
class _Spread:
    """Bootstrap of the scored asks: the draws' means of each capability, None where there are none."""

    means: Floats | None
    clusters: Clusters
    names: tuple[str, ...]

    def of(self, mean: float, capability: str) -> Interval:
        column = self.names.index(capability)
        present = [
            s for s, n in zip(self.clusters.samples, self.clusters.counts[:, column], strict=True) if n
        ]
        draws = None if self.means is None else self.means[:, column]
        return interval(mean, draws, clusters=len(present), strata=len({dataset for dataset, _ in present}))

    def overall(self, mean: float, weights: Sequence[float]) -> Interval:
        samples = self.clusters.samples
        draws = None if self.means is None else weighted(self.means, weights)
        return interval(mean, draws, clusters=len(samples), strata=len({dataset for dataset, _ in samples}))


@dataclass(frozen=True, slots=True)
class _Column:
    """One capability's totals over all samples."""

    planned: int
    scored: int
    mean: float | None  # None unless every planned ask has a value, and there is one


def aggregate(
    scores: Sequence[AskScore], *, capabilities: Sequence[Capability], planned: Mapping[str, int], seed: str
) -> Aggregate:
    """``planned`` asks a capability are the denominators; ``seed`` is the contract hash.

    Raises ValueError if an ask stands twice, belongs to no capability, or exceeds the plan.
    """
    if len({score.ask for score in scores}) != len(scores):
        raise ValueError("an ask is scored twice")
    weights = {capability.id: capability.weight for capability in capabilities}
    return aggregate_clusters(cells_of(scores), weights=weights, planned=planned, seed=seed)


def cells_of(
    scores: Iterable[AskScore], *, cluster: Callable[[AskScore], str] = lambda score: score.sample
) -> list[Cell]:
    """Sorted by cluster and capability; ``cluster`` may salt the sample's name."""
    grouped: dict[tuple[str, str, str], list[AskScore]] = defaultdict(list)
    for score in scores:
        grouped[cluster(score), score.dataset, score.capability].append(score)
    return [_cell(*key, grouped[key]) for key in sorted(grouped)]


def aggregate_clusters(
    cells: Sequence[Cell],
    *,
    weights: Mapping[str, float],
    seed: str,
    planned: Mapping[str, int] | None = None,
) -> Aggregate:
    """The figures that ``cells`` give; ``weights`` by capability, in the order of the columns.

    ``planned`` asks a capability, where not every planned ask is in a cell. Raises ValueError if a cell
    belongs to no capability or the cells exceed the plan.
    """
    plan = planned if planned is not None else _planned(cells)
    _check(cells, weights=weights, planned=plan)
    columns = {name: _column(cells, name, planned=plan.get(name, 0)) for name in weights}
    closed = tuple(name for name, column in columns.items() if column.mean is not None)
    spread = _spread(cells, names=closed, seed=seed)
    valued = sum(cell.scored for cell in cells)
    zeros = sum(cell.zeros for cell in cells)
    return Aggregate(
        overall=_overall(columns, weights=weights, spread=spread),
        capabilities=tuple(
            CapabilityScore(
                capability=name,
                weight=weights[name],
                asks=column.planned,
                scored=column.scored,
                score=None if column.mean is None else spread.of(column.mean, name),
            )
            for name, column in columns.items()
        ),
        asks=sum(plan.values()),
        scored=valued - zeros,
        unscored=sum(plan.values()) - valued,
        zero_by_failure=zeros,
        clusters=len({(cell.dataset, cell.cluster) for cell in cells}),
    )


def score_fields(figures: Aggregate) -> dict[str, Any]:
    """``figures`` as rows and answers hold them; Overall and its interval None while an ask is open."""
    overall = figures.overall
    return {
        "overall": overall and overall.mean,
        "ci_low": overall and overall.low,
        "ci_high": overall and overall.high,
        "asks": figures.asks,
        "scored": figures.scored,
        "unscored": figures.unscored,
        "zero_by_failure": figures.zero_by_failure,
        "capabilities": [asdict(one) for one in figures.capabilities],
    }


def _cell(cluster: str, dataset: str, capability: str, scores: Sequence[AskScore]) -> Cell:
    values = [score.value for score in scores if score.value is not None]
    return Cell(
        cluster=cluster,
        dataset=dataset,
        capability=capability,
        n=len(scores),
        scored=len(values),
        zeros=sum(score.failed_by is Fault.PARTICIPANT for score in scores),
        sum=math.fsum(values),
    )


def _planned(cells: Iterable[Cell]) -> dict[str, int]:
    planned: dict[str, int] = defaultdict(int)
    for cell in cells:
        planned[cell.capability] += cell.n
    return planned


def _check(cells: Sequence[Cell], *, weights: Mapping[str, float], planned: Mapping[str, int]) -> None:
    if not planned.keys() <= weights.keys():
        raise ValueError(f"planned capabilities {sorted(planned.keys() - weights.keys())} have no weight")
    for name, count in _planned(cells).items():
        if name not in weights:
            raise ValueError(f"there are asks of the unknown capability {name!r}")
        if count > planned.get(name, 0):
            raise ValueError(f"capability {name!r} has {count} asks, {planned.get(name, 0)} were planned")


def _column(cells: Sequence[Cell], name: str, *, planned: int) -> _Column:
    own = [cell for cell in cells if cell.capability == name]
    scored = sum(cell.scored for cell in own)
    closed = 0 < planned == scored
    return _Column(planned, scored, math.fsum(cell.sum for cell in own) / scored if closed else None)


def _spread(cells: Sequence[Cell], *, names: tuple[str, ...], seed: str) -> _Spread:
    totals = {
        (cell.dataset, cell.cluster, cell.capability): (cell.scored, cell.sum)
        for cell in cells
        if cell.capability in names
    }
    clusters = clusters_from_sums(totals, capabilities=names, by_content=True)
    weights = draw(clusters, seed=seed) if clusters.samples else None
    return _Spread(None if weights is None else capability_means(weights, clusters), clusters, names)


def _overall(
    columns: Mapping[str, _Column], *, weights: Mapping[str, float], spread: _Spread
) -> Interval | None:
    means = [(weights[name], column.mean) for name, column in columns.items()]
    if not means or any(mean is None for _, mean in means):
        return None
    overall = math.fsum(weight * mean for weight, mean in means if mean is not None)
    return spread.overall(overall, list(weights.values()))
