"""Starting a Smoke or a Full: decided again under the registration's lock, written in one transaction."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from aml.web import audit, clock
from aml.web.background import wake
from aml.web.errors import FieldRefusal, Refusal
from aml.web.forms import text_problem
from aml.web.models import User
from evaluations import states, tasks
from evaluations.models import CycleTrack, Run
from evaluations.records import quota
from evaluations.records.transitions import PARTICIPANT, Why, add_event
from evaluations.services import statements
from evaluations.services.eligibility import may_start
from evaluations.services.facts import Facts
from evaluations.services.limits import cycle_limits
from registration.models import Registration, Version
from registration.models.entries import TrackChoice
from registration.services import guards

LABEL_LENGTH = 80
FULL_ACCEPTED = gettext_noop(
    "Accepted. The version is frozen from now on; the platform starts the run before the deadline shown here."
)
SMOKE_ACCEPTED = gettext_noop("Accepted. A Smoke is private and never ranked.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is asked for. ``add`` and ``search`` are calls at once; None means as declared.

    ``accepted`` are the ids of the statements that were ticked, of the texts' ``statements_version``.
    """

    track: str
    kind: str
    label: str
    add: int | None = None
    search: int | None = None
    accepted: Collection[str] = ()
    statements_version: int = statements.VERSION


def start_run(*, actor: User, version: Version, order: Order) -> Run:
    """Accept a run. Raises Refusal with a code of interfaces.md; then nothing was changed."""
    _check_words(order)
    try:
        with transaction.atomic():
            return _start(actor=actor, version=version, order=order)
    except IntegrityError as error:
        raise _refusal_of(error) from error


def _start(*, actor: User, version: Version, order: Order) -> Run:
    # The registration's row serialises every start, change and withdrawal of its versions.
    registration = guards.locked_registration(version.entry.registration)
    guards.acting_member(actor, registration.participant)
    version = _version_now(version, registration)
    now = clock.now()
    facts = Facts(registration, now=now)
    decision = may_start(version=version, track=order.track, kind=order.kind, facts=facts)
    if not decision.allowed:
        raise decision.refusal(now=now)
    _check_statements(order)
    label = order.label.strip()
    if Run.objects.filter(registration=registration, label=label).exists():
        raise _label_taken(label)
    return _accept(actor=actor, version=version, order=order, facts=facts)


def _version_now(version: Version, registration: Registration) -> Version:
    found = Version.objects.select_related("entry").get(pk=version.pk, entry__registration=registration)
    found.entry.registration = registration
    return found


def _accept(*, actor: User, version: Version, order: Order, facts: Facts) -> Run:
    registration, cycle, now = facts.registration, facts.cycle, facts.now
    entered = facts.tracks[order.track]
    if entered.contract is None:
        raise ValueError("an open track has a contract")
    full = order.kind == states.RunKind.FULL
    run = Run.objects.create(
        version=version, registration=registration, cycle=cycle, track=order.track, kind=order.kind,
        label=order.label.strip(), contract=entered.contract,
        pack=entered.contract.full_pack if full else entered.contract.smoke_pack,
        spec=_spec(version, order=order, entered=entered), started_by=actor, accepted_at=now,
        start_deadline_at=now + timedelta(hours=cycle.start_deadline_hours),
    )  # fmt: skip
    if full and version.frozen_at is None:
        version.frozen_at = now
        version.save(update_fields=["frozen_at"])
    quota.reserve(run, now=now)
    sentence = FULL_ACCEPTED if full else SMOKE_ACCEPTED
    why = Why(actor=PARTICIPANT, sentence=sentence, user=actor)
    add_event(run, kind="accepted", why=why, moved=("", str(run.status)), at=now)
    audit.record(
        "run.accepted", subject=f"run:{run.public_id}", actor=actor, actor_label=PARTICIPANT,
        version=version.public_id, track=run.track, kind=run.kind, rules_version=cycle.rules_version,
    )  # fmt: skip
    wake(tasks.drive)
    return run


def _spec(version: Version, *, order: Order, entered: CycleTrack) -> dict[str, Any]:
    cycle, contract = entered.cycle, entered.contract
    if contract is None:
        raise ValueError("an open track has a contract")
    most = cycle_limits(cycle).at_once(add=version.add_concurrency, search=version.search_concurrency)
    return {
        "endpoint": version.endpoint(),
        "concurrency": {
            "add": _chosen("add", order.add, most=most["add"]),
            "search": _chosen("search", order.search, most=most["search"]),
        },
        "limits": cycle.limits,
        "statements": statements.record(order.accepted),
        "rules_version": cycle.rules_version,
        **{name: getattr(cycle, name) for name in Run.ENDING_RULES},
        "code_revision": settings.CODE_REVISION,
        "contract_hash": contract.hash,
        "models": {"answer": contract.answer_model, "judge": contract.judge_model},
    }


def _chosen(name: str, wanted: int | None, *, most: int) -> int:
    if wanted is None:
        return most
    if 1 <= wanted <= most:
        return wanted
    raise FieldRefusal(
        f"concurrency.{name}",
        _(
            "Got %(wanted)s; expected a number from 1 to %(most)s, as the version declares and the "
            "contract allows."
        )
        % {"wanted": wanted, "most": most},
    )


def _check_words(order: Order) -> None:
    """Values that no rule could make right."""
    if order.track not in TrackChoice.values:
        raise FieldRefusal("track", _expected(order.track, TrackChoice.values))
    if order.kind not in states.RunKind.values:
        raise FieldRefusal("kind", _expected(order.kind, states.RunKind.values))
    label = order.label.strip()
    if not 1 <= len(label) <= LABEL_LENGTH:
        raise FieldRefusal("label", _("A label has 1 to %(most)s characters.") % {"most": LABEL_LENGTH})
    if problem := text_problem(label, multiline=False):
        raise FieldRefusal("label", problem)


def _expected(came: str, values: Collection[str]) -> str:
    return _("Got “%(came)s”; expected one of: %(values)s.") % {"came": came, "values": ", ".join(values)}


def _check_statements(order: Order) -> None:
    if order.kind != states.RunKind.FULL:
        return
    absent = statements.missing(order.accepted)
    if order.statements_version != statements.VERSION:
        reason = _("The statements have changed since you read them; please read them again.")
        absent = list(statements.IDS)
    elif absent:
        reason = _("A Full is accepted only with every statement confirmed.")
    else:
        return
    raise Refusal(
        "statements_missing", reason, hint=_("Missing: %(ids)s.") % {"ids": ", ".join(absent)},
        missing=absent, statements_version=statements.VERSION,
    )  # fmt: skip


def _label_taken(label: str) -> FieldRefusal:
    return FieldRefusal(
        "label",
        _("You have a run with the label “%(label)s”.") % {"label": label},
        hint=_("Choose another label."),
        code="label_taken",
        status=409,
    )


def _refusal_of(error: IntegrityError) -> Refusal:
    """Somebody was first: the constraint that noticed says what is refused."""
    text = str(error)
    if "run_one_active" in text:
        return Refusal("active_run", _("Another run has just been started in this track; one at a time."))
    if "quota_slot" in text:
        return Refusal("quota_used", _("The last Full has just been started."))
    if "label" in text:
        return FieldRefusal("label", _("You have a run with this label."), code="label_taken", status=409)
    raise error
