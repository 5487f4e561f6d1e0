"""The one builder of boards: from current rows and baselines to a ``Board``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils import translation

from aml.lib.clock import iso_z
from evaluations.disclosure import too_few
from evaluations.engine.aggregate import Cell, cells_of
from evaluations.engine.comparing import Separation, separation
from evaluations.models import Baseline, EvaluationContract, Run, RunScore
from evaluations.runner.scores import ask_scores
from evaluations.states import RunStatus
from leaderboard.models import BoardRow
from leaderboard.ranking import standings
from leaderboard.types import Board, Column, Figure, Measures, Row
from registration.models import Cycle, Version
from registration.types import Division


def build(*, cycle: Cycle, track: str, division: str, contract: EvaluationContract) -> Board:
    """The current rows under ``contract``; rows of other contracts belong to other boards."""
    found = BoardRow.objects.current().of_board(cycle=cycle, track=track, division=division)
    stored = list(found.filter(contract=contract).for_display().order_by("pk"))
    columns = _columns(contract)
    rankable = [row for row in stored if _is_rankable(row)]
    separated = _separation(rankable, columns=columns, contract=contract)
    return Board(
        cycle=cycle.slug,
        track=track,
        division=division,
        contract_hash=contract.hash,
        pack=str(contract.full_pack),
        pack_title=contract.full_pack.title,
        offline=contract.offline,
        unofficial=not contract.is_official_in(cycle),
        questions=contract.full_pack.read_manifest().counts.asks,
        columns=columns,
        rows=_ranked(rankable, separated=separated),
        unranked=tuple(_row(row) for row in stored if not _is_rankable(row)),
        baselines=_baselines(contract),
        floor=None if separated.floor is None else round(separated.floor, 6),
    )


def run_cells(run: Run) -> list[list[Any]]:
    """A scored run's count and sum by sample and capability, as a row keeps them."""
    return pack_cells(cells_of(ask_scores(run)))


def pack_cells(cells: Iterable[Cell]) -> list[list[Any]]:
    return [[cell.cluster, cell.dataset, cell.capability, cell.n, cell.scored, cell.sum] for cell in cells]


def unpack_cells(stored: Iterable[Sequence[Any]]) -> list[Cell]:
    return [
        Cell(cluster=cluster, dataset=dataset, capability=capability, n=n, scored=scored, zeros=0, sum=total)
        for cluster, dataset, capability, n, scored, total in stored
    ]


def _is_rankable(row: BoardRow) -> bool:
    """Partial runs and runs without an Overall are listed, never ranked (product.md, rule 7)."""
    return row.run.status == RunStatus.SUCCEEDED and row.run.score.overall is not None


def _columns(contract: EvaluationContract) -> tuple[Column, ...]:
    return tuple(
        Column(
            id=one.id,
            title=one.title.model_dump(),
            rubric=one.rubric.model_dump(),
            weight=one.weight,
        )
        for one in contract.full_pack.read_manifest().capabilities
    )


def _separation(
    rows: Sequence[BoardRow], *, columns: Iterable[Column], contract: EvaluationContract
) -> Separation:
    weights = {column.id: column.weight for column in columns}
    cells = {row.run.public_id: unpack_cells(row.cells) for row in rows}
    return separation(cells, weights=weights, seed=contract.hash)


def _ranked(rows: Sequence[BoardRow], *, separated: Separation) -> tuple[Row, ...]:
    by_name = {row.run.public_id: row for row in rows}
    scores = {name: float(row.run.score.overall or 0) for name, row in by_name.items()}
    return tuple(
        replace(
            _row(by_name[one.name]),
            rank=one.rank,
            rank_low=one.rank_range.best,
            rank_high=one.rank_range.worst,
            tie_group=one.group,
        )
        for one in standings(scores, separated=separated.pairs)
    )


def _row(row: BoardRow) -> Row:
    run, version = row.run, row.run.version
    score: RunScore = run.score
    return Row(
        name=run.public_id,
        system=row.entry.name,
        slug=row.entry.slug,
        version=version.label,
        participant=row.entry.registration.participant.name,
        code=_code(version, division=row.division),
        overall=score.overall,
        ci_low=score.ci_low,
        ci_high=score.ci_high,
        capabilities=figures_of(score.capabilities),
        asks=score.asks,
        scored=score.scored,
        zero_by_failure=score.zero_by_failure,
        coverage=coverage(scored=score.scored, asks=score.asks),
        measures=measures_of(score.measures),
        badges=_badges(row),
        published_at=iso_z(row.published_at),
    )


def figures_of(capabilities: Iterable[Mapping[str, Any]]) -> tuple[Figure, ...]:
    """Capabilities as a RunScore keeps them; those with too few asks without their score."""
    return tuple(_figure(one) for one in capabilities)


def _figure(one: Mapping[str, Any]) -> Figure:
    shown = None if too_few(one["asks"]) else one["score"]
    mean, low, high = (shown["mean"], shown["low"], shown["high"]) if shown else (None, None, None)
    return Figure(
        id=one["capability"], score=mean, ci_low=low, ci_high=high, asks=one["asks"], scored=one["scored"]
    )


def measures_of(measures: Mapping[str, Any]) -> Measures:
    add, search = measures.get("add") or {}, measures.get("search") or {}
    return Measures(
        add_p50=add.get("p50"),
        add_p95=add.get("p95"),
        search_p50=search.get("p50"),
        search_p95=search.get("p95"),
        tokens_per_question=measures.get("memory_tokens_per_question"),
        ingest_seconds=measures.get("ingest_seconds"),
        error_rate=measures.get("error_rate"),
        calls=measures.get("calls"),
    )


def coverage(*, scored: int, asks: int) -> float | None:
    return round(scored / asks, 6) if asks else None


def _badges(row: BoardRow) -> tuple[str, ...]:
    marks = {
        "offline": row.contract.offline,
        "unofficial": not row.contract.offline and not row.contract.is_official_in(row.cycle),
        "incomplete": row.run.status != RunStatus.SUCCEEDED,
    }
    return tuple(name for name, holds in marks.items() if holds)


def _code(version: Version, *, division: str) -> dict[str, str]:
    """What the division requires to be public (product.md, rule 1)."""
    if division == Division.OPEN_SOURCE:
        return {"repository": version.repository, "commit": version.commit}
    return {"product_version": version.product_version}


def _baselines(contract: EvaluationContract) -> tuple[Row, ...]:
    """Best first; arms that the platform ran itself have no rank."""
    return tuple(_baseline(one) for one in contract.baselines.order_by("-overall", "arm"))


def _baseline(baseline: Baseline) -> Row:
    data = baseline.data
    return Row(
        name=baseline.arm,
        system=_arm_title(baseline.arm),
        overall=baseline.overall,
        ci_low=baseline.ci_low,
        ci_high=baseline.ci_high,
        capabilities=figures_of(data["capabilities"]),
        asks=data["asks"],
        scored=data["scored"],
        zero_by_failure=data["zero_by_failure"],
        coverage=coverage(scored=data["scored"], asks=data["asks"]),
        measures=measures_of(data.get("measures", {})),
        badges=("baseline",),
        published_at=iso_z(baseline.measured_at),
    )


def _arm_title(arm: str) -> str:
    """English, whatever the reader's language: a board's document has one text for all."""
    with translation.override("en"):
        return str(Baseline.Arm(arm).label)
