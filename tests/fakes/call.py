"""One request to the fake service, and raw ways of answering it."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fakes.service import FakeService


@dataclass(frozen=True, slots=True)
class Head:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case

    @classmethod
    def parse(cls, data: bytes) -> Head | None:
        """None for what is no HTTP, such as a body that nobody read before."""
        first, *lines = data.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return None
        pairs = (line.split(":", 1) for line in lines if ":" in line)
        return cls(words[0], words[1], {name.strip().lower(): value.strip() for name, value in pairs})


@dataclass(slots=True)
class Call:
    service: FakeService
    head: Head | None
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int  # of the connection

    async def body(self) -> bytes:
        length = int(self.head.headers.get("content-length", "0")) if self.head else 0
        return await self.reader.readexactly(length)

    async def value(self) -> dict[str, Any]:
        """The request's JSON; recorded as a hit."""
        body = await self.body()
        value = json.loads(body) if body else {}
        self.service.record(self, body=body, value=value)
        return value if isinstance(value, dict) else {}

    async def good(self) -> dict[str, Any]:
        """What a good service answers to this request."""
        path = self.head.path if self.head else ""
        return self.service.answer(path, await self.value())

    @property
    def authorised(self) -> bool:
        if self.service.key is None or self.head is None or self.head.path == "/health":
            return True
        return self.head.headers.get("authorization") == f"Bearer {self.service.key}"

    async def send_json(self, status: int, value: Any, **options: Any) -> bool:
        return await self.send(status, json.dumps(value).encode(), **options)

    async def send(
        self, status: int, body: bytes, *, headers: dict[str, str] | None = None, close: bool = False
    ) -> bool:
        """A whole reply with Content-Length; whether the connection stays open."""
        extra = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            **(headers or {}),
            **({"Connection": "close"} if close else {}),
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in extra.items())
        await self.raw(f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode() + body)
        return not close

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> bool:
        """Ends the connection with RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        return False
