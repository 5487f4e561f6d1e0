"""Entering systems and their versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils.text import slugify
from django.utils.translation import gettext as _

from aml.lib.ids import public_id
from aml.web import audit, clock, formats
from aml.web.errors import FieldRefusal, Refusal
from aml.web.models import User
from registration import crypto
from registration.models import Entry, EntryTrack, Registration, Version
from registration.models.entries import AuthChoice
from registration.services import guards, rules
from registration.signals import withdrawing

MEMORY_KEY_FIELDS = ("memory_key_encrypted", "memory_key_last4", "memory_key_set_at")


def create_entry(
    *,
    actor: User,
    registration: Registration,
    name: str,
    description: str,
    tracks: Iterable[str],
    version: Mapping[str, Any],
    memory_key: str = "",
) -> Entry:
    """A system with its first version. ``version`` holds values by the names of ``rules.VERSION_FIELDS``."""
    name, description, chosen = rules.tidy(name), rules.tidy(description), list(dict.fromkeys(tracks))
    with transaction.atomic():
        registration = _opened(actor=actor, registration=registration)
        problems = rules.entry_problems(name=name, description=description, tracks=chosen)
        draft, version_problems = _draft(version, registration=registration, memory_key=memory_key)
        rules.refuse({**problems, **version_problems})
        taken = FieldRefusal("name", _("You have entered a system of this name."))
        if registration.entries.filter(name__iexact=name).exists():
            raise taken
        with guards.refusing(taken):
            entry = Entry.objects.create(
                registration=registration, name=name, description=description, slug=_free_slug(name)
            )
        EntryTrack.objects.bulk_create([EntryTrack(entry=entry, track=track) for track in chosen])
        audit.record(
            "entry.created", subject=f"entry:{entry.public_id}", actor=actor, actor_label=audit.PARTICIPANT,
            tracks=chosen,
        )  # fmt: skip
        _store(draft, entry=entry, actor=actor, memory_key=memory_key)
    return entry


def new_version(*, actor: User, entry: Entry, values: Mapping[str, Any], memory_key: str = "") -> Version:
    """Another version of an entry. The memory key is given anew: it is bound to its version."""
    with transaction.atomic():
        registration = _opened(actor=actor, registration=entry.registration)
        entry = Entry.objects.select_for_update().get(pk=entry.pk)
        if entry.withdrawn_at is not None:
            raise _entry_withdrawn(entry)
        draft, problems = _draft(values, registration=registration, memory_key=memory_key)
        rules.refuse(problems)
        return _store(draft, entry=entry, actor=actor, memory_key=memory_key)


def version_start(entry: Entry) -> dict[str, Any]:
    """The newest version's values, as the start of the next; its name and key are to be given anew."""
    latest = entry.versions.order_by("-number").first()
    values = {name: getattr(latest, name) for name in rules.VERSION_FIELDS} if latest else {}
    values.pop("label", None)
    return values


def update_version(
    *, actor: User, version: Version, values: Mapping[str, Any], memory_key: str = ""
) -> Version:
    """Change some fields of a version; what an accepted Full froze is refused by name.

    An empty ``memory_key`` keeps the stored one, unless the version turns to no authentication.
    """
    with transaction.atomic():
        # The registration's lock is the one that accepting a Full takes: none freezes in between.
        registration = _opened(actor=actor, registration=version.entry.registration)
        version = Version.objects.select_for_update(of=("self",)).select_related("entry").get(pk=version.pk)
        refuse_withdrawn(version)
        changed = _changed(version, _known(values))
        _refuse_frozen(version, changed)
        for name, value in changed.items():
            setattr(version, name, value)
        problems = _problems(version, registration=registration, memory_key=memory_key)
        # Rules may have grown stricter since a Full froze the rest.
        frozen = version.frozen_at is not None
        rules.refuse({name: text for name, text in problems.items() if name in changed or not frozen})
        changed.update(_replace_memory_key(version, memory_key))
        if version.entry.versions.exclude(pk=version.pk).filter(label=version.label).exists():
            raise _label_taken()
        if changed.keys() & set(Version.FROZEN_FIELDS):
            version.changed_at = clock.now()  # earlier checks and Smokes tested something else
        with guards.refusing(_label_taken()):
            version.save(update_fields=[*changed, "changed_at"])
        if changed:
            audit.record(
                "version.changed", subject=f"version:{version.public_id}", actor=actor,
                actor_label=audit.PARTICIPANT, fields=sorted(changed),
            )  # fmt: skip
    return version


def set_memory_key(*, actor: User, version: Version, key: str) -> Version:
    """Set or rotate the memory key; allowed during a Full, and logged without the key."""
    if problem := rules.memory_key_problem(key):
        raise FieldRefusal("memory_key", problem)
    with transaction.atomic():
        _opened(actor=actor, registration=version.entry.registration)
        version = Version.objects.select_for_update(of=("self",)).select_related("entry").get(pk=version.pk)
        refuse_withdrawn(version)
        if version.auth_scheme == AuthChoice.NONE:
            raise FieldRefusal("memory_key", _("This version calls without authentication; no key is sent."))
        rotated = version.memory_key_encrypted is not None
        _put_memory_key(version, key)
        version.save(update_fields=[*MEMORY_KEY_FIELDS])
        audit.record(
            "memory_key.rotated" if rotated else "memory_key.set", subject=f"version:{version.public_id}",
            actor=actor, actor_label=audit.PARTICIPANT, frozen=version.frozen_at is not None,
        )  # fmt: skip
    return version


def withdraw_version(*, actor: User, version: Version, reason: str = "") -> Version:
    """No run starts with it any more. Other apps may refuse, as while one is running."""
    with transaction.atomic():
        role = _locked_for(actor=actor, registration=version.entry.registration)
        version = Version.objects.select_for_update(of=("self",)).select_related("entry").get(pk=version.pk)
        refuse_withdrawn(version)
        withdrawing.send(sender=Version, versions=[version])
        version.withdrawn_at = clock.now()
        version.save(update_fields=["withdrawn_at"])
        audit.record(
            "version.withdrawn", subject=f"version:{version.public_id}", actor=actor,
            actor_label=role, reason=rules.tidy(reason),
        )  # fmt: skip
    return version


def withdraw_entry(*, actor: User, entry: Entry, reason: str = "") -> Entry:
    """Withdraw the system with all its versions."""
    with transaction.atomic():
        role = _locked_for(actor=actor, registration=entry.registration)
        entry = Entry.objects.select_for_update().get(pk=entry.pk)
        if entry.withdrawn_at is not None:
            raise _entry_withdrawn(entry)
        withdrawing.send(sender=Entry, versions=list(entry.versions.filter(withdrawn_at__isnull=True)))
        entry.withdrawn_at = clock.now()
        entry.save(update_fields=["withdrawn_at"])
        audit.record(
            "entry.withdrawn", subject=f"entry:{entry.public_id}", actor=actor, actor_label=role,
            reason=rules.tidy(reason),
        )  # fmt: skip
    return entry


def refuse_withdrawn(version: Version) -> None:
    if version.entry.withdrawn_at is not None:
        raise _entry_withdrawn(version.entry)
    if version.withdrawn_at is not None:
        raise Refusal(
            "version_withdrawn",
            _("This version was withdrawn on %(when)s.") % {"when": formats.utc(version.withdrawn_at)},
        )


def _locked_for(*, actor: User, registration: Registration) -> str:
    registration = guards.locked_registration(registration)
    return guards.acting_member_or_organiser(actor, registration.participant)


def _opened(*, actor: User, registration: Registration) -> Registration:
    registration = guards.locked_registration(registration)
    guards.acting_member(actor, registration.participant)
    guards.still_entering(registration)
    return registration


def _entry_withdrawn(entry: Entry) -> Refusal:
    when = formats.utc(entry.withdrawn_at)
    return Refusal("version_withdrawn", _("This system was withdrawn on %(when)s.") % {"when": when})


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := sorted(set(values) - set(rules.VERSION_FIELDS)):
        raise FieldRefusal(unknown[0], _("A version has no field %(name)s.") % {"name": unknown[0]})
    return rules.normalised(values)


def _draft(
    values: Mapping[str, Any], *, registration: Registration, memory_key: str
) -> tuple[Version, rules.Problems]:
    draft = Version(**_known(values))
    return draft, _problems(draft, registration=registration, memory_key=memory_key)


def _problems(version: Version, *, registration: Registration, memory_key: str) -> rules.Problems:
    """Of the whole version; without ``memory_key`` the stored one counts."""
    values = {name: getattr(version, name) for name in rules.VERSION_FIELDS}
    has_key = bool(memory_key) or rules.keeps_memory_key(version, values)
    setting = rules.Setting(division=registration.division, cycle=registration.cycle, has_memory_key=has_key)
    found = rules.version_problems(values, setting)
    if memory_key and (problem := rules.memory_key_problem(memory_key)):
        found.setdefault("memory_key", [problem])
    try:
        version.clean_fields(exclude={"entry", "number", "created_by", "public_fields"})
    except ValidationError as error:
        for name, sentences in error.message_dict.items():
            found.setdefault(name, sentences)
    return found


def _store(draft: Version, *, entry: Entry, actor: User, memory_key: str) -> Version:
    if entry.versions.filter(label=draft.label).exists():
        raise _label_taken()
    newest: int | None = entry.versions.aggregate(newest=Max("number"))["newest"]
    draft.entry, draft.number, draft.created_by = entry, (newest or 0) + 1, actor
    draft.created_at = clock.now()
    if memory_key:
        _put_memory_key(draft, memory_key)
    with guards.refusing(_label_taken()):
        draft.save()
    audit.record(
        "version.created", subject=f"version:{draft.public_id}", actor=actor, actor_label=audit.PARTICIPANT,
        entry=entry.public_id, number=draft.number,
    )  # fmt: skip
    return draft


def _put_memory_key(version: Version, key: str) -> None:
    version.memory_key_encrypted = crypto.encrypt_memory_key(key, version_id=version.public_id)
    version.memory_key_last4 = crypto.last_characters(key)
    version.memory_key_set_at = clock.now()


def _replace_memory_key(version: Version, key: str) -> dict[str, Any]:
    """Returns the fields that changed."""
    if key:
        _put_memory_key(version, key)
    elif version.auth_scheme == AuthChoice.NONE and version.memory_key_encrypted is not None:
        version.memory_key_encrypted, version.memory_key_last4 = None, ""
        version.memory_key_set_at = None
    else:
        return {}
    return dict.fromkeys(MEMORY_KEY_FIELDS)


def _label_taken() -> FieldRefusal:
    return FieldRefusal("label", _("This system has a version of this name."))


def _changed(version: Version, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if getattr(version, name) != value}


def _refuse_frozen(version: Version, changed: Mapping[str, Any]) -> None:
    names = [name for name in Version.FROZEN_FIELDS if name in changed]
    if version.frozen_at is None or not names:
        return
    titles = ", ".join(rules.title_of(name) for name in names)
    raise Refusal(
        "version_frozen",
        _("An accepted Full froze this version on %(when)s. It can't change: %(fields)s.")
        % {"when": formats.utc(version.frozen_at), "fields": titles},
        hint=_("Make a new version for a change."),
        fields=names,
    )


def _free_slug(name: str) -> str:
    """The name in an address; with a random end where another system has it."""
    stem = slugify(name)[:80]
    if stem and not Entry.objects.filter(slug=stem).exists():
        return stem
    return f"{stem or 'system'}-{public_id(6)}"
