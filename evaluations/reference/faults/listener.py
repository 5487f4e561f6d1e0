"""Faults of the listener: what stands between the network and the service."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response

from evaluations.reference.faults.base import Fault, Respond, registered


@registered
class Slow(Fault):
    """Every reply comes some seconds late."""

    name, default = "slow", 2.0

    async def around(self, request: Request, respond: Respond) -> Response:
        await asyncio.sleep(self.value)
        return await respond()


@registered
class Hangs(Fault):
    """Takes a request and answers after an hour."""

    name, default = "hangs", 3_600.0

    async def around(self, request: Request, respond: Respond) -> Response:
        await asyncio.sleep(self.value)
        return await respond()


@registered
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


@registered
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


@registered
class Down(Fault):
    """Answers 503 to everything."""

    name = "down"

    async def around(self, request: Request, respond: Respond) -> Response:
        return PlainTextResponse("upstream unavailable", 503)


@registered
class Redirect(Fault):
    """Answers 307 to everything."""

    name = "redirect"

    async def around(self, request: Request, respond: Respond) -> Response:
        return RedirectResponse(f"{request.url.path}/", 307)


@registered
class Html(Fault):
    """Answers everything with 200 and a web page."""

    name = "html"

    async def around(self, request: Request, respond: Respond) -> Response:
        return HTMLResponse("<!doctype html><title>Welcome</title><h1>It works!</h1>")


@registered
class NotJson(Fault):
    """Does the work, and answers with something that is nearly JSON."""

    name = "not-json"

    async def around(self, request: Request, respond: Respond) -> Response:
        response = await respond()
        return Response(bytes(response.body).replace(b'"', b"'"), response.status_code)


@registered
class SmallBody(Fault):
    """Answers 413 to bodies over 16 KiB."""

    name, default = "small-body", 16_384.0

    async def around(self, request: Request, respond: Respond) -> Response:
        if len(await request.body()) > self.value:
            return PlainTextResponse("too large", 413)
        return await respond()


@registered
class NoAuth(Fault):
    """Takes any key, and none."""

    name, checks_key = "no-auth", False
