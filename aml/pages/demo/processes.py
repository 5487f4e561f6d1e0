"""The demo's processes: the site, the driver beside it, and the reference service."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from django.conf import settings

START_SECONDS = 60.0
STOP_SECONDS = 45.0


class DemoFailed(Exception):
    """A step did not go through; the message says which and why."""


@dataclass(slots=True)
class Processes:
    """Children that end with this process; their output goes to files in the data directory."""

    logs: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, *command: str, **environment: str) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.logs / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                [sys.executable, *command], stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                cwd=settings.BASE_DIR, env={**os.environ, **environment},
            )  # fmt: skip

    def check(self) -> None:
        """Raises if a process has ended by itself."""
        for name, process in self.running.items():
            if process.poll() is not None:
                raise DemoFailed(
                    f"{name} stopped with status {process.returncode}: see {self.logs / f'{name}.log'}"
                )

    def stop(self) -> None:
        for process in self.running.values():
            process.terminate()
        ends = time.monotonic() + STOP_SECONDS
        for process in self.running.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.1, ends - time.monotonic()))
        for process in self.running.values():
            if process.poll() is None:
                process.kill()
                process.wait()


@contextlib.contextmanager
def processes() -> Iterator[Processes]:
    children = Processes(logs=settings.VAR_DIR / "logs")
    try:
        yield children
    finally:
        children.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def refuse_taken_port(port: int) -> None:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise DemoFailed(f"port {port} is taken; choose another one: make demo PORT={port + 1}") from error


def wait_for(url: str, children: Processes) -> None:
    """Until ``url`` answers 2xx."""
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends:
        children.check()
        with contextlib.suppress(httpx2.HTTPError):
            if httpx2.get(url, timeout=5, trust_env=False).is_success:
                return
        time.sleep(0.2)
    raise DemoFailed(f"{url} did not answer within {START_SECONDS:.0f} s: see {children.logs}")
