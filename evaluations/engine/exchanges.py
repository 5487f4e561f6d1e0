"""One HTTP exchange on a checked connection: request bytes out, capped reply bytes in, measured."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import weakref
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpcore2

from aml.lib.clock import Clock
from evaluations.engine.contract import Limits, retryable
from evaluations.engine.errors import Code, EngineError, ReplyRefused, failure
from evaluations.engine.network import Network, Target
from evaluations.engine.requests import Route
from evaluations.engine.slots import ByteBudget, Slot, Slots
from evaluations.engine.streams import HeadTooLarge, Stream
from evaluations.engine.types import Failure, Operation, Timing

# A reply up to this size needs no share of the byte budget: that much is read at once anyway.
_FREE = 64 * 1024
# Of a reply other than 2xx only the status matters; its body gets little room and little time.
_ERROR_BODY = 64 * 1024
_ERROR_PATIENCE = 5.0
_OK = range(200, 300)

_budgets: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, ByteBudget] = weakref.WeakKeyDictionary()


def shared_budget(limits: Limits) -> ByteBudget:
    """The one of this process's loop: the first caller's ``limits.byte_budget`` sets its size."""
    return _budgets.setdefault(asyncio.get_running_loop(), ByteBudget(total=limits.byte_budget))


@dataclass(slots=True)
class Reply:
    """What came back, as far as it came."""

    status: int | None = None
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    timing: Timing = field(default_factory=Timing)
    step: str = "waiting for a connection"  # how far it came, for the sentence of a time-out
    reached: bool = False  # whether the request may have arrived
    failure: Failure | None = None

    def header(self, name: bytes) -> str | None:
        for key, value in self.headers:
            if key.lower() == name:
                return value.decode("latin-1")
        return None

    @property
    def sha256(self) -> str | None:
        return hashlib.sha256(self.body).hexdigest() if self.status is not None else None


class Exchanger:
    """Makes exchanges with one service over connections of its own."""

    def __init__(
        self,
        *,
        limits: Limits,
        clock: Clock,
        allow_private: bool,
        network: Network,
        budget: ByteBudget | None,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._allow_private = allow_private
        self._network = network
        self._budget = budget
        self._slots: dict[Target, Slots] = {}

    def close(self) -> None:
        for slots in self._slots.values():
            slots.close()

    async def send(
        self,
        route: Route,
        *,
        body: bytes | None,
        operation: Operation,
        cap: int,
        deadline: asyncio.Timeout,
        reply: Reply,
    ) -> None:
        """Fills ``reply``; never raises for what the service does. TimeoutError is the deadline's."""
        call = _Call(
            self, route=route, body=body, operation=operation, cap=cap, reply=reply, deadline=deadline
        )
        try:
            await call.run()
        except EngineError as error:
            reply.failure = error.failure

    def slots(self, target: Target) -> Slots:
        if target not in self._slots:
            self._slots[target] = Slots(
                clock=self._clock, ramp=self._limits.connect_ramp, idle_close=self._limits.idle_close
            )
        return self._slots[target]

    async def open(self, target: Target) -> tuple[Slot, Timing]:
        opened = await self._network.open(
            target, allow_private=self._allow_private, timeout=self._limits.connect_total
        )
        origin = httpcore2.Origin(target.scheme.encode(), target.host.encode(), target.port)
        connection = httpcore2.AsyncHTTP11Connection(origin=origin, stream=opened.stream)
        timing = Timing(dns=opened.dns, connect=opened.connect, tls=opened.tls)
        return Slot(connection=connection, stream=opened.stream), timing

    @contextlib.asynccontextmanager
    async def budget(self, size: int, *, deadline: asyncio.Timeout) -> AsyncIterator[None]:
        """Waiting for our own memory is not the service's time."""
        budget = self._budget or shared_budget(self._limits)
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        taken = await budget.take(size)
        try:
            ends = deadline.when()
            if ends is not None:
                deadline.reschedule(ends + loop.time() - asked_at)
            yield
        finally:
            budget.give(taken)

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def clock(self) -> Clock:
        return self._clock


class _Call:
    """The steps of one exchange, with what they share."""

    def __init__(
        self,
        exchanger: Exchanger,
        *,
        route: Route,
        body: bytes | None,
        operation: Operation,
        cap: int,
        reply: Reply,
        deadline: asyncio.Timeout,
    ) -> None:
        self._exchanger = exchanger
        self._route = route
        self._body = body
        self._operation = operation
        self._cap = cap
        self._reply = reply
        self._deadline = deadline

    async def run(self) -> None:
        slots = self._exchanger.slots(self._route.target)
        slot = await slots.take()
        if slot is None:
            slot, self._reply.timing = await self._exchanger.open(self._route.target)
        try:
            await self._converse(slot)
        except BaseException:
            self._note_step(slot.stream)
            slot.close()
            raise
        if self._reply.status not in _OK or slot.stream.cut_short:
            slot.close()
        slots.put(slot)

    def _note_step(self, stream: Stream) -> None:
        self._reply.reached = stream.sent > 0
        total = len(self._body or b"")
        if self._reply.status is not None:
            self._reply.step = f"reading the reply, {stream.received} bytes so far"
        elif stream.sent < total:
            self._reply.step = f"sending the request, {stream.sent} of {total} bytes so far"
        else:
            self._reply.step = "waiting for the reply to a request sent whole"

    async def _converse(self, slot: Slot) -> None:
        stream = slot.stream
        head_limit = self._exchanger.limits.reply_head + _FREE
        stream.begin(clock=self._exchanger.clock.monotonic, head_limit=head_limit)
        try:
            response = await slot.connection.handle_async_request(self._request())
            stream.head_left = None
            self._reply.status = response.status
            self._reply.headers = list(response.headers)
            await self._read(response)
            await response.aclose()
        except (httpcore2.ProtocolError, HeadTooLarge, ValueError) as error:  # h11 lets a ValueError through
            raise self._unreadable(error, stream=stream) from error
        except httpcore2.NetworkError as error:
            raise self._lost(str(error), stream=stream) from error
        self._measure(stream)
        if stream.cut_short and self._reply.status in _OK:
            # Success for a request that was never taken whole can't be meant.
            raise self._lost("answered before the whole request was sent", stream=stream)

    def _request(self) -> httpcore2.Request:
        target = self._route.target
        url = httpcore2.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode(),
            port=target.port,
            target=self._route.path,
        )
        headers = self._route.headers_for(self._body)
        return httpcore2.Request(self._route.method, url, headers=headers, content=self._body)

    async def _read(self, response: httpcore2.Response) -> None:
        if response.status not in _OK:
            await self._read_error(response)
            return
        encoding = (self._reply.header(b"content-encoding") or "identity").strip().lower()
        if encoding != "identity":
            sentence = f"{self._route.target} compressed its reply though identity was asked for."
            raise self._refused(Code.NOT_JSON, sentence, expected="identity", found=encoding[:40])
        declared = self._reply.header(b"content-length")
        length = int(declared) if declared is not None and declared.isdecimal() else None
        if length is not None and length > self._cap:
            raise self._too_large(f"{length} bytes declared")
        await self._read_body(response, length=length)

    async def _read_error(self, response: httpcore2.Response) -> None:
        chunks: list[bytes] = []
        with contextlib.suppress(TimeoutError, httpcore2.NetworkError, httpcore2.ProtocolError):
            async with asyncio.timeout(_ERROR_PATIENCE):
                async for chunk in response.stream:  # type: ignore[union-attr]  # an async connection's reply
                    chunks.append(chunk)
                    if sum(map(len, chunks)) >= _ERROR_BODY:
                        break
        self._reply.body = b"".join(chunks)

    async def _read_body(self, response: httpcore2.Response, *, length: int | None) -> None:
        chunks: list[bytes] = []
        size = 0
        async with contextlib.AsyncExitStack() as held:
            if length is not None and length > _FREE:
                await held.enter_async_context(self._exchanger.budget(length, deadline=self._deadline))
            async for chunk in response.stream:  # type: ignore[union-attr]  # an async connection's reply
                size += len(chunk)
                if size > self._cap:
                    raise self._too_large(f"more than {self._cap} bytes")
                if length is None and size - len(chunk) <= _FREE < size:
                    await held.enter_async_context(self._exchanger.budget(self._cap, deadline=self._deadline))
                chunks.append(chunk)
            self._reply.body = b"".join(chunks)

    def _measure(self, stream: Stream) -> None:
        done = self._exchanger.clock.monotonic()
        # An early reply may begin before the request was sent whole.
        sent_at = stream.started_at if stream.cut_short else stream.sent_at
        first = stream.first_byte_at
        before = self._reply.timing
        self._reply.timing = Timing(
            dns=before.dns,
            connect=before.connect,
            tls=before.tls,
            first_byte=None if first is None else max(0.0, first - sent_at),
            latency=max(0.0, done - sent_at),
        )

    def _refused(
        self, code: Code, sentence: str, *, expected: str | None = None, found: str | None = None
    ) -> ReplyRefused:
        again = retryable(code, operation=self._operation)
        return ReplyRefused(
            failure(
                code,
                sentence=sentence,
                retryable=again,
                status=self._reply.status,
                expected=expected,
                found=found,
            )
        )

    def _too_large(self, found: str) -> ReplyRefused:
        sentence = f"{self._route.target} sent {found}; a reply may hold {self._cap} bytes."
        return self._refused(
            Code.RESPONSE_TOO_LARGE, sentence, expected=f"at most {self._cap} bytes", found=found
        )

    def _unreadable(self, error: Exception, *, stream: Stream) -> EngineError:
        text = str(error)
        if isinstance(error, HeadTooLarge) or "buffer too long" in text:
            limit = self._exchanger.limits.reply_head
            sentence = f"{self._route.target} sent a reply head of more than {limit} bytes."
            return self._refused(Code.RESPONSE_TOO_LARGE, sentence, expected=f"at most {limit} bytes")
        if isinstance(error, httpcore2.LocalProtocolError):
            sentence = f"The request could not be written as HTTP: {text}."
            return EngineError(failure(Code.PLATFORM_ERROR, sentence=sentence, retryable=True, reached=False))
        if stream.received == 0:
            return self._lost("closed without a reply", stream=stream)
        if "without sending complete" in text or "without sending a response" in text:
            return self._lost("closed before the reply was complete", stream=stream)
        return self._lost(f"what arrived is not HTTP/1.1: {text[:120]}", stream=stream)

    def _lost(self, reason: str, *, stream: Stream) -> ReplyRefused:
        total = len(self._body or b"")
        sent = max(0, stream.sent)
        if stream.cut_short:
            sentence = f"{self._route.target}: reset after {sent} of {max(total, sent)} bytes ({reason})."
        else:
            sentence = (
                f"{self._route.target}: connection lost after {sent} bytes sent "
                f"and {stream.received} received ({reason})."
            )
        if total > self._exchanger.limits.large_request:
            sentence += " The body is large: look at size limits of the service and its proxies."
        return ReplyRefused(
            failure(Code.CONNECTION_LOST, sentence=sentence, retryable=True, reached=sent > 0)
        )
