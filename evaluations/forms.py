"""Forms of the desk: start a run, confirm statements, ask for a check, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.admin.helpers import ActionForm
from django.utils.translation import gettext_lazy as _

from aml.web.forms import NonceField, check_texts
from evaluations.models import CycleTrack, QuotaEntry
from evaluations.services import statements
from evaluations.services.limits import cycle_limits
from evaluations.services.starting import LABEL_LENGTH
from evaluations.services.tracks import track_problem
from registration.models import Version
from registration.models.entries import TrackChoice

if TYPE_CHECKING:
    AnyModelForm = forms.ModelForm[Any]
else:
    AnyModelForm = forms.ModelForm  # takes no parameters at run time


class TrackForm(forms.Form):
    """The button that starts a conformance check."""

    track = forms.ChoiceField(label=_("Track"), choices=TrackChoice.choices, widget=forms.HiddenInput)
    nonce = NonceField()


class RunForm(forms.Form):
    label = forms.CharField(
        label=_("Label"),
        max_length=LABEL_LENGTH,
        help_text=_("A name for this run, unique among your runs. It is private."),
    )
    add = forms.IntegerField(label=_("Adds at once"), min_value=1)
    search = forms.IntegerField(label=_("Searches at once"), min_value=1)
    nonce = NonceField()

    def __init__(self, *args: Any, version: Version, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        limits = cycle_limits(version.entry.registration.cycle)
        most = limits.at_once(add=version.add_concurrency, search=version.search_concurrency)
        for name, number in most.items():
            self.fields[name] = forms.IntegerField(
                label=self.fields[name].label,
                min_value=1,
                max_value=number,
                initial=number,
                help_text=_("1 to %(most)s, as this version declares.") % {"most": number},
            )

    def clean(self) -> dict[str, Any]:
        check_texts(self)
        return self.cleaned_data


class StatementsForm(forms.Form):
    """One box a statement; the version of the texts goes with it, so that old texts are not confirmed."""

    statements_version = forms.IntegerField(widget=forms.HiddenInput, initial=statements.VERSION)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for statement in statements.STATEMENTS:
            self.fields[statement.id] = forms.BooleanField(
                label=statement.text,
                error_messages={"required": _("A Full is accepted only with every statement confirmed.")},
            )

    def accepted(self) -> list[str]:
        return [name for name in statements.IDS if self.cleaned_data.get(name)]


class CancelForm(forms.Form):
    """``expected`` is the policy's row that the page told."""

    expected = forms.CharField(widget=forms.HiddenInput)


class ExchangeFilter(forms.Form):
    """Of the exchanges page; wrong values are ignored."""

    code = forms.CharField(label=_("Code"), required=False)
    operation = forms.ChoiceField(
        label=_("Operation"),
        required=False,
        choices=(("", _("Add and Search")), ("add", "Add"), ("search", "Search")),
    )

    def __init__(self, *args: Any, codes: list[tuple[str, int]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", _("All, failing first")), *((code, f"{code} ({number})") for code, number in codes)]
        self.fields["code"] = forms.ChoiceField(label=_("Code"), required=False, choices=choices)


# ---- Admin ------------------------------------------------------------------------------------


class ReasonAction(ActionForm):
    """The reason beside the list's actions; the participant reads it."""

    reason = forms.CharField(label=_("Reason"), required=False, max_length=300)


class CycleTrackForm(AnyModelForm):
    class Meta:
        model = CycleTrack
        fields = ("cycle", "track", "contract", "is_open")

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # the stubs leave it out
        if not self.errors and (problem := track_problem(self.instance)):
            self.add_error("contract", problem)


class GrantForm(AnyModelForm):
    """Further runs for a registration, as a line of its ledger."""

    number = forms.IntegerField(label=_("How many"), min_value=1, max_value=100, initial=1)

    class Meta:
        model = QuotaEntry
        fields = ("registration", "track", "kind", "reason")

    def asked(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in (*self.Meta.fields, "number")}
