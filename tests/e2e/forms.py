"""Every form of the way with values it accepts, its sender, and what it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from aml.web.models import User
from evaluations.models import Check, Run
from evaluations.services import statements
from registration.models import Entry, EvaluationKey, Participant, Registration, Version
from review.models import Decision, Material
from review.services.checklist import IDS
from tests.evaluations.conftest import owner_of
from tests.factories import (
    MEMORY_KEY,
    make_cycle,
    make_entry,
    make_participant,
    make_registration,
    make_user,
    make_version,
    version_values,
)
from tests.review.cases import ask, make_case, make_reviewer
from tests.run_factories import make_check, open_track, ready_version

NONCE = "nonce-of-this-form"


@dataclass(frozen=True, slots=True)
class Form:
    """``makes`` is the model of which one sending makes one row."""

    path: str
    sender: User
    values: dict[str, Any]
    makes: type[Any]

    def send(self, **changed: Any) -> Any:
        """By a browser of its own; None leaves a value out."""
        client = Client()
        client.force_login(self.sender)
        values = {name: value for name, value in {**self.values, **changed}.items() if value is not None}
        return client.post(self.path, values)


def rows() -> dict[str, int]:
    """How many there are of everything but sessions."""
    models = [model for model in apps.get_models() if model is not Session]
    return {model._meta.label: model._default_manager.count() for model in models}


def participant() -> Form:
    make_cycle()
    values = {"name": "Mnemosyne", "kind": "team", "organisation": "A lab", "nonce": NONCE}
    return Form(reverse("registration:participant_new"), make_user(), values, Participant)


def registration() -> Form:
    sender = make_user()
    team, _cycle = make_participant(owner=sender), make_cycle()
    values = {
        "participant": team.public_id, "division": "commercial", "statement": "Ours.", "nonce": NONCE,
    }  # fmt: skip
    return Form(reverse("registration:register"), sender, values, Registration)


def entry() -> Form:
    sender = make_registration().participant.members.get().user
    values = {
        "name": "Mnemo", "description": "It remembers.", "tracks": ["textual"], "memory_key": MEMORY_KEY,
        "nonce": NONCE, **version_values(),
    }  # fmt: skip
    return Form(reverse("registration:entry_new"), sender, values, Entry)


def version() -> Form:
    system = make_entry()
    sender = system.registration.participant.members.get().user
    values = {**version_values(), "label": "2.0", "memory_key": MEMORY_KEY, "nonce": NONCE}
    return Form(reverse("registration:version_new", args=[system.public_id]), sender, values, Version)


def key() -> Form:
    approved = make_registration()
    sender = approved.participant.members.get().user
    path = reverse("registration:key_new", args=[approved.public_id])
    return Form(path, sender, {"nonce": NONCE}, EvaluationKey)


def check() -> Form:
    entered = _entered()
    path = reverse("evaluations:check_start", args=[entered.public_id])
    return Form(path, owner_of(entered), {"track": "textual", "nonce": NONCE}, Check)


def smoke() -> Form:
    checked = _entered()
    make_check(version=checked)
    path = reverse("evaluations:smoke_start", args=[checked.public_id])
    values = {"label": "A Smoke", "add": 4, "search": 8, "nonce": NONCE}
    return Form(path, owner_of(checked), values, Run)


def full() -> Form:
    ready = ready_version()
    path = reverse("evaluations:full_start", args=[ready.public_id])
    values = {
        "label": "A Full", "add": 4, "search": 8, "nonce": NONCE, "statements_version": statements.VERSION,
        **dict.fromkeys(statements.IDS, "on"),
    }  # fmt: skip
    return Form(path, owner_of(ready), values, Run)


def decision() -> Form:
    case = make_case()
    values = {"verdict": "approve", "checklist": list(IDS), "reason": "Complete.", "nonce": NONCE}
    return Form(reverse("review:case", args=[case.public_id]), make_reviewer(), values, Decision)


def material() -> Form:
    owner = make_user()
    case = make_case(owner=owner)
    ask(case)
    path = reverse("review:material", args=[case.run.public_id])
    return Form(path, owner, {"text": "The log is at …", "nonce": NONCE}, Material)


def _entered() -> Version:
    made = make_version()
    open_track(made.entry.registration.cycle)
    return made


FORMS: dict[str, Callable[[], Form]] = {
    form.__name__: form
    for form in (
        participant, registration, entry, version, key, check, smoke, full, decision, material,
    )
}  # fmt: skip
