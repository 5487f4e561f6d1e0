"""What organisers see of evaluations. Rows are read only; acts go through the services, with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from aml.web.errors import Refusal
from aml.web.models import User
from evaluations import services
from evaluations.forms import CycleTrackForm, GrantForm, ReasonAction
from evaluations.models import Baseline, Check, CycleTrack, EvaluationContract, QuotaEntry, Run, RunEvent

if TYPE_CHECKING:
    AnyAdmin = admin.ModelAdmin[Any]
    RunInline = admin.TabularInline[RunEvent, Run]
else:
    # The classes take no parameters at run time.
    AnyAdmin, RunInline = admin.ModelAdmin, admin.TabularInline


class ReadOnly(AnyAdmin):
    """Looks, and changes nothing."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class EventInline(RunInline):
    model = RunEvent
    fields = ("number", "at", "kind", "status_from", "status_to", "actor", "sentence")
    readonly_fields = fields
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = (
        "label", "public_id", "participant", "track", "kind", "status", "phase", "pause_reason", "fault",
        "accepted_at", "start_deadline_at",
    )  # fmt: skip
    list_filter = ("kind", "status", "pause_reason", "track", "publication", "fault", "cycle")
    search_fields = (
        "public_id", "label", "version__public_id", "version__entry__name", "version__add_url",
        "version__search_url", "registration__participant__name",
        "registration__participant__members__user__email", "registration__keys__key_id",
    )  # fmt: skip
    search_help_text = gettext_lazy("Run, label, system, host, participant, e-mail address or key id.")
    list_select_related = ("registration__participant",)
    date_hierarchy = "accepted_at"
    exclude = ("secret", "flow", "model_flow", "pace")
    inlines = (EventInline,)
    action_form = ReasonAction
    actions = ("pause", "resume", "cancel_for_platform")

    @admin.display(description=gettext_lazy("participant"))
    def participant(self, run: Run) -> str:
        return run.registration.participant.name

    @admin.action(description=gettext_lazy("Pause (needs a reason)"))
    def pause(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        reason = request.POST.get("reason", "")
        self._each(request, runs, lambda actor, run: services.pause_run(actor=actor, run=run, reason=reason))

    @admin.action(description=gettext_lazy("Resume"))
    def resume(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        self._each(request, runs, lambda actor, run: services.resume_run(actor=actor, run=run))

    @admin.action(description=gettext_lazy("Cancel as the platform's fault (needs a reason)"))
    def cancel_for_platform(self, request: HttpRequest, runs: QuerySet[Run]) -> None:
        reason = request.POST.get("reason", "")
        self._each(
            request,
            runs,
            lambda actor, run: services.cancel_for_platform(actor=actor, run=run, reason=reason),
        )

    def _each(self, request: HttpRequest, runs: QuerySet[Run], act: Callable[[User, Run], Run]) -> None:
        """One run after the other; a refusal names its run and stops none of the others."""
        done = 0
        for run in runs.select_related("registration__participant"):
            try:
                act(_person(request), run)
                done += 1
            except Refusal as refusal:
                messages.error(request, f"{run}: {refusal.reason} {refusal.hint}")
        if done:
            text = ngettext("%(count)s run changed.", "%(count)s runs changed.", done)
            messages.success(request, text % {"count": done})

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        # Actions need it in the list; a run's own form stays closed.
        return obj is None and request.user.has_perm("evaluations.change_run")


@admin.register(Check)
class CheckAdmin(ReadOnly):
    list_display = ("public_id", "version", "track", "status", "requested_at", "finished_at")
    list_filter = ("status", "track")
    search_fields = ("public_id", "version__entry__name", "version__add_url")
    list_select_related = ("version__entry",)
    exclude = ("secret", "claim_token")


@admin.register(EvaluationContract)
class EvaluationContractAdmin(ReadOnly):
    list_display = ("hash", "track", "full_pack", "smoke_pack", "offline", "calibrated", "created_at")
    list_filter = ("track", "offline", "calibrated")
    search_fields = ("hash",)
    list_select_related = ("full_pack", "smoke_pack")


@admin.register(CycleTrack)
class CycleTrackAdmin(AnyAdmin):
    """Which contract a track is scored under, and whether it takes runs."""

    form = CycleTrackForm
    list_display = ("cycle", "track", "contract", "is_open")
    list_filter = ("cycle", "is_open")
    list_select_related = ("cycle", "contract")

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: CycleTrack, form: Any, change: bool) -> None:
        services.save_track(actor=_person(request), track=obj)


@admin.register(Baseline)
class BaselineAdmin(ReadOnly):
    list_display = ("contract", "arm", "overall", "ci_low", "ci_high", "measured_at")
    list_filter = ("arm",)
    list_select_related = ("contract",)


@admin.register(QuotaEntry)
class QuotaEntryAdmin(AnyAdmin):
    """The ledger. Its one open end is a grant: who, why, how many."""

    form = GrantForm
    list_display = ("at", "registration", "track", "kind", "act", "amount", "run_link", "reason", "actor")
    list_filter = ("act", "kind", "track")
    search_fields = ("registration__participant__name", "run__public_id", "reason")
    list_select_related = ("registration__participant", "registration__cycle", "run", "actor")

    @admin.display(description=gettext_lazy("run"))
    def run_link(self, entry: QuotaEntry) -> str:
        return format_html("{}", entry.run.label) if entry.run else "–"

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: QuotaEntry, form: Any, change: bool) -> None:
        made = services.grant(actor=_person(request), **form.asked())
        # The admin goes on with its own object: it must be the row that the service wrote.
        obj.pk = made.pk
        obj.refresh_from_db()


def _person(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise Refusal("not_an_organiser", _("Only an organiser may do this."), status=403)
    return request.user
