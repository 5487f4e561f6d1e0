"""The words of the system form: its sections, and the help beneath its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from registration import types

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class Section:
    key: str
    title: StrOrPromise
    purpose: StrOrPromise
    fields: tuple[str, ...]


SECTIONS = (
    Section(
        "system",
        _("System"),
        _("What the board and the reviewers will call it."),
        ("name", "description", "tracks"),
    ),
    Section(
        "service",
        _("Service"),
        _("Where Add and Search are, and how your service knows that it is us who call."),
        (
            "label", "add_url", "search_url", "health_url", "status_url", "auth_scheme", "memory_key",
            "add_concurrency", "search_concurrency", "rate_limit", "body_limit",
        ),
    ),
    Section(
        "runtime",
        _("Runtime and models"),
        _("What the service runs on. Reviewers read this; you choose below what the public sees."),
        ("runtime_environment", "models_and_dependencies", "documentation", "image_digest"),
    ),
    Section(
        "division",
        _("Division"),
        _("What your division asks for."),
        (
            *types.DIVISION_FIELDS[types.Division.OPEN_SOURCE],
            *types.DIVISION_FIELDS[types.Division.COMMERCIAL],
        ),
    ),
    Section(
        "contacts",
        _("Contacts, and what is shown publicly"),
        _("These may change at any time, during a run too."),
        ("contact", "maintenance_contact", "organisation", "public_fields"),
    ),
)  # fmt: skip

HELP: dict[str, StrOrPromise] = {
    "label": _("Such as 1.4.2. Each version of a system has its own name."),
    "add_url": _("Called by POST exactly as written; redirects are not followed."),
    "search_url": _("Called by POST exactly as written; redirects are not followed."),
    "health_url": _("Called by GET without the key. Without it, /health beside Add."),
    "status_url": _(
        "Only if Add answers 202: the address that is polled, with {task_id} in its path or query, on the "
        "host of Add."
    ),
    "add_concurrency": _("How many Adds we may send at the same time, 1 to 64. One user's come in order."),
    "search_concurrency": _("How many Searches we may send at the same time, 1 to 256."),
    "rate_limit": _("If your service has one, such as “20 requests a second”."),
    "body_limit": _(
        "If your service refuses larger requests. The API guide names the largest Add of each track."
    ),
    "runtime_environment": _("Hardware, region, store. Commercial products may write “not disclosed”."),
    "models_and_dependencies": _(
        "Every model that Add or Search calls (embeddings, rerankers, LLMs) with its version, and the "
        "libraries that matter. Write “none” if there are none."
    ),
    "documentation": _("How the system works and how it is operated, or a link to where that is written."),
    "image_digest": _("If you run a container: name@sha256:…"),
    "repository": _("A public https address that anybody can clone."),
    "commit": _("40 hex digits, or a version's tag. It is frozen with the first accepted Full."),
    "original_authors": _("Who made the method, if not you alone."),
    "provenance": _("Where the method and its code come from: paper, upstream repository."),
    "changes": _("What you changed for this entry; “none” if nothing."),
    "licence": _("Such as Apache-2.0."),
    "implementation_notes": _(
        "How the memory is built, stored and searched; what a reviewer needs to repeat it."
    ),
    "product_version": _("The fixed version that answers during the whole run."),
    "capacity_statement": _("What load the service stands, and what you do to keep it stable for ten days."),
    "contact": _("For reviewers and organisers."),
    "maintenance_contact": _("Who can act if the service fails during a run."),
}

PUBLISHABLE: dict[str, StrOrPromise] = {
    "organisation": _("Organisation"),
    "documentation": _("System documentation"),
    "models_and_dependencies": _("Models and dependencies"),
    "runtime_environment": _("Runtime environment"),
    "contact": _("Contact"),
}
