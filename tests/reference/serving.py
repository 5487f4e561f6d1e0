"""The reference service on a free port, in a thread of the test's process."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from evaluations.reference.app import build_server

KEY = "sesame-open-81"


@contextlib.contextmanager
def running(*, path: Path | None = None, key: str | None = None, faults: Iterable[str] = ()) -> Iterator[str]:
    """Yields the base URL; the server has stopped when the block ends."""
    server = build_server(0, path=path, key=key, faults=faults)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
