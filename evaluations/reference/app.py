"""The reference memory service over HTTP: ``POST /add``, ``POST /search``, ``GET /health``."""

from __future__ import annotations

import contextlib
import functools
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evaluations.reference import faults as fault_registry
from evaluations.reference.store import Hit, Outcome, Store
from evaluations.reference.wire import AddBody, Refused, SearchBody, hit_json, parse_add, parse_search

MAX_BODY = 96 * 1024 * 1024  # a Multimodal Add holds up to 30 MiB of media, in base64

Handler = Callable[[bytes], Awaitable[Response]]


def _json(body: object, status: int = 200) -> Response:
    return Response(orjson.dumps(body), status, media_type="application/json")


class ReferenceMemory:
    """The handlers, over one store and with the faults switched on."""

    def __init__(self, store: Store, *, key: str | None, faults: Iterable[str]) -> None:
        self._store = store
        self._faults = fault_registry.build(faults)
        self._key = key if all(fault.checks_key for fault in self._faults) else None

    async def health(self, request: Request) -> Response:
        return await self._around(request, _healthy)

    async def add(self, request: Request) -> Response:
        return await self._around(request, functools.partial(self._handle, request, self._add))

    async def search(self, request: Request) -> Response:
        return await self._around(request, functools.partial(self._handle, request, self._search))

    async def _around(self, request: Request, respond: fault_registry.Respond) -> Response:
        for fault in self._faults:
            respond = functools.partial(fault.around, request, respond)
        return await respond()

    async def _handle(self, request: Request, handler: Handler) -> Response:
        # Read to the end before a refusal: a reply to an unread body leaves the connection unusable.
        raw = await request.body()
        if not self._authorised(request):
            return _json({"detail": "the key is missing or wrong"}, 401)
        if len(raw) > MAX_BODY:
            return _json({"detail": f"the body holds {len(raw)} bytes, at most {MAX_BODY} are taken"}, 413)
        try:
            return await handler(raw)
        except Refused as refusal:
            return _json({"detail": str(refusal)}, 422)

    def _authorised(self, request: Request) -> bool:
        if self._key is None:
            return True
        scheme, _, credential = request.headers.get("authorization", "").partition(" ")
        given = credential if scheme.lower() in ("bearer", "token") else request.headers.get("x-api-key", "")
        return hmac.compare_digest(given.encode(), self._key.encode())

    async def _add(self, raw: bytes) -> Response:
        body = parse_add(raw)
        if await self._keep(body) is Outcome.CONFLICT:
            return _json({"detail": "this request_id came with another body before"}, 409)
        reply: fault_registry.Json = {
            "success": True,
            "request_id": body.request_id,
            "user_id": body.user_id,
            "session_id": body.session_id,
        }
        for fault in self._faults:
            reply = fault.add_reply(body, reply)
        return _json(reply)

    async def _keep(self, body: AddBody) -> Outcome:
        kept: AddBody | None = body
        for fault in self._faults:
            kept = await fault.keep(kept) if kept else None
        if kept is None:
            return Outcome.STORED
        return await self._store.add(
            request_id=kept.request_id,
            user_id=kept.user_id,
            session_id=kept.session_id,
            messages=kept.messages,
        )

    async def _search(self, raw: bytes) -> Response:
        body = parse_search(raw)
        items = [hit_json(hit) for hit in await self._find(body)]
        for fault in self._faults:
            items = fault.items(body, items)
        return _json({"data": items})

    async def _find(self, body: SearchBody) -> list[Hit]:
        for fault in self._faults:
            body = fault.ask(body)
        return await self._store.search(
            query=body.query, user_id=body.user_id, top_k=body.top_k, options=body.options
        )


async def _healthy() -> Response:
    return _json({"status": "ok"})


def create_app(
    path: Path | str | None, *, key: str | None = None, faults: Iterable[str] = frozenset()
) -> Starlette:
    """The ASGI application over the store at ``path`` (None: a temporary one).

    ``key`` None asks for no credential. Raises ``ValueError`` for a fault that isn't known.
    """
    store = Store(path)
    service = ReferenceMemory(store, key=key, faults=faults)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        store.close()

    routes = [
        Route("/add", service.add, methods=["POST"]),
        Route("/search", service.search, methods=["POST"]),
        Route("/health", service.health, methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def build_server(
    port: int,
    *,
    path: Path | str | None = None,
    host: str = "127.0.0.1",
    key: str | None = None,
    faults: Iterable[str] = frozenset(),
) -> uvicorn.Server:
    """A server that isn't running yet; port 0 takes a free one."""
    app = create_app(path, key=key, faults=faults)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        lifespan="on",
        backlog=2048,
        ws="none",
        timeout_graceful_shutdown=2,
    )
    return uvicorn.Server(config)


def serve(
    port: int,
    *,
    path: Path | str | None = None,
    host: str = "127.0.0.1",
    key: str | None = None,
    faults: Iterable[str] = frozenset(),
) -> None:
    """Serve until interrupted."""
    build_server(port, path=path, host=host, key=key, faults=faults).run()
