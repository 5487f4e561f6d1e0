"""The checks of the contract: names, severities, what each is about, and the probe that does it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from evaluations.engine.conformance import answers, auth, basics, burst, contents, replays
from evaluations.engine.conformance.probe import Probe, Scope
from evaluations.engine.conformance.report import Finding, Severity


class Need(StrEnum):
    """What must have worked before a probe can show anything."""

    ADD = "add"  # an Add was answered 200
    SEARCH = "search"  # a Search reply could be read
    MEMORY = "memory"  # read_your_write found something


@dataclass(frozen=True, slots=True)
class ProbeSpec:
    names: tuple[str, ...]
    run: Callable[[Probe], Awaitable[dict[str, Finding]]]
    needs: frozenset[Need] = frozenset()
    spared: Callable[[Scope], str | None] = lambda scope: None  # why it doesn't apply, if it doesn't


def _without_key(scope: Scope) -> str | None:
    return None if scope.authenticated else "The version is registered without a key."


def _without_media(scope: Scope) -> str | None:
    return None if scope.track == "multimodal" else "Only in the Multimodal track."


def _without_health(scope: Scope) -> str | None:
    return "No health URL is registered." if scope.endpoint.health_url is None else None


_ADD = frozenset({Need.ADD})
_BOTH = frozenset({Need.ADD, Need.SEARCH})
_MEMORY = frozenset(Need)

# In the order of the report. A name is in the API, in the docs and in stored reports: it never changes.
SEVERITIES: dict[str, Severity] = {
    "health": Severity.WARNING,
    "auth.accepts": Severity.GATE,
    "auth.refuses": Severity.GATE,
    "add.schema": Severity.GATE,
    "add.echo": Severity.GATE,
    "search.schema": Severity.GATE,
    "read_your_write": Severity.GATE,
    "isolation": Severity.GATE,
    "empty_user": Severity.GATE,
    "top_k": Severity.GATE,
    "sessions": Severity.GATE,
    "replay.accepted": Severity.GATE,
    "replay.single": Severity.WARNING,
    "clash": Severity.SHOWN,
    "timestamps": Severity.GATE,
    "body_limit": Severity.GATE,
    "text": Severity.GATE,
    "parts": Severity.GATE,
    "options": Severity.GATE,
    "order": Severity.WARNING,
    "burst": Severity.GATE,
    "latency": Severity.SHOWN,
    "created_at": Severity.WARNING,
    "id_types": Severity.WARNING,
    "extra_fields": Severity.WARNING,
    "answers": Severity.WARNING,
}

FIRST = (
    ProbeSpec(("health",), basics.health, spared=_without_health),
    ProbeSpec(("read_your_write",), basics.read_your_write),
)

# Side by side, a few at a time.
MIDDLE = (
    ProbeSpec(("auth.refuses",), auth.auth_refuses, _ADD, _without_key),
    ProbeSpec(("isolation",), basics.isolation, _MEMORY),
    ProbeSpec(("empty_user",), basics.empty_user, frozenset({Need.SEARCH})),
    ProbeSpec(("top_k",), basics.top_k, _ADD),
    ProbeSpec(("sessions",), basics.sessions, _MEMORY),
    ProbeSpec(("replay.accepted", "replay.single"), replays.replay, _ADD),
    ProbeSpec(("clash",), replays.clash, _ADD),
    ProbeSpec(("timestamps",), contents.timestamps, _MEMORY),
    ProbeSpec(("body_limit",), contents.body_limit, _ADD),
    ProbeSpec(("text",), contents.text, _BOTH),
    ProbeSpec(("parts",), contents.parts, _BOTH, _without_media),
    ProbeSpec(("options",), contents.options, _BOTH),
    ProbeSpec(("order",), contents.order, _MEMORY),
    ProbeSpec(("answers",), answers.answers, _MEMORY),
)

# Alone, so that nothing else is in flight beside the declared concurrency.
LAST = (ProbeSpec(("burst",), burst.burst, _BOTH),)
