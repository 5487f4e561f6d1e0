"""Connections of one service: a stack of idle ones, and a ramp for opening more.

Each carries one call at a time. A shared pool scans all its connections for every call; a stack does not.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

import httpcore2

from aml.lib.clock import Clock
from evaluations.engine.streams import Stream


@dataclass(slots=True)
class Slot:
    connection: httpcore2.AsyncHTTP11Connection
    stream: Stream
    idle_since: float = 0.0

    @property
    def usable(self) -> bool:
        """Open, and the peer has neither closed it nor sent anything unasked."""
        return self.connection.is_idle() and not self.stream.get_extra_info("is_readable")

    def close(self) -> None:
        self.stream.close()


class Slots:
    """The idle connections to one target."""

    def __init__(self, *, clock: Clock, ramp: float, idle_close: float) -> None:
        self._clock = clock
        self._ramp = ramp
        self._idle_close = idle_close
        self._idle: list[Slot] = []
        self._waiting: deque[asyncio.Future[Slot | None]] = deque()
        self._free_at = 0.0
        self._ticking = False
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    async def take(self) -> Slot | None:
        """An idle connection, or None: the caller may open one now. Waits for its turn in the ramp,
        or for a connection that another call gives back before."""
        slot = self._pop()
        now = self._clock.monotonic()
        if slot is not None:
            return slot
        if not self._waiting and now >= self._free_at:
            self._free_at = now + self._ramp
            return None
        return await self._wait(delay=max(0.0, self._free_at - now))

    def put(self, slot: Slot) -> None:
        """Gives back a connection, which is closed if it can't be used again."""
        if self._closed or not slot.connection.is_idle():
            slot.close()
            return
        slot.idle_since = self._clock.monotonic()
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(slot)
                return
        self._idle.append(slot)
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().call_later(self._idle_close, self._sweep)

    def close(self) -> None:
        self._closed = True
        for slot in self._idle:
            slot.close()
        self._idle.clear()
        if self._sweeping is not None:
            self._sweeping.cancel()

    def _pop(self) -> Slot | None:
        now = self._clock.monotonic()
        while self._idle:
            slot = self._idle.pop()
            if now - slot.idle_since < self._idle_close and slot.usable:
                return slot
            slot.close()
        return None

    async def _wait(self, *, delay: float) -> Slot | None:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Slot | None] = loop.create_future()
        self._waiting.append(waiter)
        if not self._ticking:
            self._ticking = True
            loop.call_later(delay, self._tick)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and (slot := waiter.result()) is not None:
                self.put(slot)
            raise

    def _tick(self) -> None:
        self._ticking = False
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                break
        self._free_at = self._clock.monotonic() + self._ramp
        if self._waiting:
            self._ticking = True
            asyncio.get_running_loop().call_later(self._ramp, self._tick)

    def _sweep(self) -> None:
        """The oldest lie at the bottom of the stack."""
        self._sweeping = None
        now = self._clock.monotonic()
        while self._idle and now - self._idle[0].idle_since >= self._idle_close:
            self._idle.pop(0).close()
        if self._idle:
            delay = max(0.05, self._idle_close - (now - self._idle[0].idle_since))
            self._sweeping = asyncio.get_running_loop().call_later(delay, self._sweep)


class ByteBudget:
    """Bytes of replies that one process holds at a time, given out in order of asking.

    A holder asks once and never while holding, so that nobody waits for himself. For one event loop.
    """

    def __init__(self, *, total: int) -> None:
        self._total = self._left = total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def take(self, size: int) -> int:
        """Waits until ``size`` bytes, at most all there are, are free; returns what to give back."""
        size = min(size, self._total)
        if not self._waiting and size <= self._left:
            self._left -= size
            return size
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give(size)
            raise
        return size

    def give(self, size: int) -> None:
        self._left += size
        while self._waiting:
            wanted, turn = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
                continue
            if wanted > self._left:
                return
            self._waiting.popleft()
            self._left -= wanted
            turn.set_result(None)
