"""What forms share: a nonce against double clicks, no hidden characters, refusals at their field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from aml.lib.canonical import canonical_hash
from aml.lib.ids import public_id
from aml.lib.text import unwelcome_character
from aml.web import idempotency
from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import User

NONCE_LENGTH = 24
T = TypeVar("T")


def new_nonce() -> str:
    return public_id(NONCE_LENGTH)


class NonceField(forms.CharField):
    """Hidden; two sendings of one form share it, so that they make one object."""

    def __init__(self) -> None:
        super().__init__(widget=forms.HiddenInput, initial=new_nonce, min_length=8, max_length=64)


def text_problem(value: str, *, multiline: bool) -> str | None:
    """A sentence if the text holds control, hidden or reordering characters."""
    found = unwelcome_character(value, multiline=multiline)
    if found is None:
        return None
    return _("The text holds a hidden or control character (%(name)s); type it again without it.") % {
        "name": found
    }


def check_texts(form: forms.BaseForm) -> None:
    """For ``clean``: an error at every text that holds control, hidden or reordering characters."""
    for name, value in list(form.cleaned_data.items()):
        if not isinstance(value, str):
            continue
        multiline = isinstance(form.fields[name].widget, forms.Textarea)
        if problem := text_problem(value, multiline=multiline):
            form.add_error(name, problem)


def submit_once(
    *,
    user: User,
    act: str,
    nonce: str,
    values: Mapping[str, Any],
    do: Callable[[], dict[str, Any]],
) -> tuple[dict[str, Any], bool]:
    """Run ``do`` once per person, act, nonce and values; returns its answer and whether it is a repeat.

    The values are part of the key, not compared: going back, changing the form and sending it again is
    another request. Answers are stored, so they hold ids and never a secret.
    """
    digest = canonical_hash({name: str(value) for name, value in values.items()})
    _status, answer, repeated = idempotency.once(
        scope=f"user:{user.pk}:{act}",
        key=f"{nonce}:{digest[:32]}",
        request={},
        act=lambda: (201, do()),
    )
    return answer, repeated


def attempt(form: forms.BaseForm, act: Callable[[], T]) -> T | None:
    """Run a service that returns something; a refusal becomes an error of the form, and None."""
    try:
        return act()
    except Refusal as refusal:
        add_refusal(form, refusal)
    return None


def add_refusal(form: forms.BaseForm, refusal: Refusal) -> None:
    """Show a refusal in the form, at its fields where it names some, else above all."""
    errors: Mapping[str, list[str]] = refusal.extra.get("errors") or {}
    if not errors:
        field = refusal.field if isinstance(refusal, FieldRefusal) else None
        errors = {field or "": [refusal.reason]}
    for field, sentences in errors.items():
        known = field if field in form.fields else None
        for sentence in sentences:
            text = " ".join(part for part in (sentence, refusal.hint) if part)
            form.add_error(known, ValidationError(text, code=refusal.code))
