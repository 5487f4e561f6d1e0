"""Cancelling, pausing and resuming runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from aml.web import audit, clock
from aml.web.background import wake
from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import User
from evaluations import states, tasks
from evaluations.engine.types import Fault
from evaluations.models import Run
from evaluations.records import quota
from evaluations.records.flows import limits_of, model_flow, service_flow
from evaluations.records.transitions import ORGANISER, PARTICIPANT, Why, add_event, lock, transition
from registration.services import guards
from registration.types import PolicyRow

CANCELLED = gettext_noop("Cancelled by the participant.")
CANCELLED_BY_US = gettext_noop("Cancelled by the organiser as the platform's fault; the quota is given back.")
PAUSED = gettext_noop(
    "Paused by the organiser. Nothing is lost; the run goes on when the organiser resumes it."
)
RESUMED = gettext_noop("Resumed by the organiser.")
PROBE = gettext_noop("A call is tried at once: the participant says that the service is back.")


@dataclass(frozen=True, slots=True)
class CancelCost:
    """What cancelling now does; ``row`` is the policy table's."""

    row: PolicyRow
    stood_still: bool


def cancel_cost(run: Run) -> CancelCost:
    """For an active run, as the ledger would settle it at this moment."""
    still = stood_still(run)
    return CancelCost(row=quota.POLICY[quota.cancel_key(run, stood_still=still)], stood_still=still)


def stood_still(run: Run) -> bool:
    """Paused for the model provider or by the organiser: our side keeps the run waiting."""
    return run.pause_reason in (states.PauseReason.PROVIDER, states.PauseReason.OPERATOR)


def cancel_run(*, actor: User, run: Run, expected: str = "") -> Run:
    """End an active run on its participant's wish.

    ``expected`` is the policy key that the person was told; if it has changed meanwhile, nothing happens.
    """
    guards.acting_member(actor, run.registration.participant)
    with transaction.atomic():
        run = lock(run.pk)
        _refuse_final(run)
        cost = cancel_cost(run)
        if expected and expected != cost.row.key:
            raise Refusal(
                "cost_changed",
                _("The run has moved on meanwhile, and cancelling it now costs something else."),
                hint=_("Read what it costs now and confirm again."),
            )
        why = Why(actor=PARTICIPANT, sentence=CANCELLED, user=actor)
        transition(run.pk, states.RunStatus.CANCELLED, why=why, stood_still=cost.stood_still)
        _audit("run.cancelled", run, actor=actor, label=PARTICIPANT, policy=cost.row.key)
    return Run.objects.get(pk=run.pk)


def cancel_for_platform(*, actor: User, run: Run, reason: str) -> Run:
    """An organiser ends a run that our side spoilt: the slot comes back, there is no cooldown."""
    guards.organiser(actor)
    _need_reason(reason)
    with transaction.atomic():
        run = lock(run.pk)
        _refuse_final(run)
        why = Why(actor=ORGANISER, sentence=CANCELLED_BY_US, user=actor, fault=Fault.PLATFORM)
        transition(run.pk, states.RunStatus.CANCELLED, why=why, stood_still=True)
        _audit("run.cancelled", run, actor=actor, label=ORGANISER, reason=reason, public=run.kind == "full")
    return Run.objects.get(pk=run.pk)


def pause_run(*, actor: User, run: Run, reason: str) -> Run:
    guards.organiser(actor)
    _need_reason(reason)
    with transaction.atomic():
        run = lock(run.pk)
        _refuse_final(run)
        if run.status == states.RunStatus.PAUSED:
            raise Refusal(
                "run_paused", _("The run is paused: %(why)s.") % {"why": run.get_pause_reason_display()}
            )
        why = Why(actor=ORGANISER, sentence=PAUSED, user=actor)
        transition(run.pk, states.RunStatus.PAUSED, why=why, pause_reason=states.PauseReason.OPERATOR)
        _audit("run.paused", run, actor=actor, label=ORGANISER, reason=reason)
    return Run.objects.get(pk=run.pk)


def resume_run(*, actor: User, run: Run) -> Run:
    """An organiser ends an operator's pause; anybody who may act has a call tried at once after an outage."""
    role = guards.acting_member_or_organiser(actor, run.registration.participant)
    with transaction.atomic():
        run = lock(run.pk)
        _refuse_final(run)
        if run.pause_reason == states.PauseReason.OPERATOR:
            _end_pause(run, actor=actor, role=role)
        elif run.pause_reason == states.PauseReason.PROVIDER and role != ORGANISER:
            raise Refusal(
                "waiting_for_provider",
                _("The run waits for the model provider, not for you."),
                hint=_("It goes on by itself; nothing is charged for waiting."),
            )
        else:
            _probe_now(run, actor=actor, role=role, now=clock.now())
        _audit("run.resumed", run, actor=actor, label=role)
        wake(tasks.drive)
    return Run.objects.get(pk=run.pk)


def _end_pause(run: Run, *, actor: User, role: str) -> None:
    if role != ORGANISER:
        raise Refusal("paused_by_operator", _("The organiser has paused this run and resumes it."))
    to = states.RunStatus.QUEUED if run.first_add_at is None else states.RunStatus.RUNNING
    transition(run.pk, to, why=Why(actor=role, sentence=RESUMED, user=actor))


def _probe_now(run: Run, *, actor: User, role: str, now: datetime) -> None:
    """Let the next probe through at once; the pause ends with its success, as always."""
    limits = limits_of(run)
    flows = {"flow": service_flow(run, limits=limits), "model_flow": model_flow(run, limits=limits)}
    opened = {name: state for name, state in flows.items() if state.breaker is not None}
    if not opened:
        raise Refusal("not_paused", _("The run is not waiting for anything; it goes on."))
    for name, state in opened.items():
        if state.breaker is not None:
            breaker = replace(state.breaker, next_probe_at=min(state.breaker.next_probe_at, now.timestamp()))
            setattr(run, name, replace(state, breaker=breaker).to_json())
    run.save(update_fields=list(opened))
    add_event(run, kind="probe", why=Why(actor=role, sentence=PROBE, user=actor), at=now)


def _refuse_final(run: Run) -> None:
    if run.is_final:
        raise Refusal(
            "run_finished", _("The run is over: %(status)s.") % {"status": run.get_status_display()}
        )


def _need_reason(reason: str) -> None:
    if not reason.strip():
        raise FieldRefusal("reason", _("Say why, in a sentence."))


def _audit(act: str, run: Run, *, actor: User, label: str, **fields: object) -> None:
    audit.record(
        act, subject=f"run:{run.public_id}", actor=actor, actor_label=label,
        reason=str(fields.pop("reason", "")), public=bool(fields.pop("public", False)), **fields,
    )  # fmt: skip
