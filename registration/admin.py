"""The organiser's view. Rows are read here; what changes them goes through the services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from aml.lib.text import whole_number
from aml.web import audit
from aml.web.errors import Refusal
from aml.web.models import User
from registration import services
from registration.forms.people import DecisionForm
from registration.models import Cycle, Entry, EvaluationKey, Member, Participant, Registration, Version

if TYPE_CHECKING:
    AnyAdmin = admin.ModelAdmin[Any]
    BaseCycleAdmin = admin.ModelAdmin[Cycle]
    BaseMemberInline = admin.TabularInline[Member, Participant]
else:  # at run time these classes take no parameters
    AnyAdmin = BaseCycleAdmin = admin.ModelAdmin
    BaseMemberInline = admin.TabularInline

#: Stored, but for nobody's eyes.
SECRET_FIELDS = frozenset({"memory_key_encrypted", "digest", "join_code"})


class ReadOnlyAdmin(AnyAdmin):
    """Shows every field but secrets, changes none, adds and deletes nothing."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return [field.name for field in self.opts.concrete_fields if field.name not in SECRET_FIELDS]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.get_fields(request, obj)

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm[Any], change: bool) -> None:
        """Nothing to save: every field is read-only."""

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Nothing changed."""

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> Any:
        context |= {
            "show_save": False,
            "show_save_and_continue": False,
            "show_save_and_add_another": False,
            "show_close": True,
        }
        return super().render_change_form(request, context, *args, **kwargs)


@admin.register(Cycle)
class CycleAdmin(BaseCycleAdmin):
    list_display = ("title", "is_public", "is_official", "opens_at", "registration_closes_at", "results_at")
    list_filter = ("is_public", "is_official")
    search_fields = ("title", "slug")
    prepopulated_fields: ClassVar[dict[str, Any]] = {"slug": ["title"]}
    fieldsets = (
        (
            None,
            {"fields": ("slug", "title", "title_zh", "summary", "summary_zh", "host", "contact")},
        ),
        (gettext_lazy("State"), {"fields": ("is_public", "is_official", "rules_version")}),
        (
            gettext_lazy("Dates"),
            {
                "fields": (
                    "timezone", "opens_at", "registration_closes_at", "full_closes_at",
                    "evaluation_stops_at", "results_at",
                )
            },
        ),
        (
            gettext_lazy("Quota"),
            {
                "fields": (
                    "full_limit", "full_scope", "start_limit", "smokes_per_hour", "smokes_per_track",
                    "checks_per_hour", "smoke_fresh_hours", "cooldown_hours", "start_deadline_hours",
                    "outage_end_hours",
                )
            },
        ),
        (
            gettext_lazy("Policies"),
            {
                "fields": (
                    "zero_share_succeeded", "zero_share_partial", "allow_no_auth_full", "allow_plain_http",
                    "limits",
                )
            },
        ),
    )  # fmt: skip

    def has_delete_permission(self, request: HttpRequest, obj: Cycle | None = None) -> bool:
        """A cycle with registrations stays."""
        allowed = super().has_delete_permission(request, obj)
        return allowed and obj is not None and not obj.registrations.exists()

    def save_model(self, request: HttpRequest, obj: Cycle, form: ModelForm[Cycle], change: bool) -> None:
        super().save_model(request, obj, form, change)
        audit.record(
            "cycle.changed" if change else "cycle.created", subject=f"cycle:{obj.slug}",
            actor=person(request), actor_label=audit.ORGANISER, fields=sorted(form.changed_data),
        )  # fmt: skip


class MemberInline(BaseMemberInline):
    model = Member
    extra = 0
    can_delete = False
    fields = ("user", "role", "joined_at")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Participant)
class ParticipantAdmin(ReadOnlyAdmin):
    list_display = ("name", "kind", "organisation", "created_at", "public_id")
    list_filter = ("kind", "registrations__cycle")
    search_fields = ("name", "organisation", "public_id", "members__user__email")
    inlines = (MemberInline,)


@admin.register(Registration)
class RegistrationAdmin(ReadOnlyAdmin):
    list_display = ("participant", "cycle", "division", "status", "submitted_at", "decided_at", "public_id")
    list_filter = ("status", "cycle", "division")
    list_select_related = ("participant", "cycle")
    search_fields = (
        "public_id", "participant__name", "participant__public_id", "participant__members__user__email",
        "keys__key_id",
    )  # fmt: skip
    date_hierarchy = "submitted_at"
    actions = ("decide",)
    change_form_template = "registration/admin_registration.html"

    @admin.action(description=gettext_lazy("Decide on the chosen applications"), permissions=["change"])
    def decide(self, request: HttpRequest, queryset: QuerySet[Registration]) -> HttpResponse:
        chosen = ",".join(str(pk) for pk in queryset.values_list("pk", flat=True))
        return HttpResponseRedirect(reverse("admin:registration_registration_decide") + f"?ids={chosen}")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.decide_view)
        return [path("decide/", view, name="registration_registration_decide"), *super().get_urls()]

    def decide_view(self, request: HttpRequest) -> HttpResponse:
        """Shows what is about to be decided, takes decision and reason, and calls the service for each."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        given = map(whole_number, request.GET.get("ids", "").split(","))
        ids = [number for number in given if number is not None]
        chosen = list(self.get_queryset(request).filter(pk__in=ids).select_related("participant", "cycle"))
        form = DecisionForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            self._decide_all(request, chosen, form)
            return HttpResponseRedirect(reverse("admin:registration_registration_changelist"))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Decide on applications"),
            "chosen": chosen,
            "form": form,
            "opts": self.opts,
        }
        return TemplateResponse(request, "registration/admin_decide.html", context)

    def _decide_all(self, request: HttpRequest, chosen: list[Registration], form: DecisionForm) -> None:
        approve = form.cleaned_data["decision"] == "approve"
        for registration in chosen:
            try:
                decided = services.decide_registration(
                    actor=person(request), registration=registration, approve=approve,
                    reason=form.cleaned_data["reason"],
                )  # fmt: skip
            except Refusal as refusal:
                self.message_user(request, f"{registration}: {refusal.reason}", messages.ERROR)
            else:
                self.message_user(request, f"{registration}: {decided.get_status_display()}")


class WithdrawingAdmin(ReadOnlyAdmin):
    """An admin with an act that withdraws rows one by one, through the service."""

    actions = ("withdraw",)

    @admin.action(description=gettext_lazy("Withdraw"), permissions=["change"])
    def withdraw(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            try:
                self.withdraw_one(request, row)
            except Refusal as refusal:
                self.message_user(request, f"{row}: {refusal.reason}", messages.ERROR)
            else:
                self.message_user(request, _("%(name)s was withdrawn.") % {"name": row})

    def withdraw_one(self, request: HttpRequest, row: Any) -> None:
        raise NotImplementedError


@admin.register(Entry)
class EntryAdmin(WithdrawingAdmin):
    list_display = ("name", "registration", "created_at", "withdrawn_at", "public_id")
    list_filter = ("registration__cycle", "registration__division", "tracks__track")
    list_select_related = ("registration__participant", "registration__cycle")
    search_fields = (
        "name", "slug", "public_id", "registration__participant__name",
        "registration__participant__members__user__email", "registration__keys__key_id",
    )  # fmt: skip

    def withdraw_one(self, request: HttpRequest, row: Entry) -> None:
        services.withdraw_entry(actor=person(request), entry=row)


@admin.register(Version)
class VersionAdmin(WithdrawingAdmin):
    list_display = ("__str__", "number", "created_at", "frozen_at", "withdrawn_at", "public_id")
    list_filter = ("entry__registration__cycle", "auth_scheme")
    list_select_related = ("entry",)
    search_fields = (
        "label", "public_id", "entry__name", "add_url", "search_url", "contact",
        "entry__registration__participant__name",
    )  # fmt: skip

    def withdraw_one(self, request: HttpRequest, row: Version) -> None:
        services.withdraw_version(actor=person(request), version=row)


@admin.register(EvaluationKey)
class EvaluationKeyAdmin(ReadOnlyAdmin):
    list_display = ("key_id", "registration", "created_by", "created_at", "last_used_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "registration__cycle")
    list_select_related = ("registration__participant", "registration__cycle", "created_by")
    search_fields = ("key_id", "registration__participant__name", "created_by__email")
    actions = ("revoke",)

    @admin.action(description=gettext_lazy("Revoke the chosen keys"), permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[EvaluationKey]) -> None:
        for key in queryset.select_related("registration"):
            try:
                services.revoke_key(actor=person(request), key=key)
            except Refusal as refusal:
                self.message_user(request, f"{key}: {refusal.reason}", messages.ERROR)
            else:
                self.message_user(request, _("%(key)s is revoked.") % {"key": key})


def person(request: HttpRequest) -> User:
    """Who is logged in; the admin lets nobody else this far."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user
