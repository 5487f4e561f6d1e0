"""May this version start now? One answer for page, API and admin (product.md, rules 3 to 7)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from aml.web import formats
from evaluations import states
from evaluations.models import Check
from evaluations.services.decisions import YES, Decision, first_no, no
from evaluations.services.facts import HOUR, Facts
from evaluations.services.startable import Question, Rule, startable
from registration.models import Version
from registration.models.entries import AuthChoice


def may_start(*, version: Version, track: str, kind: str, facts: Facts) -> Decision:
    """The first thing that stands in the way, the most lasting first.

    ``active_run`` comes before the quota and the cooldown: a run that ends in this moment has then
    either been seen as active, or its ledger rows are seen too.
    """
    asked = Question(version, track, kind, facts)
    rules = FULL_RULES if kind == states.RunKind.FULL else SMOKE_RULES
    decision = first_no(rule(asked) for rule in (startable, *rules))
    return _within(decision, stops=asked.stops_at)


def _within(decision: Decision, *, stops: datetime) -> Decision:
    """A time after the cycle's last start is no time at all."""
    opens = decision.next_allowed_at
    if opens is None or opens < stops:
        return decision
    hint = _("That is after the last start in this cycle (%(when)s).") % {"when": formats.utc(stops)}
    return no(decision.code, decision.reason, hint=hint, status=decision.status, **decision.extra)


def active_run(asked: Question) -> Decision:
    run = asked.facts.active_runs.get((asked.kind, asked.track))
    if run is None:
        return YES
    return no(
        "active_run",
        _("“%(run)s” is under way in this track; one at a time.") % {"run": run.label},
        hint=_("Wait until it is finished, or cancel it on its page."),
        run=run.public_id,
    )


def authenticated(asked: Question) -> Decision:
    if asked.version.auth_scheme != AuthChoice.NONE or asked.cycle.allow_no_auth_full:
        return YES
    return no(
        "auth_required",
        _("A Full needs a service that asks for a memory key; this version declares none."),
        hint=_("Make a version with an authentication scheme and a memory key."),
    )


def quota_left(asked: Question) -> Decision:
    used = asked.facts.fulls[asked.track]
    if used.left:
        return YES
    scope = _("in this cycle") if used.scope == "cycle" else _("in this track")
    return no(
        "quota_used",
        _("All %(limit)s Fulls %(scope)s are used or reserved.") % {"limit": used.limit, "scope": scope},
        hint=_("One comes back only if a run ends through the platform's or the model provider's fault."),
        limit=used.limit,
        used=used.used,
    )


def starts_left(asked: Question) -> Decision:
    started, limit = asked.facts.starts_used, asked.cycle.start_limit
    if started < limit:
        return YES
    return no(
        "starts_used",
        _("A Full was started %(started)s times; this cycle allows %(limit)s starts, refunded ones included.")
        % {"started": started, "limit": limit},
        hint=_("Write to the organiser if the platform caused this."),
        limit=limit,
        used=started,
    )


def cooldown_over(asked: Question) -> Decision:
    until = asked.facts.cooldowns.get(asked.track)
    if until is None:
        return YES
    return no(
        "cooldown",
        _("The cooldown in this track lasts until %(when)s.") % {"when": formats.utc(until)},
        hint=_("It began when the last Full in this track finished."),
        next_allowed_at=until,
    )


def checked(asked: Question) -> Decision:
    check = asked.facts.deciding_checks.get((asked.version.pk, asked.track))
    if check is None:
        reason = _("This version has no conformance check in this track yet.")
    elif check.status == Check.Status.FAILED:
        reason = _("A gate of this version's newest conformance check failed.")
    elif _edited_since(check.requested_at, asked.version) or _changed_since(
        asked.facts.checked_endpoints[check.pk], asked.version
    ):
        reason = _("The version was changed after its conformance check.")
    else:
        return YES
    hint = _("Run the conformance check; it takes a minute or two and costs no quota.")
    return no("check_required", reason, hint=hint, check=check.public_id if check else None)


def _edited_since(tested_at: datetime, version: Version) -> bool:
    """Code, image, endpoints, authentication or capacity: a Full runs what was tested."""
    return version.changed_at is not None and version.changed_at > tested_at


def _changed_since(tested: dict[str, str | None] | None, version: Version) -> bool:
    """``tested`` is the endpoint of a report, which calls the scheme ``auth``."""
    if not tested:
        return False
    names = {"auth_scheme": "auth"}
    return any(
        (tested.get(names.get(name, name)) or "") != value for name, value in version.endpoint().items()
    )


def smoked(asked: Question) -> Decision:
    smoke = asked.facts.passed_smokes.get((asked.version.pk, asked.track))
    if smoke is None or smoke.finished_at is None:
        return no(
            "smoke_required",
            _("A Full needs a passing Smoke of the same version in this track."),
            hint=_("Start a Smoke; its failing exchanges are shown to you."),
        )
    fresh_until = smoke.finished_at + timedelta(hours=asked.cycle.smoke_fresh_hours)
    if asked.facts.now >= fresh_until:
        reason = _("The newest passing Smoke was fresh until %(when)s.") % {"when": formats.utc(fresh_until)}
        return no("smoke_stale", reason, hint=_("Start another Smoke."), smoke=smoke.public_id)
    changed = smoke.spec["endpoint"] != asked.version.endpoint()
    if changed or _edited_since(smoke.accepted_at, asked.version):
        reason = _("The version was changed after its newest passing Smoke.")
        return no("smoke_stale", reason, hint=_("Start another Smoke."), smoke=smoke.public_id)
    return YES


def budget_left(asked: Question) -> Decision:
    """No Full is accepted while another one waits because our account with the model provider is empty."""
    if not asked.facts.credit_is_gone:
        return YES
    return no(
        "budget",
        _("The platform's account with the model provider has no credit at the moment."),
        hint=_("The organiser was told. Nothing is wrong on your side; try again later."),
    )


def smokes_left(asked: Question) -> Decision:
    used, limit = asked.facts.smokes_used[asked.track], asked.cycle.smokes_per_track
    if used < limit:
        return YES
    return no(
        "quota_used",
        _("All %(limit)s Smokes in this track are used.") % {"limit": limit},
        hint=_("The conformance check can still be run."),
        limit=limit,
        used=used,
    )


def smoke_rate(asked: Question) -> Decision:
    limit = asked.cycle.smokes_per_hour
    return hourly(
        [at for track, at in asked.facts.recent_smokes if track == asked.track],
        limit=limit,
        code="smoke_limit",
        what=_("At most %(limit)s Smokes an hour in a track.") % {"limit": limit},
    )


def hourly(recent: list[datetime], *, limit: int, code: str, what: str) -> Decision:
    """``recent``: times within the last hour, newest first."""
    if len(recent) < limit:
        return YES
    opens = recent[limit - 1] + HOUR if limit else None
    hint = _("The next may start at %(when)s.") % {"when": formats.utc(opens)} if opens else ""
    return no(code, what, hint=hint, status=429, next_allowed_at=opens)


FULL_RULES: tuple[Rule, ...] = (
    active_run, authenticated, quota_left, starts_left, cooldown_over, checked, smoked, budget_left,
)  # fmt: skip
SMOKE_RULES: tuple[Rule, ...] = (active_run, smokes_left, smoke_rate)
