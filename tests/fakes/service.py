"""A memory service over real HTTP that can misbehave in every way met in the field (contract.md, "Dialects").

In process: ``async with FakeService() as service`` or ``with threaded() as service``. As a program:
``python -m tests.fakes.service --port 9000 --behaviour ok``, switched while it runs:
``curl -d '{"behaviour": "closed", "seconds": 60}' http://127.0.0.1:9000/control``.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

from tests.fakes.call import Call, Head
from tests.fakes.faults import FAULTS


@dataclass(frozen=True, slots=True)
class Hit:
    """One request that arrived, whatever became of it."""

    time: float
    path: str
    request_id: str | None
    user_id: str | None
    body: bytes
    headers: dict[str, str]
    connection: int


@dataclass(slots=True)
class Setting:
    """How one operation behaves: a fault's name, its options, and for how many calls (None: always)."""

    behaviour: str = "ok"
    options: dict[str, Any] = field(default_factory=dict)
    times: int | None = None


class FakeService:
    """Add at ``/add``, Search at ``/search``, ``/health``, task status at ``/tasks/<id>``, ``/control``."""

    def __init__(
        self, *, port: int = 0, behaviour: str = "ok", key: str | None = None, **options: Any
    ) -> None:
        self.port = port
        self.key = key
        self.hits: list[Hit] = []
        self.memories: dict[str, list[dict[str, Any]]] = {}
        self.stored: dict[str, dict[str, Any]] = {}  # Adds by request_id
        self.tasks: dict[str, int] = {}  # polls so far
        self.in_flight = 0
        self.most_in_flight = 0
        self.connections = 0
        self._settings: dict[str, Setting] = {}
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._jobs: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.switch(behaviour, **options)

    # Driving it

    def switch(
        self, behaviour: str, *, operation: str | None = None, times: int | None = None, **options: Any
    ) -> None:
        """From the next call on; ``operation`` is "add", "search", "health", or None for all."""
        if behaviour not in FAULTS:
            raise ValueError(f"no behaviour {behaviour}; there are {', '.join(sorted(FAULTS))}")
        setting = Setting(behaviour=behaviour, options=options, times=times)
        for name in [operation] if operation else ["add", "search", "health"]:
            self._settings[name] = setting

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def add_url(self) -> str:
        return f"{self.base}/add"

    @property
    def search_url(self) -> str:
        return f"{self.base}/search"

    @property
    def status_url(self) -> str:
        return f"{self.base}/tasks/{{task_id}}"

    def paths(self) -> Counter[str]:
        return Counter(hit.path for hit in self.hits)

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", self.port, backlog=512, limit=1 << 20, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Closes the listener and resets every connection."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        for writer in list(self._writers):
            _reset(writer)
        await asyncio.sleep(0)

    def go_away(self, seconds: float) -> None:
        """``close_for`` from another thread; returns at once."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(lambda: self._job(self.close_for(seconds)))

    async def close_for(self, seconds: float) -> None:
        await self.stop()
        await asyncio.sleep(seconds)
        await self.start()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
        for job in list(self._jobs):
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)

    # Serving

    def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._job(self._connection(reader, writer, number=self.connections))

    def _job(self, coroutine: Any) -> None:
        job = asyncio.get_running_loop().create_task(coroutine)
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)

    async def _connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, number: int
    ) -> None:
        self._writers.add(writer)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                while await self._request(reader, writer, number=number):
                    pass
        finally:
            self._writers.discard(writer)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, number: int
    ) -> bool:
        """One request; whether the connection stays open."""
        head = Head.parse(await reader.readuntil(b"\r\n\r\n"))
        call = Call(service=self, head=head, reader=reader, writer=writer, number=number)
        if head is None:
            return await call.send(400, b"bad request line", close=True)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._route(call, head=head)
        finally:
            self.in_flight -= 1

    async def _route(self, call: Call, *, head: Head) -> bool:
        path = urlsplit(head.path).path
        if path == "/control":
            return await self._control(call, head=head)
        if path.startswith("/tasks/"):
            return await self._task(call, task=path.removeprefix("/tasks/"))
        setting = self._settings.get(path.strip("/"))
        if setting is None:
            return await call.send_json(404, {"detail": "not found"})
        if setting.times is not None:
            setting.times -= 1
            if setting.times < 0:
                setting = Setting()
        return await FAULTS[setting.behaviour](call, setting.options)

    async def _control(self, call: Call, *, head: Head) -> bool:
        body = json.loads(await call.body() or b"{}")
        if head.method == "POST" and body.get("behaviour") == "closed":
            self._job(self.close_for(float(body.get("seconds", 60))))
        elif head.method == "POST" and body:
            self.switch(body.pop("behaviour"), **body)
        hits = [[hit.time, hit.path, hit.request_id, hit.user_id] for hit in self.hits]
        return await call.send_json(200, {"hits": hits, "stored": len(self.stored)})

    async def _task(self, call: Call, *, task: str) -> bool:
        self.record(call, body=b"", value={})
        self.tasks[task] = self.tasks.get(task, 0) + 1
        options = self._settings["add"].options
        if self.tasks[task] <= options.get("polls", 1):
            return await call.send_json(200, {"status": "running"})
        return await call.send_json(200, options.get("final", {"status": "succeeded"}))

    def record(self, call: Call, *, body: bytes, value: Any) -> None:
        known = value if isinstance(value, dict) else {}
        head = call.head
        self.hits.append(
            Hit(
                time=time.time(),
                path=head.path if head else "",
                request_id=known.get("request_id"),
                user_id=known.get("user_id"),
                body=body,
                headers=head.headers if head else {},
                connection=call.number,
            )
        )

    # Behaving

    def answer(self, path: str, value: dict[str, Any]) -> dict[str, Any]:
        """What a good service answers."""
        if path == "/health":
            return {"status": "ok"}
        return self._add(value) if path == "/add" else self._search(value)

    def _add(self, value: dict[str, Any]) -> dict[str, Any]:
        if value["request_id"] not in self.stored:
            self.stored[value["request_id"]] = value
            self.memories.setdefault(value["user_id"], []).extend(value["messages"])
        return {"success": True, **{name: value[name] for name in ("request_id", "user_id", "session_id")}}

    def _search(self, value: dict[str, Any]) -> dict[str, Any]:
        words = set(str(value["query"]).lower().split())
        held = self.memories.get(value["user_id"], [])
        ranked = sorted(
            ((len(words & set(str(item["content"]).lower().split())), at) for at, item in enumerate(held)),
            key=lambda pair: (-pair[0], pair[1]),
        )
        items = [
            {"id": f"m-{at}", "content": held[at]["content"], "score": float(score)} for score, at in ranked
        ]
        return {"data": items[: value["top_k"]]}


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextlib.contextmanager
def threaded(**options: Any) -> Iterator[FakeService]:
    """The service on a loop in a thread of its own, for tests that block."""
    service = FakeService(**options)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(service.start(), loop).result(10)
    try:
        yield service
    finally:
        asyncio.run_coroutine_threadsafe(service.__aexit__(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _main() -> None:
    parser = argparse.ArgumentParser(description="A memory service that misbehaves as told.")
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--behaviour", default="ok", choices=sorted(FAULTS))
    parser.add_argument("--options", type=json.loads, default={}, help='JSON, e.g. {"seconds": 0.5}')
    parser.add_argument("--key", help="refuse other bearer keys with 401")
    chosen = parser.parse_args()
    async with FakeService(
        port=chosen.port, behaviour=chosen.behaviour, key=chosen.key, **chosen.options
    ) as service:
        print(f"listening on {service.base}", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main())
