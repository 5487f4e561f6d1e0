"""A memory service that does nothing but wait: the other side of the engine's measurements.

``python -m bench.service PORT DELAY_MS`` answers Add and Search after the delay, over keep-alive HTTP/1.1.
"""

from __future__ import annotations

import asyncio
import sys

import orjson

FOUND = orjson.dumps({"data": [{"id": "m-1", "content": "The kettle is blue.", "score": 1.0}]})


class Service(asyncio.Protocol):
    delay = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("expected a stream")
        self._transport = transport
        self._buffer = bytearray()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head_end = self._buffer.find(b"\r\n\r\n")
        if head_end < 0:
            return
        head = bytes(self._buffer[:head_end]).lower()
        length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
        if len(self._buffer) < head_end + 4 + length:
            return
        body = bytes(self._buffer[head_end + 4 : head_end + 4 + length])
        del self._buffer[: head_end + 4 + length]
        asyncio.get_running_loop().call_later(self.delay, self._answer, body)

    def _answer(self, body: bytes) -> None:
        reply = _reply(orjson.loads(body))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(reply)
        if not self._transport.is_closing():
            self._transport.write(head + reply)


def _reply(request: dict[str, object]) -> bytes:
    if "query" in request:
        return FOUND
    return orjson.dumps(
        {"success": True, **{name: request[name] for name in ("request_id", "user_id", "session_id")}}
    )


async def _serve(port: int, delay: float) -> None:
    Service.delay = delay
    server = await asyncio.get_running_loop().create_server(Service, "127.0.0.1", port, backlog=512)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2]) / 1000))
