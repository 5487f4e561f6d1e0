"""Connections to participants' services: resolve once, check every address, dial a checked one.

The name stays what TLS verifies and what ``Host`` says; only the dialling uses the address. Plain
non-blocking sockets, because a reply that arrived before a reset must still be readable: asyncio's
transports throw it away.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, NoReturn

from aml.lib.addresses import address_allowed
from aml.lib.clock import Clock, SystemClock
from evaluations.engine.errors import Code, ConnectionFailed, PlatformError, failure
from evaluations.engine.streams import Plain, Stream, Tls

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
Connector = Callable[[str, int], Awaitable[socket.socket]]

# All but the last of several addresses get this long, so that a dead IPv6 route leaves time for IPv4.
_ADDRESS_PATIENCE = 3.0
_OUR_FAULT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL})


async def resolve(host: str, port: int) -> Sequence[str]:
    """Addresses of ``host`` in the system's order; raises OSError."""
    with contextlib.suppress(ValueError):
        return [str(ip_address(host))]
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def connect(address: str, port: int) -> socket.socket:
    """A connected, non-blocking socket; raises OSError."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, (address, port))
    except BaseException:
        sock.close()
        raise
    return sock


@functools.cache
def shared_ssl_context() -> ssl.SSLContext:
    """One for the process: making one reads every root certificate and blocks the loop for some 40 ms."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(frozen=True, slots=True)
class Target:
    scheme: str
    host: str  # as TLS verifies it: ASCII, IPv6 without brackets
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Opened:
    """A new connection and how long its steps took; ``tls`` is None over plain http."""

    stream: Stream
    dns: float
    connect: float
    tls: float | None


class Network:
    """Opens checked connections; resolver and connector can be stubbed."""

    def __init__(
        self,
        *,
        resolver: Resolver = resolve,
        connector: Connector = connect,
        ssl_context: ssl.SSLContext | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._resolver = resolver
        self._connector = connector
        self._ssl_context = ssl_context
        self._clock = clock or SystemClock()

    async def open(self, target: Target, *, allow_private: bool, timeout: float) -> Opened:
        """Raises ConnectionFailed, naming host, port, limit and step (PlatformError: our own limits)."""
        step = _Step(target=target, limit=timeout)
        try:
            async with asyncio.timeout(timeout):
                return await self._open(target, allow_private=allow_private, step=step)
        except TimeoutError:
            step.timed_out()

    async def _open(self, target: Target, *, allow_private: bool, step: _Step) -> Opened:
        times = [self._clock.monotonic()]
        addresses = await self._checked(target, allow_private=allow_private, step=step)
        times.append(self._clock.monotonic())
        plain = Plain(await self._dial(addresses, target=target, step=step))
        times.append(self._clock.monotonic())
        tls: float | None = None
        stream = Stream(plain)
        if target.scheme == "https":
            stream = Stream(await self._wrap(plain, target=target, step=step))
            tls = self._clock.monotonic() - times[2]
        return Opened(stream=stream, dns=times[1] - times[0], connect=times[2] - times[1], tls=tls)

    async def _checked(self, target: Target, *, allow_private: bool, step: _Step) -> Sequence[str]:
        step.name = "resolving the name"
        try:
            addresses = await self._resolver(target.host, target.port)
        except (OSError, UnicodeError) as error:
            step.fail(Code.DNS_FAILURE, f"{target}: the name does not resolve ({_reason(error)}).")
        if not addresses:
            step.fail(Code.DNS_FAILURE, f"{target}: the name resolves to no address.")
        for address in addresses:
            # One bad address among good ones is enough: which is dialled would be a matter of luck.
            if not address_allowed(address, allow_private=allow_private):
                step.fail(Code.ADDRESS_BLOCKED, f"{target} resolves to {address}, which is not allowed.")
        return addresses

    async def _dial(self, addresses: Sequence[str], *, target: Target, step: _Step) -> socket.socket:
        *others, last = addresses
        for address in others:
            step.name = f"connecting to {address}"
            try:
                async with asyncio.timeout(_ADDRESS_PATIENCE):
                    return await self._connector(address, target.port)
            except OSError:  # TimeoutError among them
                continue
        step.name = f"connecting to {last}"
        try:
            return await self._connector(last, target.port)
        except OSError as error:
            step.refused(error, address=last)

    async def _wrap(self, plain: Plain, *, target: Target, step: _Step) -> Tls:
        step.name = "the TLS handshake"
        tls = Tls(plain, context=self._ssl_context or shared_ssl_context(), host=target.host)
        try:
            await tls.handshake()
        except (ssl.SSLError, OSError) as error:
            plain.close()
            step.fail(Code.TLS_FAILURE, f"{target}: the TLS handshake failed ({_reason(error)}).")
        except BaseException:
            plain.close()
            raise
        return tls


@dataclass(slots=True)
class _Step:
    """How far opening has come, for the sentence of a failure."""

    target: Target
    limit: float
    name: str = "resolving the name"

    def fail(self, code: Code, sentence: str) -> NoReturn:
        raise ConnectionFailed(failure(code, sentence=sentence, retryable=True, reached=False))

    def timed_out(self) -> NoReturn:
        resolving = self.name == "resolving the name"
        code = Code.DNS_FAILURE if resolving else Code.CONNECT_TIMEOUT
        self.fail(
            code, f"{self.target}: no connection within {self.limit:g} s; the step reached was {self.name}."
        )

    def refused(self, error: OSError, *, address: str) -> NoReturn:
        if error.errno in _OUR_FAULT:
            sentence = f"The platform could not open a connection ({_reason(error)})."
            raise PlatformError(
                failure(Code.PLATFORM_ERROR, sentence=sentence, retryable=True, reached=False)
            )
        where = f"{self.target} at {address}"
        if isinstance(error, TimeoutError) or error.errno == errno.ETIMEDOUT:
            self.fail(Code.CONNECT_TIMEOUT, f"{where}: connecting timed out.")
        self.fail(Code.CONNECT_REFUSED, f"{where}: no connection ({_reason(error)}).")


def _reason(error: Any) -> str:
    """The cause in a few words, without the library's own file and line."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return str(error.verify_message)
    if isinstance(error, ssl.SSLError) and error.reason:
        return str(error.reason).replace("_", " ").lower()
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text)
