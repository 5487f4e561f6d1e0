"""Forms about people: participants, joining, applying, withdrawing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from aml.web.forms import NonceField, check_texts
from registration.models import Member, Participant
from registration.models.participants import DivisionChoice


class PlainForm(forms.Form):
    def clean(self) -> dict[str, Any]:
        check_texts(self)
        return self.cleaned_data


class ParticipantForm(PlainForm):
    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        help_text=_("Shown publicly beside your systems once a result is published."),
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
    )
    kind = forms.ChoiceField(
        label=_("Who takes part"),
        choices=Participant.Kind.choices,
        initial=Participant.Kind.TEAM,
        widget=forms.RadioSelect,
        help_text=_("Others can join a team with a code."),
    )
    organisation = forms.CharField(label=_("Organisation"), max_length=200, required=False)
    nonce = NonceField()


class JoinForm(PlainForm):
    code = forms.CharField(
        label=_("Join code"),
        max_length=40,
        help_text=_("Twelve letters and digits. An owner of the team finds it on the team's page."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "class": "mono"}),
    )


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Member.Role.choices)


def _division_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label=_("Division"),
        choices=DivisionChoice.choices,
        widget=forms.RadioSelect,
        help_text=_(
            "Exactly one per participant and cycle. Open-source Methods: a public repository, a pinned "
            "commit, provenance, authors and implementation notes. Commercial Products: a fixed product "
            "version and stable endpoints; nothing else need be disclosed."
        ),
    )


def _statement_field() -> forms.CharField:
    return forms.CharField(
        label=_("What you want to enter"),
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_(
            "The system, who made it, and which tracks you aim at. Two or three sentences are enough."
        ),
    )


class RegisterForm(PlainForm):
    participant = forms.ModelChoiceField(
        label=_("Participant"), queryset=Participant.objects.none(), to_field_name="public_id"
    )
    division = _division_field()
    statement = _statement_field()
    nonce = NonceField()

    def __init__(self, *args: Any, participants: list[Participant], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["participant"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - declared above; for the type checker
        field.queryset = Participant.objects.filter(pk__in=[each.pk for each in participants])
        field.empty_label = None
        if len(participants) == 1:
            field.initial = participants[0].public_id


class ReapplyForm(PlainForm):
    division = _division_field()
    statement = _statement_field()


class WithdrawForm(PlainForm):
    reason = forms.CharField(
        label=_("Reason"), max_length=500, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )


class DecisionForm(PlainForm):
    """The organiser's decision on one or several applications."""

    decision = forms.ChoiceField(
        label=_("Decision"),
        choices=[("approve", _("Approve")), ("reject", _("Do not approve"))],
        widget=forms.RadioSelect,
    )
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_(
            "The participant reads it, on the page and in the mail. Needed where you do not approve."
        ),
    )
