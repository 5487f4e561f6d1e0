"""What a participant may write: one set of rules for forms, services and the API.

Every rule returns sentences by field; an empty dict means that all is well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _

from aml.lib.addresses import check_status_url, check_url
from aml.web.errors import FieldRefusal
from aml.web.forms import text_problem
from registration import types
from registration.models import Cycle, Version
from registration.models.entries import AuthChoice, TrackChoice

Problems = dict[str, list[str]]

OPEN_FIELDS = ("documentation", "contact", "maintenance_contact", "organisation", "public_fields")
VERSION_FIELDS = (*Version.FROZEN_FIELDS, *OPEN_FIELDS)
MEMORY_KEY_LENGTHS = (8, 512)

_FLOATING = frozenset({"head", "latest", "main", "master", "dev", "develop", "trunk", "nightly", "stable"})
_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT_COMMIT = re.compile(r"(?=.*[a-f])(?=.*[0-9])[0-9a-f]{6,39}")
_TAG = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+/@-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Where the values are meant for."""

    division: str
    cycle: Cycle
    has_memory_key: bool


def normalised(values: Mapping[str, Any]) -> dict[str, Any]:
    """Texts trimmed, in Unicode's composed form, with plain line ends."""
    return {name: tidy(value) if isinstance(value, str) else value for name, value in values.items()}


def tidy(text: str) -> str:
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def version_problems(values: Mapping[str, Any], setting: Setting) -> Problems:
    """What is wrong with the normalised values of a version; fields that are missing count as empty."""
    found = _merged(
        _missing(values, setting),
        _texts(values),
        _of_other_division(values, setting),
        _urls(values, setting),
        _status_url(values, setting),
        _authentication(values, setting),
        _public_fields(values),
    )
    if setting.division == types.Division.OPEN_SOURCE:
        return _merged(found, _repository(values), _pin("commit", values), _commit(values))
    return _merged(found, _pin("product_version", values))


def keeps_memory_key(version: Version, values: Mapping[str, Any]) -> bool:
    """Whether a stored memory key stays with these values: switching to no authentication drops it."""
    return version.memory_key_encrypted is not None and values.get("auth_scheme") != AuthChoice.NONE


def title_of(field: str) -> str:
    """What forms and pages call a version's field."""
    return str(getattr(Version._meta.get_field(field), "verbose_name", field))


def memory_key_problem(key: str) -> str | None:
    shortest, longest = MEMORY_KEY_LENGTHS
    if not shortest <= len(key) <= longest:
        return _("A memory key has %(shortest)s to %(longest)s characters.") % {
            "shortest": shortest,
            "longest": longest,
        }
    if not (key.isascii() and key.isprintable()) or " " in key:
        return _("A memory key goes into a header: only printable ASCII characters, no blanks.")
    return None


def entry_problems(*, name: str, description: str, tracks: Iterable[str]) -> Problems:
    found: Problems = {}
    chosen = list(tracks)
    for field, value, length in (("name", name, 80), ("description", description, 4000)):
        if problem := short_text_problem(value, length=length, multiline=field == "description"):
            found[field] = [problem]
    if not chosen:
        found["tracks"] = [_("Choose at least one track.")]
    elif unknown := sorted(set(chosen) - set(TrackChoice.values)):
        found["tracks"] = [_("There is no track %(track)s.") % {"track": unknown[0]}]
    return found


def short_text_problem(value: str, *, length: int, multiline: bool = False) -> str | None:
    """For a required text."""
    if not value:
        return _("This field is required.")
    if len(value) > length:
        return too_long(value, length=length)
    return text_problem(value, multiline=multiline)


def too_long(value: str, *, length: int) -> str:
    return _("At most %(most)s characters; this has %(now)s.") % {"most": length, "now": len(value)}


def refuse(problems: Problems) -> None:
    """Raise one FieldRefusal that names every field; nothing if there are no problems."""
    if not problems:
        return
    field, sentences = next(iter(problems.items()))
    raise FieldRefusal(field, sentences[0], errors=problems)


def _merged(*parts: Problems) -> Problems:
    merged: Problems = {}
    for part in parts:
        for field, sentences in part.items():
            # The first rule that objects is the plainest; more sentences on one field only confuse.
            merged.setdefault(field, sentences)
    return merged


def _missing(values: Mapping[str, Any], setting: Setting) -> Problems:
    names = (*types.REQUIRED_FIELDS, *types.DIVISION_FIELDS[types.Division(setting.division)])
    found = {name: [_("This field is required.")] for name in names if not values.get(name)}
    if "models_and_dependencies" in found:
        found["models_and_dependencies"] = [_("Name the models and dependencies, or write “none”.")]
    return found


def _texts(values: Mapping[str, Any]) -> Problems:
    found: Problems = {}
    for name, value in values.items():
        if not isinstance(value, str):
            continue
        field = Version._meta.get_field(name)
        longest = getattr(field, "max_length", None)
        if longest is not None and len(value) > longest:
            found[name] = [too_long(value, length=longest)]
        elif problem := text_problem(value, multiline=isinstance(field, models.TextField)):
            found[name] = [problem]
    return found


def _of_other_division(values: Mapping[str, Any], setting: Setting) -> Problems:
    others = {key: names for key, names in types.DIVISION_FIELDS.items() if key != setting.division}
    written = [name for names in others.values() for name in names if values.get(name)]
    return {name: [_("This field belongs to the other division.")] for name in written}


def _urls(values: Mapping[str, Any], setting: Setting) -> Problems:
    found: Problems = {}
    for name in ("add_url", "search_url", "health_url"):
        url = values.get(name)
        if url and (problem := _url_problem(url, setting)):
            found[name] = [problem]
    return found


def _url_problem(url: str, setting: Setting) -> str | None:
    if not url.isascii():
        return _("Write the URL in ASCII: the host as xn--…, other characters percent-encoded.")
    return check_url(
        url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS, allow_http=setting.cycle.allow_plain_http
    )


def _status_url(values: Mapping[str, Any], setting: Setting) -> Problems:
    url = values.get("status_url")
    if not url:
        return {}
    problem = check_status_url(
        url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS, allow_http=setting.cycle.allow_plain_http
    )
    if problem is None and _origin(url) != _origin(str(values.get("add_url"))):
        problem = _("The status URL must have the scheme, host and port of the Add URL.")
    return {"status_url": [problem]} if problem else {}


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    return parts.scheme, parts.hostname, port or {"https": 443, "http": 80}.get(parts.scheme)


def _authentication(values: Mapping[str, Any], setting: Setting) -> Problems:
    scheme = values.get("auth_scheme")
    if scheme == AuthChoice.NONE and setting.has_memory_key:
        return {"memory_key": [_("Without authentication no memory key is sent; leave it empty.")]}
    if scheme and scheme != AuthChoice.NONE and not setting.has_memory_key:
        return {"memory_key": [_("This authentication needs a memory key.")]}
    return {}


def _public_fields(values: Mapping[str, Any]) -> Problems:
    chosen = values.get("public_fields") or []
    if isinstance(chosen, list) and all(name in types.PUBLISHABLE_FIELDS for name in chosen):
        return {}
    expected = ", ".join(types.PUBLISHABLE_FIELDS)
    return {"public_fields": [_("Expected a list of: %(names)s.") % {"names": expected}]}


def _repository(values: Mapping[str, Any]) -> Problems:
    """A repository is read by everybody, so it is public whatever this installation allows."""
    url = values.get("repository")
    if not url:
        return {}
    problem = check_url(url, allow_private=False)
    if problem is None and not urlsplit(url).path.strip("/"):
        problem = _("The URL names a host, but no repository.")
    return {"repository": [problem]} if problem else {}


def _pin(field: str, values: Mapping[str, Any]) -> Problems:
    if str(values.get(field, "")).lower() in _FLOATING:
        return {field: [_("This name moves with time; name one fixed commit or version.")]}
    return {}


def _commit(values: Mapping[str, Any]) -> Problems:
    commit = str(values.get("commit", ""))
    if not commit or _FULL_COMMIT.fullmatch(commit):
        return {}
    if _SHORT_COMMIT.fullmatch(commit):
        return {"commit": [_("Give the whole commit: 40 hex digits; a short one may come to mean another.")]}
    if _TAG.fullmatch(commit) and any(letter.isdigit() for letter in commit):
        return {}
    return {"commit": [_("Expected a commit of 40 hex digits, or a version's tag such as v1.4.2.")]}
