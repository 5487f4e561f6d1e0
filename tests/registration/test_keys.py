"""Evaluation Keys: made, used at the API, revoked."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from aml.web.errors import Refusal
from aml.web.models import AuditEntry, User
from registration import crypto, services
from registration.authentication import EvaluationKeyAuthentication
from registration.models import EvaluationKey, Member, Registration
from tests.factories import make_key, make_member, make_registration

pytestmark = pytest.mark.django_db


class Whoami(APIView):
    def get(self, request: Request) -> Response:
        assert isinstance(request.auth, EvaluationKey)
        return Response({"user": request.user.pk, "registration": request.auth.registration.public_id})


def call(authorization: str) -> Response:
    request = APIRequestFactory().get("/", HTTP_AUTHORIZATION=authorization)
    response: Response = Whoami.as_view()(request)
    return response


def owner_of(registration: Registration) -> User:
    return registration.participant.members.get(role="owner").user


def code_of(response: Response) -> tuple[int, str]:
    return response.status_code, response.data["detail"]["code"]


def test_a_new_key_opens_the_api_as_who_made_it() -> None:
    registration = make_registration()
    made = services.create_evaluation_key(actor=owner_of(registration), registration=registration)
    response = call(f"Bearer {made.text}")
    assert response.data == {"user": owner_of(registration).pk, "registration": registration.public_id}


def test_the_stored_row_and_the_audit_log_hold_no_key() -> None:
    registration = make_registration()
    made = services.create_evaluation_key(actor=owner_of(registration), registration=registration)
    secret = made.text.split("_")[3]
    stored = str(EvaluationKey.objects.values().get()) + str(list(AuditEntry.objects.values())) + repr(made)
    assert secret not in stored


def test_two_keys_are_live_at_most() -> None:
    registration = make_registration()
    for _number in range(2):
        services.create_evaluation_key(actor=owner_of(registration), registration=registration)
    with pytest.raises(Refusal, match="Two keys") as caught:
        services.create_evaluation_key(actor=owner_of(registration), registration=registration)
    assert caught.value.code == "keys_used"


def test_a_revoked_key_makes_room() -> None:
    registration = make_registration()
    first = services.create_evaluation_key(actor=owner_of(registration), registration=registration)
    services.create_evaluation_key(actor=owner_of(registration), registration=registration)
    services.revoke_key(actor=owner_of(registration), key=first.key)
    third = services.create_evaluation_key(actor=owner_of(registration), registration=registration)
    assert third.key.slot == first.key.slot


@pytest.mark.parametrize("status", ["submitted", "rejected", "withdrawn"])
def test_only_an_approved_registration_has_keys(status: str) -> None:
    registration = make_registration(status=status)
    with pytest.raises(Refusal) as caught:
        services.create_evaluation_key(actor=owner_of(registration), registration=registration)
    assert caught.value.code == "not_approved"


def test_revoking_twice_is_recorded_once() -> None:
    key, _text = make_key()
    for _repeat in range(2):
        services.revoke_key(actor=owner_of(key.registration), key=key)
    assert AuditEntry.objects.filter(act="evaluation_key.revoked").count() == 1


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer", "Bearer a b", "Bearer \xff\xfe"])
def test_a_malformed_key_is_401_with_its_own_code(header: str) -> None:
    response = call(header)
    assert code_of(response) == (401, "key_malformed")
    assert response["WWW-Authenticate"] == "Bearer"


def test_no_key_at_all_is_401() -> None:
    assert call("").status_code == 401


def test_an_unknown_key_and_a_wrong_secret_look_the_same() -> None:
    key, _text = make_key()
    unknown, wrong = crypto.new_evaluation_key(), crypto.new_evaluation_key(key_id=key.key_id)
    answers = [call(f"Bearer {each.text}") for each in (unknown, wrong)]
    assert [code_of(answer) for answer in answers] == [(401, "key_unknown")] * 2
    assert answers[0].data == answers[1].data


def test_the_key_of_somebody_who_is_a_viewer_now_acts_for_nobody() -> None:
    registration = make_registration()
    member = make_member(participant=registration.participant)
    _key, text = make_key(registration=registration, created_by=member.user)
    member.role = Member.Role.VIEWER
    member.save()
    assert code_of(call(f"Bearer {text}")) == (403, "viewer")


def test_a_revoked_key_says_so() -> None:
    _key, text = make_key(revoked_at=timezone.now())
    assert code_of(call(f"Bearer {text}")) == (401, "key_revoked")


def test_a_key_of_a_registration_that_is_not_approved_any_more_is_403() -> None:
    key, text = make_key()
    Registration.objects.filter(pk=key.registration_id).update(status="withdrawn")
    assert code_of(call(f"Bearer {text}")) == (403, "not_approved")


def test_once_its_maker_has_left_a_key_acts_for_the_owner() -> None:
    registration = make_registration()
    engineer = make_member(participant=registration.participant)
    _key, text = make_key(registration=registration, created_by=engineer.user)
    assert call(f"Bearer {text}").data["user"] == engineer.user_id
    engineer.delete()
    assert call(f"Bearer {text}").data["user"] == owner_of(registration).pk


def test_use_is_noted_at_most_once_a_minute() -> None:
    key, text = make_key()
    call(f"Bearer {text}")
    key.refresh_from_db()
    first = key.last_used_at
    call(f"Bearer {text}")
    key.refresh_from_db()
    assert first is not None
    assert key.last_used_at == first
    EvaluationKey.objects.update(last_used_at=first - timedelta(minutes=2))
    call(f"Bearer {text}")
    key.refresh_from_db()
    assert key.last_used_at is not None
    assert key.last_used_at >= first


def test_a_query_parameter_or_another_scheme_is_no_key() -> None:
    _key, text = make_key()
    request = APIRequestFactory().get(f"/?key={text}", HTTP_AUTHORIZATION=f"Token {text}")
    assert Whoami.as_view()(request).status_code == 401


def test_a_key_sent_twice_at_once_is_given_another_text_within_a_minute() -> None:
    registration = make_registration()
    owner = owner_of(registration)
    made = services.create_evaluation_key(actor=owner, registration=registration)
    again = services.reissue_key(actor=owner, key=made.key)
    assert again is not None
    assert call(f"Bearer {made.text}").status_code == 401
    assert call(f"Bearer {again.text}").status_code == 200


@pytest.mark.parametrize("column", ["created_at", "last_used_at", "revoked_at"])
def test_an_older_used_or_revoked_key_is_not_shown_again(column: str) -> None:
    registration = make_registration()
    owner = owner_of(registration)
    made = services.create_evaluation_key(actor=owner, registration=registration)
    EvaluationKey.objects.update(**{column: timezone.now() - timedelta(minutes=2)})
    assert services.reissue_key(actor=owner, key=made.key) is None


def test_the_authentication_names_its_scheme() -> None:
    request = APIRequestFactory().get("/")
    assert EvaluationKeyAuthentication().authenticate_header(Request(request)) == "Bearer"
    with pytest.raises(APIException):
        EvaluationKeyAuthentication().authenticate(
            Request(APIRequestFactory().get("/", HTTP_AUTHORIZATION="Bearer x"))
        )
