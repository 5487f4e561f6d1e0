"""What a fault is, and the registry of those there are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import Response

from evaluations.reference.wire import AddBody, SearchBody

Respond = Callable[[], Awaitable[Response]]
Json = dict[str, Any]


class Fault:
    """No fault: every hook leaves things as they are."""

    name: ClassVar[str] = ""
    default: ClassVar[float] = 0.0
    checks_key: ClassVar[bool] = True

    def __init__(self, value: float | None = None) -> None:
        self.value = self.default if value is None else value

    async def around(self, request: Request, respond: Respond) -> Response:
        """Stands between the listener and the service."""
        return await respond()

    async def keep(self, body: AddBody) -> AddBody | None:
        """What is stored instead of ``body``; None stores nothing."""
        return body

    def ask(self, body: SearchBody) -> SearchBody:
        """What is searched for instead of ``body``."""
        return body

    def add_reply(self, body: AddBody, reply: Json) -> Json:
        return reply

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return items


FAULTS: dict[str, type[Fault]] = {}


def registered(kind: type[Fault]) -> type[Fault]:
    FAULTS[kind.name] = kind
    return kind


def describe() -> dict[str, str]:
    """Every fault's name and what it does, in one sentence."""
    return {name: " ".join((kind.__doc__ or "").split()) for name, kind in sorted(FAULTS.items())}


def build(names: Iterable[str]) -> list[Fault]:
    """The faults named; raises ``ValueError`` with the names there are for one that isn't."""
    return [_build(name) for name in sorted(names)]


def _build(text: str) -> Fault:
    name, _, value = text.partition(":")
    if name not in FAULTS:
        raise ValueError(f"no fault {name!r}; there are {', '.join(sorted(FAULTS))}")
    return FAULTS[name](float(value) if value else None)
