"""From the ledger's rows to scores. Reads only, and gives the same each time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluations import states
from evaluations.engine.aggregate import aggregate
from evaluations.engine.types import Aggregate, AskScore, Fault
from evaluations.models import Result, Run, Unit
from evaluations.models.ledger import KindChoice

OPEN = "OPEN"


@dataclass(frozen=True, slots=True)
class AskRow:
    """One planned ask with what the ledger holds of it."""

    ask: str
    question: str
    search: tuple[str, str, str]  # status, code, fault
    failed: tuple[str, str] | None  # code and fault of the model unit that failed
    value: float | None
    reason: str


def ask_rows(run: Run) -> Iterator[AskRow]:
    """Every planned ask once, in the order of lanes and positions."""
    scores = _scores(run)
    failed = _failed_model_units(run)
    searches = Unit.objects.filter(run=run, kind=KindChoice.SEARCH).order_by("lane__position", "position")
    for ask, question, status, code, fault in searches.values_list(
        "ask", "question", "status", "code", "fault"
    ):
        value, reason = scores.get(ask, (None, OPEN))
        yield AskRow(ask, question, (status, code, fault), failed.get(ask), value, reason)


def _scores(run: Run) -> dict[str, tuple[float | None, str]]:
    """A judge's score stands where a verdict was needed, the answer's own elsewhere."""
    found: dict[str, tuple[float | None, str]] = {}
    rows = Result.objects.filter(run=run, kind__in=[KindChoice.ANSWER, KindChoice.JUDGE]).order_by("kind")
    for ask, kind, score, reason, data in rows.values_list("ask", "kind", "score", "reason", "data"):
        if kind == KindChoice.JUDGE or not data.get("needs_judge"):
            found[ask] = (score, reason)
    return found


def _failed_model_units(run: Run) -> dict[str, tuple[str, str]]:
    rows = Unit.objects.filter(
        run=run, kind__in=[KindChoice.ANSWER, KindChoice.JUDGE], status=states.UnitStatus.FAILED
    )
    return {ask: (code, fault) for ask, code, fault in rows.values_list("ask", "code", "fault")}


def ask_scores(run: Run) -> list[AskScore]:
    facts = {row["key"]: row for row in run.pack.questions.values("key", "sample", "dataset", "capability")}
    return [_score(row, facts[row.question]) for row in ask_rows(run)]


def _score(row: AskRow, facts: Mapping[str, Any]) -> AskScore:
    value, reason, failed_by = _value(row)
    return AskScore(
        ask=row.ask, question=row.question, sample=facts["sample"], dataset=facts["dataset"],
        capability=facts["capability"], value=value, reason=reason, failed_by=failed_by,
    )  # fmt: skip


def _value(row: AskRow) -> tuple[float | None, str | None, Fault | None]:
    status, code, fault = row.search
    if status in (states.UnitStatus.FAILED, states.UnitStatus.SKIPPED) and fault == Fault.PARTICIPANT:
        return 0.0, code, Fault.PARTICIPANT
    if row.value is not None:
        return row.value, None, None
    return None, row.failed[0] if row.failed else (row.reason or OPEN), None


def aggregate_run(run: Run, scores: list[AskScore]) -> Aggregate:
    """The denominators are the pack's planned asks; the seed is the contract's hash."""
    planned = Counter(score.capability for score in scores)
    return aggregate(
        scores, capabilities=run.pack.read_manifest().capabilities, planned=planned, seed=run.contract.hash
    )
