"""Evaluation Keys at the API: ``Authorization: Bearer aml_live_…``.

``request.auth`` is the EvaluationKey with its registration; ``request.user`` is who acts for it: whoever made
the key, or the participant's owner once that person has left.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from aml.web import clock
from aml.web.models import User
from registration import crypto
from registration.models import EvaluationKey, Member, Registration

SCHEME = b"bearer"
USE_NOTED_EVERY = timedelta(minutes=1)


class KeyMalformed(AuthenticationFailed):
    default_code = "key_malformed"


class KeyUnknown(AuthenticationFailed):
    default_code = "key_unknown"
    default_detail = _("There is no such Evaluation Key. Copy it again, or make a new one on the keys page.")


class KeyRevoked(AuthenticationFailed):
    default_code = "key_revoked"
    default_detail = _("This Evaluation Key was revoked. Make a new one on the keys page.")


class NotApproved(PermissionDenied):
    default_code = "not_approved"
    default_detail = _("The registration of this key is not approved (any more).")


class MakerIsViewer(PermissionDenied):
    default_code = "viewer"
    default_detail = _("Whoever made this key is a viewer now, and a viewer changes nothing. Make a new key.")


class EvaluationKeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, EvaluationKey] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != SCHEME:
            return None
        if len(words) != 2:
            raise KeyMalformed(_("Expected “Authorization: Bearer <key>”, the key without blanks."))
        key = _key_of(words[1].decode("ascii", "replace"))
        user = acting_user(key)
        _note_use(key)
        return user, key

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class EvaluationKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # its metaclass
    target_class = EvaluationKeyAuthentication
    name = "EvaluationKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "aml_live_<id>_<secret>_<check>"}


def acting_user(key: EvaluationKey) -> User:
    """Who acts through this key: its maker, or the owner if the maker has left. Raises if nobody may."""
    if key.registration.status != Registration.Status.APPROVED:
        raise NotApproved
    members = Member.objects.filter(
        participant=key.registration.participant, user__is_active=True
    ).select_related("user")
    maker = members.filter(user=key.created_by).first()
    if maker is not None and maker.role not in Member.ACTING:
        raise MakerIsViewer
    member = maker or members.filter(role=Member.Role.OWNER).order_by("joined_at", "pk").first()
    if member is None:
        raise NotApproved
    return member.user


def _key_of(text: str) -> EvaluationKey:
    try:
        parsed = crypto.parse_evaluation_key(text)
    except crypto.MalformedKey as error:
        raise KeyMalformed(str(error)) from error
    keys = EvaluationKey.objects.select_related("registration__participant", "registration__cycle")
    key = keys.filter(key_id=parsed.key_id).first()
    if key is None or not crypto.digest_matches(parsed, key.digest):
        raise KeyUnknown
    if key.revoked_at is not None:
        raise KeyRevoked
    return key


def _note_use(key: EvaluationKey) -> None:
    """At most one write a minute, whatever the script polls."""
    now = clock.now()
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
    EvaluationKey.objects.filter(stale, pk=key.pk).update(last_used_at=now)
