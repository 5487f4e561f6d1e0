"""Evaluation Keys. A new key's text is rendered in the answer to the POST and kept nowhere."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from aml.web.forms import new_nonce, submit_once
from registration import access, services
from registration.access import PersonRequest
from registration.models import EvaluationKey, Registration


@access.page
def keys(request: PersonRequest) -> HttpResponse:
    registrations = access.registrations_of(request.user).prefetch_related("keys__created_by")
    rows = [
        {
            "registration": registration,
            "keys": sorted(registration.keys.all(), key=lambda key: key.created_at, reverse=True),
            "live": sum(key.revoked_at is None for key in registration.keys.all()),
            "may_act": access.may_act(request.user, registration.participant),
            "approved": registration.status == Registration.Status.APPROVED,
        }
        for registration in registrations
    ]
    context = {"rows": rows, "nonce": new_nonce(), "most": EvaluationKey.MAX_LIVE}
    return render(request, "registration/keys.html", context)


@require_POST
@access.page
@sensitive_variables("made")
def key_new(request: PersonRequest, public_id: str) -> HttpResponse:
    registration = access.registration_or_404(request.user, public_id)
    access.acting(request.user, registration.participant)
    made = _make(request, registration)
    if made is None:
        messages.info(request, _("This key was made before. Its text was shown then and is not kept."))
        return redirect("registration:keys")
    context = {"secret": made.text, "key": made.key, "registration": registration}
    response = render(request, "registration/key_shown.html", context)
    add_never_cache_headers(response)
    return response


@require_POST
@access.page
def key_revoke(request: PersonRequest, key_id: str) -> HttpResponse:
    key = access.key_or_404(request.user, key_id)
    services.revoke_key(actor=request.user, key=key)
    messages.success(request, _("Key %(key)s is revoked and does not work any more.") % {"key": key.key_id})
    return redirect("registration:keys")


@sensitive_variables("made")
def _make(request: PersonRequest, registration: Registration) -> services.NewKey | None:
    """The key of this form; None where it was sent before and its key can't be shown again."""
    made: list[services.NewKey] = []

    def do() -> dict[str, str]:
        made.append(services.create_evaluation_key(actor=request.user, registration=registration))
        return {"key_id": made[0].key.key_id}

    nonce = request.POST.get("nonce", "")[:64] or new_nonce()
    act = f"key_new:{registration.pk}"
    answer, repeated = submit_once(user=request.user, act=act, nonce=nonce, values={}, do=do)
    if not repeated:
        return made[0]
    key = EvaluationKey.objects.select_related("registration").get(key_id=answer["key_id"])
    return services.reissue_key(actor=request.user, key=key)
