"""Forms: a reviewer's word, the queue's filters, a participant's answer."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from aml.web.forms import NonceField, check_texts
from registration.models.entries import TrackChoice
from registration.models.participants import DivisionChoice
from review.models import Decision
from review.services.checklist import CHECKLIST
from review.services.deciding import REASON_LENGTH
from review.services.material import TEXT_LENGTH


class QueueForm(forms.Form):
    """Filters of the queue; a value that is none of the choices filters nothing."""

    # Every choice is a value, so none is marked as optional; and "all" is the empty one.
    use_required_attribute = False

    def chosen(self) -> dict[str, str]:
        """The filters that are set to one of their choices."""
        self.is_valid()
        return getattr(self, "cleaned_data", {})

    status = forms.ChoiceField(
        label=_("Status"),
        choices=[
            ("undecided", _("Undecided")),
            ("open", _("In review")),
            ("needs_material", _("Waiting for the participant")),
            ("closed", _("Decided or closed")),
            ("all", _("All")),
        ],
    )
    track = forms.ChoiceField(label=_("Track"), choices=[("", _("All tracks")), *TrackChoice.choices])
    division = forms.ChoiceField(
        label=_("Division"), choices=[("", _("Both divisions")), *DivisionChoice.choices]
    )


class DecideForm(forms.Form):
    verdict = forms.ChoiceField(
        label=_("Your decision"),
        widget=forms.RadioSelect,
        choices=[
            (Decision.Verdict.APPROVE, _("Approve")),
            (Decision.Verdict.NEEDS_MATERIAL, _("Ask for material")),
            (Decision.Verdict.REJECT, _("Reject")),
        ],
    )
    checklist = forms.MultipleChoiceField(
        label=_("What you looked at"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=[(item.id, item.text) for item in CHECKLIST],
        help_text=_("An approval needs all four."),
    )
    reason = forms.CharField(
        label=_("Reason, or what is needed"),
        max_length=REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_(
            "Kept with the decision. The participant reads it if you reject or ask for material, so quote no "
            "question and no answer of the Full."
        ),
    )
    nonce = NonceField()

    def clean(self) -> dict[str, Any]:
        check_texts(self)
        return self.cleaned_data


class MaterialForm(forms.Form):
    text = forms.CharField(
        label=_("Your answer"),
        max_length=TEXT_LENGTH,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text=_(
            "Answer in words, with links to logs or documents that reviewers can open. Leave out keys and passwords."
        ),
    )
    nonce = NonceField()

    def clean(self) -> dict[str, Any]:
        check_texts(self)
        return self.cleaned_data
