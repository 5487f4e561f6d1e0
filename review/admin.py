"""The organiser reads cases; only reviewers decide, on their own pages."""

from __future__ import annotations

from django.contrib import admin

from registration.admin import ReadOnlyAdmin
from review.models import Case, Decision, Finding, Material


@admin.register(Case)
class CaseAdmin(ReadOnlyAdmin):
    list_display = ("run", "status", "round", "opened_at", "closed_at", "public_id")
    list_filter = ("status", "run__track", "run__registration__division", "run__cycle")
    list_select_related = ("run",)
    search_fields = ("public_id", "run__public_id", "run__version__entry__name")
    date_hierarchy = "opened_at"


@admin.register(Finding)
class FindingAdmin(ReadOnlyAdmin):
    list_display = ("case", "kind", "severity", "found_at")
    list_filter = ("severity", "kind")
    list_select_related = ("case__run",)
    search_fields = ("case__public_id", "case__run__public_id")


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("case", "round", "verdict", "reviewer", "at")
    list_filter = ("verdict",)
    list_select_related = ("case__run", "reviewer")
    search_fields = ("case__public_id", "case__run__public_id", "reviewer__email")


@admin.register(Material)
class MaterialAdmin(ReadOnlyAdmin):
    list_display = ("case", "round", "sent_by", "at")
    list_select_related = ("case__run", "sent_by")
    search_fields = ("case__public_id", "case__run__public_id")
