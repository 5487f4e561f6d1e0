"""Byte streams below HTTP: a socket, TLS over it, and the metered stream that httpcore2 drives."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import select
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import httpcore2

_TLS_CHUNK = 16 * 1024
_JOINED = 64 * 1024
T = TypeVar("T")

_QUICKACK: int | None = getattr(socket, "TCP_QUICKACK", None)


class ReplyBeforeRequest(OSError):
    """The peer answers and takes no more of the request."""


class HeadTooLarge(Exception):
    """More came before the end of the reply's head than is allowed, informational replies included."""


class Bytes(Protocol):
    sent: int

    async def recv(self, size: int) -> bytes: ...

    async def send(self, data: bytes | memoryview) -> None: ...

    def close(self) -> None: ...

    def readable(self) -> bool: ...


class Plain:
    """A connected non-blocking socket. Raises OSError."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self.sent = 0

    async def recv(self, size: int) -> bytes:
        data = await self._loop.sock_recv(self._sock, size)
        if _QUICKACK is not None:
            # Linux falls back to delayed acknowledgements by itself; a delayed one adds 40 ms to a
            # service that sends head and body apart, and the board prints these figures.
            self._sock.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)
        return data

    async def send(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        while view:
            try:
                count = self._sock.send(view)
            except BlockingIOError:
                await self._wait_writable()
                continue
            self.sent += count
            view = view[count:]

    async def _wait_writable(self) -> None:
        """Until the peer takes more; raises ReplyBeforeRequest if it answers instead."""
        ready: asyncio.Future[bool] = self._loop.create_future()

        def settle(writable: bool) -> None:
            if not ready.done():
                ready.set_result(writable)

        self._loop.add_writer(self._sock, settle, True)
        self._loop.add_reader(self._sock, settle, False)
        try:
            if not await ready:
                raise ReplyBeforeRequest("reply before the whole request was taken")
        finally:
            self._loop.remove_writer(self._sock)
            self._loop.remove_reader(self._sock)

    def close(self) -> None:
        if self._sock.fileno() >= 0 and not self._loop.is_closed():
            self._loop.remove_reader(self._sock)
            self._loop.remove_writer(self._sock)
        self._sock.close()

    def readable(self) -> bool:
        """Also when the peer has closed."""
        if self._sock.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        return bool(poll.poll(0))


class Tls:
    """TLS over ``Plain``. Raises OSError, of which ssl.SSLError is one."""

    def __init__(self, plain: Plain, *, context: ssl.SSLContext, host: str) -> None:
        self._plain = plain
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self._early = b""
        self.sent = 0

    async def handshake(self) -> None:
        try:
            await self._drive(self._object.do_handshake)
        except ssl.SSLError:
            with contextlib.suppress(OSError):
                await self._flush()  # the alert that tells the peer why
            raise

    async def recv(self, size: int) -> bytes:
        if self._early:
            data, self._early = self._early[:size], self._early[size:]
            return data
        try:
            return await self._drive(lambda: self._object.read(size))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""

    async def send(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        while view:
            count = await self._drive(functools.partial(self._object.write, view[:_TLS_CHUNK]))
            self.sent += count
            view = view[count:]

    async def _drive(self, step: Callable[[], T]) -> T:
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                await self._flush()
                self._feed(await self._plain.recv(_JOINED))
                continue
            await self._flush()
            return result

    async def _flush(self) -> None:
        data = self._outgoing.read()
        while data:
            before = self._plain.sent
            try:
                await self._plain.send(data)
                return
            except ReplyBeforeRequest:
                data = data[self._plain.sent - before :]
                if await self._answered():
                    raise

    async def _answered(self) -> bool:
        """Whether what arrived is a reply; session tickets, which come unasked, are none."""
        data = await self._plain.recv(_JOINED)
        self._feed(data)
        with contextlib.suppress(ssl.SSLWantReadError):
            self._early += self._object.read(_JOINED)
            return True
        return not data

    def _feed(self, data: bytes) -> None:
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()

    def close(self) -> None:
        self._plain.close()

    def readable(self) -> bool:
        return self._plain.readable()


class Stream(httpcore2.AsyncNetworkStream):
    """What httpcore2's connection reads and writes; measures the exchange under way.

    Its time-outs are not used: one deadline spans the whole attempt.
    """

    def __init__(self, wire: Bytes) -> None:
        self._wire = wire
        self._held = b""
        self._clock: Callable[[], float] = time.perf_counter
        self.head_left: int | None = None
        self.started_at = self.sent_at = 0.0
        self.first_byte_at: float | None = None
        self.received = 0
        self._sent_before = 0
        self.cut_short = False

    def begin(self, *, clock: Callable[[], float], head_limit: int) -> None:
        """A new exchange: counters to zero. ``head_left`` is set to None once the head is complete."""
        self._clock = clock
        self._held = b""
        self.head_left = head_limit
        self.started_at = self.sent_at = clock()
        self.first_byte_at = None
        self.received = 0
        self._sent_before = self._wire.sent
        self.cut_short = False

    @property
    def sent(self) -> int:
        """Bytes of the request taken by the network."""
        return self._wire.sent - self._sent_before

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            data = await self._wire.recv(max_bytes)
        except OSError as error:
            raise httpcore2.ReadError(error.strerror or str(error)) from error
        if self.first_byte_at is None and data:
            self.first_byte_at = self._clock()
        self.received += len(data)
        if self.head_left is not None and self.received > self.head_left:
            raise HeadTooLarge
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # Head and body in one segment: the head waits for the next write, which always comes.
        if not self._held and self.sent == 0 and buffer:
            self._held = buffer
            return
        held, self._held = self._held, b""
        pieces = [held + buffer] if len(buffer) <= _JOINED else [held, buffer]
        try:
            for piece in pieces:
                await self._wire.send(piece)
        except OSError as error:
            self.cut_short = True
            raise httpcore2.WriteError(error.strerror or str(error)) from error
        self.sent_at = self._clock()

    async def aclose(self) -> None:
        self._wire.close()

    def close(self) -> None:
        self._wire.close()

    def get_extra_info(self, info: str) -> Any:
        return self._wire.readable() if info == "is_readable" else None
