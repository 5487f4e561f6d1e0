"""The client of a participant's memory service: one attempt a call, no exception for what it does."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from aml.lib.addresses import check_url, fill_status_url
from aml.lib.clock import Clock, SystemClock
from aml.lib.redact import Redactor, mask_headers, safe_excerpt
from evaluations.engine.contract import AGENT_NAME, Limits
from evaluations.engine.errors import (
    Code,
    EngineError,
    ParticipantError,
    PlatformError,
    ReplyRefused,
    failure,
)
from evaluations.engine.exchanges import Exchanger, Reply
from evaluations.engine.network import Network
from evaluations.engine.replies import read_accepted, read_add, read_search, read_status
from evaluations.engine.requests import Route, build_route, encode_add, encode_search, health_url, sent_texts
from evaluations.engine.slots import ByteBudget
from evaluations.engine.statuses import parse_retry_after, status_failure
from evaluations.engine.types import (
    AddRequest,
    Endpoint,
    Exchange,
    Failure,
    MemoryItem,
    Operation,
    SearchRequest,
)

_OK = 200
_ACCEPTED = 202


@dataclass(slots=True)
class _Attempt:
    """One attempt under way; ``reply`` is the newest, a status poll's among them."""

    operation: Operation
    url: str
    request: AddRequest | SearchRequest | None
    started_at: float
    started: float  # monotonic
    body: bytes | None = None
    masked: tuple[tuple[str, str], ...] = ()
    reply: Reply = field(default_factory=Reply)
    failure: Failure | None = None
    items: tuple[MemoryItem, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        return "GET" if self.request is None else "POST"


class HttpMemoryService:
    """``MemoryService`` over HTTP (contract.md). Use within one event loop, and close it."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        track: str = "textual",
        limits: Limits | None = None,
        clock: Clock | None = None,
        agent: str = AGENT_NAME,
        network: Network | None = None,
        budget: ByteBudget | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._track = track
        self._limits = limits or Limits()
        self._clock = clock or SystemClock()
        self._agent = agent
        self._routes: dict[tuple[str, str, bool], Route] = {}
        self._secrets = () if endpoint.key is None else (endpoint.key.reveal,)
        self._redactor = Redactor(secrets=self._secrets)
        self._exchanger = Exchanger(
            limits=self._limits,
            clock=self._clock,
            allow_private=endpoint.allow_private,
            network=network or Network(clock=self._clock),
            budget=budget,
        )

    async def add(self, request: AddRequest) -> Exchange:
        return await self._call(Operation.ADD, url=self._endpoint.add_url, request=request)

    async def search(self, request: SearchRequest) -> Exchange:
        return await self._call(Operation.SEARCH, url=self._endpoint.search_url, request=request)

    async def health(self) -> Exchange:
        """GET without the credential; any 2xx is healthy."""
        return await self._call(Operation.HEALTH, url=health_url(self._endpoint), request=None)

    async def aclose(self) -> None:
        self._exchanger.close()

    async def _call(
        self, operation: Operation, *, url: str, request: AddRequest | SearchRequest | None
    ) -> Exchange:
        attempt = _Attempt(
            operation=operation,
            url=url,
            request=request,
            started_at=self._clock.now(),
            started=self._clock.monotonic(),
        )
        try:
            attempt.body = _encode(request)
            route = self._route(url, method=attempt.method, credential=request is not None)
            attempt.masked = route.masked
            await self._within_deadline(attempt, route=route)
        except EngineError as error:
            attempt.failure = error.failure
        return self._exchange(attempt)

    def _route(self, url: str, *, method: str, credential: bool, keep: bool = True) -> Route:
        known = self._routes.get((url, method, credential))
        if known is not None:
            return known
        endpoint = self._endpoint
        wrong = check_url(url, allow_private=endpoint.allow_private, allow_http=endpoint.allow_http)
        if wrong is not None:
            raise _blocked(wrong)
        try:
            made = build_route(
                url, method=method, endpoint=self._endpoint, agent=self._agent, credential=credential
            )
        except ValueError as error:
            raise _blocked(f"The URL can't be called: {error}.") from error
        if keep:  # a status URL has a task of its own
            self._routes[(url, method, credential)] = made
        return made

    async def _within_deadline(self, attempt: _Attempt, *, route: Route) -> None:
        cap = self._limits.reply_bytes(operation=attempt.operation, track=self._track)
        limit = self._limits.attempt_total
        try:
            async with asyncio.timeout(limit) as deadline:
                await self._exchanger.send(
                    route,
                    body=attempt.body,
                    operation=attempt.operation,
                    cap=cap,
                    deadline=deadline,
                    reply=attempt.reply,
                )
                if attempt.reply.failure is not None:
                    raise EngineError(attempt.reply.failure)
                await self._judge(attempt, route=route, deadline=deadline)
        except TimeoutError as error:
            reply = attempt.reply
            sentence = f"{route.target}: not done within {limit:g} s; the step reached was {reply.step}."
            raise EngineError(
                failure(Code.READ_TIMEOUT, sentence=sentence, retryable=True, reached=reply.reached)
            ) from error

    async def _judge(self, attempt: _Attempt, *, route: Route, deadline: asyncio.Timeout) -> None:
        status, body = attempt.reply.status, attempt.reply.body
        request = attempt.request
        if request is None and status in range(200, 300):
            return
        if status == _ACCEPTED and isinstance(request, AddRequest):
            await self._poll(attempt, deadline=deadline)
        elif status != _OK:
            raise EngineError(self._status_failure(attempt.reply, route=route, operation=attempt.operation))
        elif isinstance(request, AddRequest):
            read_add(body, request=request, limits=self._limits)
        elif isinstance(request, SearchRequest):
            found = read_search(body, request=request, limits=self._limits, media=self._endpoint.media)
            attempt.items, attempt.warnings = found.items, found.warnings

    def _status_failure(self, reply: Reply, *, route: Route, operation: Operation) -> Failure:
        location = reply.header(b"location")
        return status_failure(
            status=reply.status or 0,
            operation=operation,
            target=str(route.target),
            retry_after=parse_retry_after(reply.header(b"retry-after"), now=self._clock.now()),
            location=None if location is None else safe_excerpt(location.encode(), self._redactor, limit=200),
        )

    async def _poll(self, attempt: _Attempt, *, deadline: asyncio.Timeout) -> None:
        """Asks the status URL until the Add is done; the attempt's deadline covers it all."""
        route = self._status_route(attempt)
        attempt.reply.step, attempt.reply.reached = "polling the status URL", True
        wait = self._limits.poll_shortest
        while True:
            await self._clock.sleep(wait)
            wait = min(self._limits.poll_longest, wait * 2)
            reply = Reply(timing=attempt.reply.timing)
            await self._exchanger.send(
                route,
                body=None,
                operation=Operation.STATUS,
                cap=self._limits.add_reply,
                deadline=deadline,
                reply=reply,
            )
            attempt.reply = replace(
                reply, timing=attempt.reply.timing, step="polling the status URL", reached=True
            )
            if self._task_done(reply, route=route):
                break
        latency = self._clock.monotonic() - attempt.started
        attempt.reply.timing = replace(attempt.reply.timing, latency=latency)

    def _status_route(self, attempt: _Attempt) -> Route:
        template = self._endpoint.status_url
        if template is None:
            sentence = "The service answered Add with 202, and no Add-status URL is registered."
            raise _refused(Code.ASYNC_NOT_APPROVED, sentence, status=_ACCEPTED)
        task = read_accepted(attempt.reply.body, limits=self._limits)
        url = fill_status_url(template, task_id=task)
        if url is None:
            raise _refused(
                Code.ASYNC_FAILED, "The task_id leads away from the status URL's origin.", status=_ACCEPTED
            )
        return self._route(url, method="GET", credential=True, keep=False)

    def _task_done(self, reply: Reply, *, route: Route) -> bool:
        """False: ask again, also after a failure that the retry table calls passing."""
        if reply.failure is not None:
            if reply.failure.retryable:
                return False
            raise EngineError(reply.failure)
        if reply.status != _OK:
            wrong = self._status_failure(reply, route=route, operation=Operation.STATUS)
            if wrong.retryable:
                return False
            raise EngineError(wrong)
        task = read_status(reply.body, limits=self._limits)
        if task.error is not None:
            raise _refused(
                Code.ASYNC_FAILED, f"The status URL says that the Add failed: {task.error}.", status=_OK
            )
        return task.done

    def _exchange(self, attempt: _Attempt) -> Exchange:
        reply = attempt.reply
        # Our own texts are looked for only where something went wrong: a good reply holds them by design.
        redactor = self._redactor
        if attempt.failure is not None and reply.body:
            redactor = Redactor(secrets=self._secrets, texts=sent_texts(attempt.request))
        masked = attempt.masked
        if attempt.body is not None:
            masked = (*masked, ("Content-Length", str(len(attempt.body))))
        headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in reply.headers)
        return Exchange(
            operation=attempt.operation,
            method=attempt.method,
            url=attempt.url,
            started_at=attempt.started_at,
            timing=reply.timing,
            request_headers=masked,
            request_body=attempt.body or b"",
            status=reply.status,
            response_headers=mask_headers(headers, redactor=self._redactor),
            response_body=safe_excerpt(reply.body, redactor, limit=self._limits.reply_excerpt).encode(),
            response_size=len(reply.body),
            response_sha256=reply.sha256,
            failure=self._cleaned(attempt.failure, status=reply.status),
            items=attempt.items,
            warnings=attempt.warnings,
        )

    def _cleaned(self, wrong: Failure | None, *, status: int | None) -> Failure | None:
        if wrong is None:
            return None
        clean = self._redactor.clean
        return replace(
            wrong,
            sentence=clean(wrong.sentence),
            status=wrong.status if wrong.status is not None else status,
            expected=None if wrong.expected is None else clean(wrong.expected),
            found=None if wrong.found is None else clean(wrong.found),
        )


def _encode(request: AddRequest | SearchRequest | None) -> bytes | None:
    """Raises PlatformError for what JSON can't carry: packs are checked, so it would be our mistake."""
    try:
        if isinstance(request, AddRequest):
            return encode_add(request)
        return None if request is None else encode_search(request)
    except (TypeError, ValueError) as error:
        sentence = f"The request can't be written as JSON: {error}."
        raise PlatformError(
            failure(Code.PLATFORM_ERROR, sentence=sentence, retryable=False, reached=False)
        ) from error


def _blocked(sentence: str) -> ParticipantError:
    return ParticipantError(failure(Code.ADDRESS_BLOCKED, sentence=sentence, retryable=True, reached=False))


def _refused(code: Code, sentence: str, *, status: int) -> ReplyRefused:
    return ReplyRefused(failure(code, sentence=sentence, retryable=False, status=status))
