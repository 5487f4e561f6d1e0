"""Faults of real services that the reference service can be told to have, one class each.

``FAULTS`` is the registry. A fault's docstring is its description; ``name:value`` sets the one number that
some take, as in ``slow:0.2``. Adding one is one class with its hook.
"""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response

from evaluations.reference.store import Message
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


def _registered(kind: type[Fault]) -> type[Fault]:
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


# The listener


@_registered
class Slow(Fault):
    """Every reply comes some seconds late."""

    name, default = "slow", 2.0

    async def around(self, request: Request, respond: Respond) -> Response:
        await asyncio.sleep(self.value)
        return await respond()


@_registered
class Hangs(Fault):
    """Takes a request and answers after an hour."""

    name, default = "hangs", 3_600.0

    async def around(self, request: Request, respond: Respond) -> Response:
        await asyncio.sleep(self.value)
        return await respond()


@_registered
class Flaky(Fault):
    """Answers 503 to one request in ten, before doing anything."""

    name, default = "flaky", 0.1

    def __init__(self, value: float | None = None) -> None:
        super().__init__(value)
        self._count = 0  # counted, so that every test run meets the same failures

    async def around(self, request: Request, respond: Respond) -> Response:
        self._count += 1
        if self._count % round(1 / self.value) == 0:
            return JSONResponse({"detail": "out of workers"}, 503)
        return await respond()


@_registered
class RateLimit(Fault):
    """Answers 429 with ``Retry-After: 1`` while four requests are in work."""

    name, default = "rate-limit", 4.0

    def __init__(self, value: float | None = None) -> None:
        super().__init__(value)
        self._working = 0

    async def around(self, request: Request, respond: Respond) -> Response:
        if self._working >= self.value:
            return JSONResponse({"detail": "slow down"}, 429, headers={"Retry-After": "1"})
        self._working += 1
        try:
            await asyncio.sleep(0.005)  # work takes time, or nothing would ever be in flight beside it
            return await respond()
        finally:
            self._working -= 1


@_registered
class Down(Fault):
    """Answers 503 to everything."""

    name = "down"

    async def around(self, request: Request, respond: Respond) -> Response:
        return PlainTextResponse("upstream unavailable", 503)


@_registered
class Redirect(Fault):
    """Answers 307 to everything."""

    name = "redirect"

    async def around(self, request: Request, respond: Respond) -> Response:
        return RedirectResponse(f"{request.url.path}/", 307)


@_registered
class Html(Fault):
    """Answers everything with 200 and a web page."""

    name = "html"

    async def around(self, request: Request, respond: Respond) -> Response:
        return HTMLResponse("<!doctype html><title>Welcome</title><h1>It works!</h1>")


@_registered
class NotJson(Fault):
    """Does the work, and answers with something that is nearly JSON."""

    name = "not-json"

    async def around(self, request: Request, respond: Respond) -> Response:
        response = await respond()
        return Response(bytes(response.body).replace(b'"', b"'"), response.status_code)


@_registered
class SmallBody(Fault):
    """Answers 413 to bodies over 16 KiB."""

    name, default = "small-body", 16_384.0

    async def around(self, request: Request, respond: Respond) -> Response:
        if len(await request.body()) > self.value:
            return PlainTextResponse("too large", 413)
        return await respond()


@_registered
class NoAuth(Fault):
    """Takes any key, and none."""

    name, checks_key = "no-auth", False


# Add


@_registered
class Echo(Fault):
    """Answers Add with the request_id stripped of what isn't a letter or digit."""

    name = "echo"

    def add_reply(self, body: AddBody, reply: Json) -> Json:
        return reply | {"request_id": "".join(filter(str.isalnum, body.request_id))}


@_registered
class SuccessString(Fault):
    """Answers Add with the string ``"true"`` instead of the boolean."""

    name = "success-string"

    def add_reply(self, body: AddBody, reply: Json) -> Json:
        return reply | {"success": "true"}


@_registered
class Forgets(Fault):
    """Answers Add with 200 and stores nothing."""

    name = "forgets"

    async def keep(self, body: AddBody) -> AddBody | None:
        return None


@_registered
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


@_registered
class ReplayTwice(Fault):
    """Stores a replayed request a second time."""

    name = "replay-twice"

    def __init__(self, value: float | None = None) -> None:
        super().__init__(value)
        self._count = 0

    async def keep(self, body: AddBody) -> AddBody | None:
        self._count += 1
        return dataclasses.replace(body, request_id=f"{body.request_id}#{self._count}")


@_registered
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


@_registered
class NoOldDates(Fault):
    """Refuses messages of 1970 and before with 422."""

    name = "no-old-dates"

    async def around(self, request: Request, respond: Respond) -> Response:
        body = await request.body()
        if b'"timestamp":0' in body.replace(b" ", b"") or b'"timestamp":-' in body.replace(b" ", b""):
            return JSONResponse({"detail": "timestamp: must be positive"}, 422)
        return await respond()


# Search


@_registered
class Leak(Fault):
    """Keeps one memory for all users."""

    name = "leak"

    async def keep(self, body: AddBody) -> AddBody | None:
        return dataclasses.replace(body, user_id="everyone")

    def ask(self, body: SearchBody) -> SearchBody:
        return dataclasses.replace(body, user_id="everyone")


@_registered
class TooMany(Fault):
    """Returns one item more than asked for, whatever it holds."""

    name = "too-many"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        padding = [
            {"id": f"p-{i}", "content": "padding", "score": 0.0} for i in range(body.top_k + 1 - len(items))
        ]
        return [*items, *padding]


@_registered
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


@_registered
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


@_registered
class Parrots(Fault):
    """Puts the question itself in front of what it found."""

    name = "parrots"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        parrot = {"id": "q", "content": f"Answer to: {body.query}"}
        return [parrot, *items][: body.top_k] if items else items


@_registered
class IntegerIds(Fault):
    """Returns ids that are integers."""

    name = "integer-ids"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"id": position} for position, item in enumerate(items)]


@_registered
class SameId(Fault):
    """Returns the same id for every item."""

    name = "same-id"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"id": "memory"} for item in items]


@_registered
class IngestDates(Fault):
    """Returns the time of arrival as ``created_at``."""

    name = "ingest-dates"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"created_at": dt.datetime.now(dt.UTC).isoformat()} for item in items]


@_registered
class BadDates(Fault):
    """Returns ``created_at`` in a form that isn't ISO 8601."""

    name = "bad-dates"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"created_at": "last Tuesday"} for item in items]


@_registered
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


@_registered
class NoOptions(Fault):
    """Refuses a Search that holds options with 422."""

    name = "no-options"

    async def around(self, request: Request, respond: Respond) -> Response:
        if b'"options"' in await request.body():
            return JSONResponse({"detail": "options: unknown field"}, 422)
        return await respond()


@_registered
class PrintedParts(Fault):
    """Returns the printed form of a list of parts as one string."""

    name = "printed-parts"

    def items(self, body: SearchBody, items: list[Json]) -> list[Json]:
        return [item | {"content": str(item["content"])} for item in items]
