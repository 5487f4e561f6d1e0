"""Faults of Add: what is stored, and what is answered."""

from __future__ import annotations

import asyncio
import dataclasses

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from evaluations.reference.faults.base import Fault, Json, Respond, registered
from evaluations.reference.wire import AddBody, SearchBody


@registered
class Echo(Fault):
    """Answers Add with the request_id stripped of what isn't a letter or digit."""

    name = "echo"

    def add_reply(self, body: AddBody, reply: Json) -> Json:
        return reply | {"request_id": "".join(filter(str.isalnum, body.request_id))}


@registered
class SuccessString(Fault):
    """Answers Add with the string ``"true"`` instead of the boolean."""

    name = "success-string"

    def add_reply(self, body: AddBody, reply: Json) -> Json:
        return reply | {"success": "true"}


@registered
class Forgets(Fault):
    """Answers Add with 200 and stores nothing."""

    name = "forgets"

    async def keep(self, body: AddBody) -> AddBody | None:
        return None


@registered
class Stale(Fault):
    """Answers Add at once; what was added is found some seconds later."""

    name, default = "stale", 3.0

    def __init__(self, value: float | None = None) -> None:
        super().__init__(value)
        self._seen: dict[str, float] = {}

    async def keep(self, body: AddBody) -> AddBody | None:
        self._seen[body.user_id] = asyncio.get_running_loop().time()
        return body

    def ask(self, body: SearchBody) -> SearchBody:
        added = self._seen.get(body.user_id, float("-inf"))
        fresh = asyncio.get_running_loop().time() - added < self.value
        return dataclasses.replace(body, user_id="nobody yet") if fresh else body


@registered
class ReplayTwice(Fault):
    """Stores a replayed request a second time."""

    name = "replay-twice"

    def __init__(self, value: float | None = None) -> None:
        super().__init__(value)
        self._count = 0

    async def keep(self, body: AddBody) -> AddBody | None:
        self._count += 1
        return dataclasses.replace(body, request_id=f"{body.request_id}#{self._count}")


@registered
class RefusesReplay(Fault):
    """Answers a replayed request with 409 for ever."""

    name = "refuses-replay"

    def __init__(self, value: float | None = None) -> None:
        super().__init__(value)
        self._seen: set[str] = set()

    async def around(self, request: Request, respond: Respond) -> Response:
        body = await request.body()
        text = body.decode(errors="replace")
        if '"request_id"' in text and text in self._seen:
            return JSONResponse({"detail": "seen before"}, 409)
        self._seen.add(text)
        return await respond()


@registered
class NoOldDates(Fault):
    """Refuses messages of 1970 and before with 422."""

    name = "no-old-dates"

    async def around(self, request: Request, respond: Respond) -> Response:
        body = await request.body()
        if b'"timestamp":0' in body.replace(b" ", b"") or b'"timestamp":-' in body.replace(b" ", b""):
            return JSONResponse({"detail": "timestamp: must be positive"}, 422)
        return await respond()
