"""A run's figures as its participant may see them: no cell with fewer than five questions of a Full."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aml.web.formats import in_language
from evaluations.disclosure import too_few
from evaluations.models import Run, RunScore


@dataclass(frozen=True, slots=True)
class CapabilityRow:
    """``value`` is None where a question is open, or where ``hidden``: too few questions to tell."""

    id: str
    title: str
    weight: float
    asks: int
    scored: int
    value: float | None
    low: float | None
    high: float | None
    hidden: bool


@dataclass(frozen=True, slots=True)
class Results:
    overall: float | None
    low: float | None
    high: float | None
    asks: int
    scored: int
    unscored: int
    zero_by_failure: int
    capabilities: list[CapabilityRow]
    measures: dict[str, Any]


def results(run: Run) -> Results | None:
    """None while the run has no score."""
    score = RunScore.objects.filter(run=run).first()
    if score is None or not run.is_final:
        return None
    return Results(
        overall=score.overall,
        low=score.ci_low,
        high=score.ci_high,
        asks=score.asks,
        scored=score.scored,
        unscored=score.unscored,
        zero_by_failure=score.zero_by_failure,
        capabilities=_capabilities(run, score),
        measures=score.measures,
    )


def _capabilities(run: Run, score: RunScore) -> list[CapabilityRow]:
    manifest = run.pack.read_manifest()
    titles = {one.id: in_language(one.title.model_dump()) for one in manifest.capabilities}
    return [_row(one, titles, run) for one in score.capabilities]


def _row(one: dict[str, Any], titles: dict[str, str], run: Run) -> CapabilityRow:
    hidden = not run.is_smoke and too_few(one["asks"])
    interval = None if hidden else one["score"]
    return CapabilityRow(
        id=one["capability"],
        title=titles.get(one["capability"], one["capability"]),
        weight=one["weight"],
        asks=one["asks"],
        scored=one["scored"],
        value=interval["mean"] if interval else None,
        low=interval["low"] if interval else None,
        high=interval["high"] if interval else None,
        hidden=hidden,
    )
