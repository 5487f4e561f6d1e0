"""A board as ``templates/leaderboard/_board.html`` takes it, in the reader's language and order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from aml.web.formats import heat_bucket, in_language, scale_for, score
from evaluations.models import Baseline
from leaderboard.access import Shown
from leaderboard.types import Board, Column, Row
from registration.models.entries import TrackChoice
from registration.models.participants import DivisionChoice

BY_RANK = "rank"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row for the template; ``tie_group`` is a number of its own where the order isn't by rank.

    Latencies are milliseconds. ``is_baseline``: without a rank, being a baseline or a partial run.
    """

    system: str
    url: str
    version: str
    badges: tuple[str, ...]
    is_baseline: bool
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    tie_group: int
    overall: float | None
    low: float | None
    high: float | None
    capabilities: list[tuple[str, str, float | None, int]]  # id, title, score, heat
    n: int
    scored: int
    search_p50: float | None
    search_p95: float | None
    tokens: int | None
    error_rate: float | None


def board_page(shown: Shown, *, sort: str, downloads: Mapping[str, str]) -> dict[str, Any] | None:
    """The context ``board``; None where there is no board yet."""
    board = shown.board
    if board is None:
        return None
    rows = _page_rows(board.rows, board=board, ranked=True)
    ordered = sorted_rows(rows, by=sort)
    low, high = scale_for(
        [edge for row in (*board.rows, *board.baselines) for edge in (row.ci_low, row.ci_high)]
    )
    return {
        "caption": caption(shown),
        "rows": ordered,
        "baseline_rows": _page_rows((*board.unranked, *board.baselines), board=board, ranked=False),
        "baselines": [(arm_title(row), row.overall) for row in board.baselines],
        "capabilities": [(one.id, in_language(one.title), in_language(one.rubric)) for one in board.columns],
        "scale_min": low,
        "scale_max": high,
        "contract_hash": board.contract_hash,
        "updated_at": shown.snapshot.created_at if shown.snapshot else None,
        "questions": board.questions,
        "formula": formula(board.columns),
        "tie_rule": TIE_RULE,
        "noise": noise(board),
        "unofficial": board.unofficial,
        **downloads,
    }


TIE_RULE = _(
    "Rank = 1 + the number of rows with a higher score; equal scores share a rank. The range holds every "
    "rank that the paired differences allow, at 95 % for all pairs together. Read downwards, a bracket holds "
    "the rows that can't be told apart from its first."
)

SORTS = {
    BY_RANK: _("Rank"),
    "system": _("System"),
    "search": _("Search p50, fastest first"),
    "tokens": _("Tokens, fewest first"),
    "errors": _("Errors, fewest first"),
}


def sort_choices(board: Board | None, *, current: str) -> list[tuple[str, str, bool]]:
    """(value, title, chosen): what a reader may order the board by; capabilities too, best first."""
    titles = {name: str(title) for name, title in SORTS.items()}
    if board is not None:
        titles |= {f"capability-{one.id}": in_language(one.title) for one in board.columns}
    chosen = current if current in titles else BY_RANK
    return [(name, title, name == chosen) for name, title in titles.items()]


def sorted_rows(rows: Sequence[PageRow], *, by: str) -> list[PageRow]:
    """By rank unless ``by`` names another order; there, rows are no neighbours of their tie group."""
    key = _KEYS.get(by) or _capability_key(by.removeprefix("capability-"), rows=rows)
    if key is None:
        return list(rows)
    ordered = sorted(rows, key=key)
    return [replace(row, tie_group=group) for group, row in enumerate(ordered, start=1)]


_KEYS: dict[str, Callable[[PageRow], Any]] = {
    "system": lambda row: row.system.casefold(),
    "search": lambda row: _last(row.search_p50),
    "tokens": lambda row: _last(row.tokens),
    "errors": lambda row: _last(row.error_rate),
}


def _capability_key(name: str, *, rows: Sequence[PageRow]) -> Any:
    if not rows or name not in {one[0] for one in rows[0].capabilities}:
        return None

    def key(row: PageRow) -> float:
        value = next(value for each, _title, value, _bucket in row.capabilities if each == name)
        return math.inf if value is None else -value

    return key


def _last(value: float | None) -> float:
    return math.inf if value is None else value


def _page_rows(rows: Sequence[Row], *, board: Board, ranked: bool) -> list[PageRow]:
    heats = _heat_columns(board)
    return [_page_row(row, columns=board.columns, heats=heats, ranked=ranked) for row in rows]


def _page_row(
    row: Row, *, columns: Sequence[Column], heats: Mapping[str, list[float | None]], ranked: bool
) -> PageRow:
    measures = row.measures
    return PageRow(
        system=row.system if row.slug else arm_title(row),
        url=reverse("leaderboard:system", args=[row.slug]) if row.slug else "",
        version=row.version,
        badges=row.badges,
        is_baseline=not ranked,
        rank=row.rank,
        rank_low=row.rank_low,
        rank_high=row.rank_high,
        tie_group=row.tie_group or 0,
        overall=row.overall,
        low=row.ci_low,
        high=row.ci_high,
        capabilities=[
            (figure.id, title, figure.score, heat_bucket(figure.score, heats[figure.id]))
            for figure, title in zip(row.capabilities, _titles(columns), strict=True)
        ],
        n=row.asks,
        scored=row.scored,
        search_p50=_milliseconds(measures.search_p50),
        search_p95=_milliseconds(measures.search_p95),
        tokens=None if measures.tokens_per_question is None else round(measures.tokens_per_question),
        error_rate=measures.error_rate,
    )


def _heat_columns(board: Board) -> dict[str, list[float | None]]:
    """Each capability's scores of the ranked rows; a baseline far below would flatten the differences."""
    return {
        column.id: [
            figure.score for row in board.rows for figure in row.capabilities if figure.id == column.id
        ]
        for column in board.columns
    }


def _titles(columns: Sequence[Column]) -> list[str]:
    return [in_language(column.title) for column in columns]


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1_000


def arm_title(row: Row) -> str:
    """A baseline's name in the reader's language."""
    return str(Baseline.Arm(row.name).label) if row.name in Baseline.Arm.values else row.system


def caption(shown: Shown) -> str:
    place = shown.place
    return gettext("%(track)s, %(division)s, %(cycle)s: accuracy in points from 0 to 100") % {
        "track": TrackChoice(place.track).label,
        "division": DivisionChoice(place.division).label,
        "cycle": cycle_title(place.cycle),
    }


def cycle_title(cycle: Any) -> str:
    return in_language({"en": cycle.title, "zh": cycle.title_zh})


def formula(columns: Sequence[Column]) -> str:
    """``Overall = 1/8 A + 1/8 B + …`` with the weights of the pack's manifest."""
    terms = " + ".join(f"{_weight(column.weight)} × {in_language(column.title)}" for column in columns)
    return gettext(
        "Overall = %(terms)s. A capability is the mean over all its planned questions; a question lost to "
        "the service's failure counts 0, and the number of questions never shrinks."
    ) % {"terms": terms}


def _weight(weight: float) -> str:
    fraction = Fraction(weight).limit_denominator(100)
    return str(fraction) if abs(float(fraction) - weight) < 1e-9 else f"{weight:.4g}"


def noise(board: Board) -> str:
    if board.floor is None:
        return ""
    return gettext(
        "Two rows of this board need a difference of about %(points)s points to be told apart; less is noise."
    ) % {"points": score(board.floor)}


def profile_page(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the profile's template needs beside the profile: words in the reader's language."""
    return {
        "division": DivisionChoice(found["division"]).label,
        "runs": [_run_page(run) for run in found["runs"]],
        "fulls": [{**one, "track": TrackChoice(one["track"]).label} for one in found["fulls"]],
        "versions": [_version_page(version) for version in found["versions"]],
    }


def _run_page(run: Mapping[str, Any]) -> dict[str, Any]:
    figures = run["capabilities"]
    low, high = scale_for([edge for one in figures for edge in (one["ci_low"], one["ci_high"])])
    return {
        **run,
        "track_title": TrackChoice(run["track"]).label,
        "capabilities": [
            {**one, "title": in_language(one["title"]), "rubric": in_language(one["rubric"])}
            for one in figures
        ],
        "scale_min": low,
        "scale_max": high,
        "search_p50": _milliseconds(run["measures"].search_p50),
        "search_p95": _milliseconds(run["measures"].search_p95),
        "add_p50": _milliseconds(run["measures"].add_p50),
        "add_p95": _milliseconds(run["measures"].add_p95),
    }


_FIELD_TITLES = {
    "repository": _("Repository"),
    "commit": _("Commit"),
    "licence": _("Licence"),
    "product_version": _("Product version"),
    "organisation": _("Organisation"),
    "documentation": _("System documentation"),
    "models_and_dependencies": _("Models and dependencies"),
    "runtime_environment": _("Runtime environment"),
    "contact": _("Contact"),
}


def _version_page(version: Mapping[str, str]) -> dict[str, Any]:
    """``items`` for the page: (title, text, link); only addresses of the web become links."""
    items = [
        (title, version[name], version[name] if version[name].startswith(("https://", "http://")) else "")
        for name, title in _FIELD_TITLES.items()
        if version.get(name)
    ]
    return {"label": version["version"], "fields": items}
