"""``/rules/``: made from the cycle's row and the constants that the code decides by."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from aml.pages import cycles
from evaluations.services.statements import STATEMENTS
from registration import types
from registration.models import Cycle, Version

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

#: What each row of the policy table is about, in words.
ENDS: dict[str, StrOrPromise] = {
    "succeeded": _("Succeeded"),
    "partial": _("Partly completed"),
    "failed:participant": _("Failed by the participant's service"),
    "failed:provider": _("Failed by the model provider"),
    "failed:platform": _("Failed by the platform"),
    "cancelled:before-first-add": _("Cancelled before the first Add"),
    "cancelled:after-first-add": _("Cancelled after the first Add"),
    "cancelled:platform-stood-still": _("Cancelled after our side stood still"),
}


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    cycle = cycles.current()
    ruling = cycle or Cycle()
    context = {
        **cycles.context(cycle),
        "rules_of": ruling,
        "cooldown": timedelta(hours=ruling.cooldown_hours),
        "policy": policy(),
        "open_source_fields": _titles(types.DIVISION_FIELDS[types.Division.OPEN_SOURCE]),
        "commercial_fields": _titles(types.DIVISION_FIELDS[types.Division.COMMERCIAL]),
        "required_fields": _titles(types.REQUIRED_FIELDS),
        "alarm_hours": types.START_ALARM_HOURS,
        "statements": STATEMENTS,
    }
    return render(request, "pages/rules.html", context)


def policy() -> list[dict[str, Any]]:
    """The policy table as it is applied: how a Full ends, whether the slot is used, whether it cools down."""
    return [
        {
            "key": row.key,
            "title": ENDS[row.key],
            "used": row.quota is types.QuotaEffect.USED,
            "cooldown": row.cooldown,
        }
        for row in types.DEFAULT_POLICY
    ]


def _titles(names: tuple[str, ...]) -> list[StrOrPromise]:
    known = {field.name: field.verbose_name for field in Version._meta.concrete_fields}
    return [known[name] for name in names]
