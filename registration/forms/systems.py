"""Forms of systems and their versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from aml.web.forms import NonceField, check_texts
from registration import types
from registration.forms.texts import HELP, PUBLISHABLE, SECTIONS
from registration.models import Registration, Version
from registration.models.entries import AuthChoice, TrackChoice
from registration.services import rules

if TYPE_CHECKING:
    BaseVersionForm = forms.ModelForm[Version]
else:  # at run time the class takes no parameter
    BaseVersionForm = forms.ModelForm


class MemoryKeyField(forms.CharField):
    """Write-only: what was typed is never put back into the page."""

    def __init__(self, **kwargs: Any) -> None:
        attributes = {"autocomplete": "new-password", "spellcheck": "false"}
        super().__init__(
            label=_("Memory key"),
            widget=forms.PasswordInput(render_value=False, attrs=attributes),
            max_length=rules.MEMORY_KEY_LENGTHS[1],
            **kwargs,
        )


class KeyUnlessNoneField(MemoryKeyField):
    """Needed unless the service is called without authentication: the rules decide, not the browser."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.widget.use_required_attribute = lambda initial: False

    def validate(self, value: Any) -> None:
        """Nothing: see the class."""


class MemoryKeyForm(forms.Form):
    memory_key = MemoryKeyField(
        help_text=_("Stored encrypted and shown to nobody, you included; only its last characters are.")
    )


class VersionForm(BaseVersionForm):
    """A version's fields in the order of the sections, without those of the other division.

    ``only`` leaves a frozen version's open fields. An empty memory key keeps the one that is stored.
    """

    public_fields = forms.MultipleChoiceField(
        label=_("Shown publicly"),
        required=False,
        choices=[(name, PUBLISHABLE[name]) for name in types.PUBLISHABLE_FIELDS],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("System, version, division and what the division asks of everybody are always shown."),
    )
    memory_key = KeyUnlessNoneField(
        help_text=_(
            "What your service expects of us. Stored encrypted, bound to this version, and shown to nobody, "
            "you included. If the form comes back with an error, type it again."
        ),
    )
    nonce = NonceField()

    class Meta:
        model = Version
        fields = [name for name in rules.VERSION_FIELDS if name != "public_fields"]
        widgets = {
            "auth_scheme": forms.RadioSelect,
            **{
                name: forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false", "class": "mono"})
                for name in ("add_url", "search_url", "health_url", "status_url", "repository")
            },
        }
        help_texts = HELP

    def __init__(
        self, *args: Any, registration: Registration, only: tuple[str, ...] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.registration = registration
        for name in [name for name in self.fields if self._is_left_out(name, only)]:
            del self.fields[name]
        for name in types.DIVISION_FIELDS[self.division]:
            if name in self.fields:
                self.fields[name].required = True
        for field in self.fields.values():
            if isinstance(field.widget, forms.Textarea):
                field.widget.attrs["rows"] = 4
        if "memory_key" in self.fields and self.instance.memory_key_encrypted is not None:
            self.fields["memory_key"].required = False
        if isinstance(scheme := self.fields.get("auth_scheme"), forms.ChoiceField):
            scheme.choices = AuthChoice.choices
        self.order_fields([name for section in SECTIONS for name in section.fields])

    @property
    def division(self) -> types.Division:
        return types.Division(self.registration.division)

    def clean(self) -> dict[str, Any]:
        """Apply the services' rules too, so that all errors show at once."""
        check_texts(self)
        for name, sentences in self._problems().items():
            if name not in self.errors:
                self.add_error(name if name in self.fields else None, sentences)
        return self.cleaned_data

    def values(self) -> dict[str, Any]:
        """What goes to the service: fields of a version only."""
        return {name: value for name, value in self.cleaned_data.items() if name in rules.VERSION_FIELDS}

    def sections(self) -> list[dict[str, Any]]:
        """Key, title, purpose and bound fields of each section that has fields."""
        return [
            {"key": section.key, "title": section.title, "purpose": section.purpose, "fields": bound}
            for section in SECTIONS
            if (bound := [self[name] for name in section.fields if name in self.fields])
        ]

    def _problems(self) -> rules.Problems:
        stored: Mapping[str, Any] = {name: getattr(self.instance, name) for name in rules.VERSION_FIELDS}
        values = rules.normalised({**stored, **self.values()})
        typed = str(self.cleaned_data.get("memory_key") or "")
        setting = rules.Setting(
            division=self.division,
            cycle=self.registration.cycle,
            has_memory_key=bool(typed) or rules.keeps_memory_key(self.instance, values),
        )
        problems = rules.version_problems(values, setting)
        if typed and (problem := rules.memory_key_problem(typed)):
            problems["memory_key"] = [problem]
        return problems

    def _is_left_out(self, name: str, only: tuple[str, ...]) -> bool:
        if only and name not in (*only, "nonce"):
            return True
        return any(
            name in names for division, names in types.DIVISION_FIELDS.items() if division != self.division
        )


class EntryForm(VersionForm):
    """A system with its first version."""

    name = forms.CharField(label=_("Name of the system"), max_length=80)
    description = forms.CharField(
        label=_("Description"),
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("What it remembers and how, for somebody who has not heard of it. Shown publicly."),
    )
    tracks = forms.MultipleChoiceField(
        label=_("Tracks"),
        choices=TrackChoice.choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Each track is evaluated by its own runs."),
    )
