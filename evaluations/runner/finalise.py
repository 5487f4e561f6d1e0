"""The end of a run: scores from the ledger, then one transaction that writes them and moves the status."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_noop

from aml.web import clock
from evaluations import states
from evaluations.engine.aggregate import score_fields
from evaluations.engine.outcome import Outcome, count_asks, outcome
from evaluations.engine.types import Aggregate, AskScore, Fault
from evaluations.models import Run, RunScore, Unit
from evaluations.records.transitions import PLATFORM, Why, lock, transition
from evaluations.runner.measures import measure
from evaluations.runner.scores import aggregate_run, ask_scores

SUCCEEDED = gettext_noop("Finished: every question is scored.")
PARTIAL = gettext_noop(
    "Finished, partially: calls to the memory service failed for good, and the questions behind them count as 0. "
    "The result is listed, not ranked."
)
FAILED = gettext_noop(
    "Too many calls to the memory service failed for good: the questions behind them count as 0, and more of them "
    "than the cycle allows."
)
WAITS_FOR_VERDICTS = gettext_noop(
    "Some questions could not be settled by the models. This is not the participant's fault; they are tried again, "
    "and the run finishes when each has a score."
)


def finish(run_id: int) -> bool:
    """Score and close a run whose units are all final; False if it isn't ready or was closed before.

    Computing happens outside the transaction: results don't change any more. Two that finish at once
    compute the same, and only one finds the run still open.
    """
    run = Run.objects.select_related("pack", "contract", "cycle").get(pk=run_id)
    if run.is_final or run.planned_at is None or _open(run):
        return False
    scores = ask_scores(run)
    ended = outcome(
        count_asks(scores, planned=len(scores)),
        succeeded_up_to=run.rule("zero_share_succeeded"),
        partial_up_to=run.rule("zero_share_partial"),
    )
    if ended is None:
        _wait_for_verdicts(run)
        return False
    figures, measures = aggregate_run(run, scores), measure(run)
    with transaction.atomic():
        run = lock(run_id)
        if run.is_final or _open(run):
            return False
        _write_score(run, figures, measures)
        moved = transition(run_id, _STATUS[ended], why=_why(ended, scores))
        if not moved:  # never a score without its end
            transaction.set_rollback(True)
    return moved


_STATUS = {
    Outcome.SUCCEEDED: states.RunStatus.SUCCEEDED,
    Outcome.PARTIAL: states.RunStatus.PARTIAL,
    Outcome.FAILED: states.RunStatus.FAILED,
}


def _open(run: Run) -> bool:
    return Unit.objects.filter(run=run).exclude(status__in=states.UNIT_FINAL).exists()


def _why(ended: Outcome, scores: list[AskScore]) -> Why:
    if ended is Outcome.SUCCEEDED:
        return Why(actor=PLATFORM, sentence=SUCCEEDED)
    met = Counter(score.reason for score in scores if score.failed_by is Fault.PARTICIPANT and score.reason)
    code = met.most_common(1)[0][0]
    if ended is Outcome.PARTIAL:
        return Why(actor=PLATFORM, sentence=PARTIAL, code=code, fault=Fault.PARTICIPANT)
    return Why(actor=PLATFORM, sentence=FAILED, code=code, fault=Fault.PARTICIPANT)


def _write_score(run: Run, figures: Aggregate, measures: dict[str, Any]) -> None:
    RunScore.objects.create(run=run, measures=measures, computed_at=clock.now(), **score_fields(figures))


def _wait_for_verdicts(run: Run) -> None:
    if run.status != states.RunStatus.PAUSED:
        transition(
            run.pk, states.RunStatus.PAUSED, why=Why(actor=PLATFORM, sentence=WAITS_FOR_VERDICTS),
            pause_reason=states.PauseReason.PROVIDER,
        )  # fmt: skip
