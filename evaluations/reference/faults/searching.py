"""Faults of Search: what is looked for, and what is returned."""

from __future__ import annotations

import dataclasses
import datetime as dt

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from evaluations.reference.faults.base import Fault, Json, Respond, registered
from evaluations.reference.store import Message
from evaluations.reference.wire import AddBody, SearchBody


@registered
class Leak(Fault):
    """Keeps one memory for all users."""

    name = "leak"

    async def keep(self, body: AddBody) -> AddBody | None:
        return dataclasses.replace(body, user_id="everyone")

    def ask(self, body: SearchBody) -> SearchBody:
        return dataclasses.replace(body, user_id="everyone")


@registered
class TooMany(Fault):
    """Returns one item more than asked for, whatever it holds."""

    name = "too-many"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        padding = [
            {"id": f"p-{i}", "content": "padding", "score": 0.0} for i in range(body.top_k + 1 - len(items))
        ]
        return [*items, *padding]


@registered
class LastSession(Fault):
    """Returns only what was added in the session that came last."""

    name = "last-session"

    def __init__(self, value: float | None = None) -> None:
        super().__init__(value)
        self._last: dict[str, tuple[str, int]] = {}

    async def keep(self, body: AddBody) -> AddBody | None:
        session, count = self._last.get(body.user_id, ("", 0))
        self._last[body.user_id] = (body.session_id, count + (session != body.session_id))
        return dataclasses.replace(body, user_id=self._user(body.user_id))

    def ask(self, body: SearchBody) -> SearchBody:
        return dataclasses.replace(body, user_id=self._user(body.user_id))

    def _user(self, user_id: str) -> str:
        return f"{user_id}#{self._last.get(user_id, ('', 0))[1]}"


@registered
class Garbled(Fault):
    """Returns text with everything but ASCII as the replacement character."""

    name = "garbled"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"content": _garble(item["content"])} for item in items]


def _garble(content: str | list[Message]) -> str | list[Message]:
    return (
        content.encode("ascii", "replace").decode().replace("?", "\ufffd")
        if isinstance(content, str)
        else content
    )


@registered
class Parrots(Fault):
    """Puts the question itself in front of what it found."""

    name = "parrots"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        parrot = {"id": "q", "content": f"Answer to: {body.query}"}
        return [parrot, *items][: body.top_k] if items else items


@registered
class IntegerIds(Fault):
    """Returns ids that are integers."""

    name = "integer-ids"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"id": position} for position, item in enumerate(items)]


@registered
class SameId(Fault):
    """Returns the same id for every item."""

    name = "same-id"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"id": "memory"} for item in items]


@registered
class IngestDates(Fault):
    """Returns the time of arrival as ``created_at``."""

    name = "ingest-dates"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"created_at": dt.datetime.now(dt.UTC).isoformat()} for item in items]


@registered
class BadDates(Fault):
    """Returns ``created_at`` in a form that isn't ISO 8601."""

    name = "bad-dates"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"created_at": "last Tuesday"} for item in items]


@registered
class Shuffled(Fault):
    """Returns the items in another order each time."""

    name = "shuffled"

    def __init__(self, value: float | None = None) -> None:
        super().__init__(value)
        self._turn = 0

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        self._turn += 1
        turn = self._turn % max(len(items), 1)
        return items[turn:] + items[:turn]


@registered
class NoOptions(Fault):
    """Refuses a Search that holds options with 422."""

    name = "no-options"

    async def around(self, request: Request, respond: Respond) -> Response:
        if b'"options"' in await request.body():
            return JSONResponse({"detail": "options: unknown field"}, 422)
        return await respond()


@registered
class PrintedParts(Fault):
    """Returns the printed form of a list of parts as one string."""

    name = "printed-parts"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"content": str(item["content"])} for item in items]
