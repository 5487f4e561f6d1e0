"""Real processes of this checkout: Redis, worker, beat, embedded driver. Each in a session of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.db import connection

CHECKOUT = Path(__file__).resolve().parents[2]
BRISK_DRIVING = {"AML_RECONCILE_SECONDS": "1", "AML_CLAIM_SECONDS": "3", "AML_LOG_LEVEL": "INFO"}


def environment(var: Path, **more: str) -> dict[str, str]:
    """Of a child with its own data directory: no database and no broker unless ``more`` names them."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AML_", "OPENAI_"))}
    secrets = {
        "SECRET_KEY": settings.SECRET_KEY,
        "AML_KEY_PEPPER": settings.KEY_PEPPER,
        "AML_ENCRYPTION_KEYS": ",".join(settings.ENCRYPTION_KEYS),
        "AML_SIGNING_KEY": settings.SIGNING_KEY,
    }
    own = {"DATABASE_URL": "", "REDIS_URL": "", "AML_VAR_DIR": f"{var}", "PYTHONPATH": f"{CHECKOUT}"}
    return {**kept, **secrets, **BRISK_DRIVING, "DJANGO_SETTINGS_MODULE": "aml.settings", **own, **more}


def url_of_test_database() -> str:
    """Of the database that pytest-django made."""
    told = connection.settings_dict
    login = told["USER"] + (f":{told['PASSWORD']}" if told["PASSWORD"] else "")
    return f"postgres://{login}@{told['HOST']}:{told['PORT']}/{told['NAME']}"


class Process:
    """A child with its children: a signal goes to all of them, or to the parent alone."""

    def __init__(self, *command: str, env: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("ab") as output:
            self._child = subprocess.Popen(
                command, env=dict(env), cwd=CHECKOUT, stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip

    def signal_all(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, number)

    def kill(self) -> None:
        self.signal_all(signal.SIGKILL)
        self._child.wait(timeout=20)

    def terminate(self, *, seconds: float) -> float:
        """SIGTERM to the parent; how long it took to end."""
        begun = time.monotonic()
        self._child.terminate()
        self._child.wait(timeout=seconds)
        return time.monotonic() - begun

    @property
    def running(self) -> bool:
        return self._child.poll() is None


@contextmanager
def ending(*processes: Process) -> Iterator[None]:
    try:
        yield
    finally:
        for process in processes:
            process.signal_all(signal.SIGCONT)
            process.kill()


def worker(env: Mapping[str, str], log: Path, *, name: str = "one") -> Process:
    return Process(
        sys.executable, "-m", "celery", "-A", "aml", "worker", "--queues", "aml,smoke", "--concurrency", "2",
        "--loglevel", "INFO", "--hostname", f"{name}@%h", env=env, log=log,
    )  # fmt: skip


def beat(env: Mapping[str, str], folder: Path) -> Process:
    files = ["--schedule", f"{folder / 'schedule'}", "--pidfile", f"{folder / 'beat.pid'}"]
    return Process(
        sys.executable, "-m", "celery", "-A", "aml", "beat", *files, env=env, log=folder / "beat.log"
    )


def embedded_driver(env: Mapping[str, str], log: Path) -> Process:
    return Process(sys.executable, "manage.py", "drive", env=env, log=log)


def redis(folder: Path) -> tuple[Process, int]:
    """A server of the test's own, which may be flushed."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    assert program, "redis-server is missing"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    started = Process(
        program, "--port", f"{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
        "--dir", f"{folder}", env=os.environ, log=folder / "redis.log",
    )  # fmt: skip
    wait_for(lambda: _answers(port), seconds=20)
    return started, port


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def wait_for(condition: Callable[[], bool], *, seconds: float, tell: Path | None = None) -> None:
    """Fails the test, with the end of the log ``tell``, if the condition doesn't come true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            said = tell.read_text(errors="replace")[-4000:] if tell else ""
            raise AssertionError(f"not within {seconds} s\n{said}")
        time.sleep(0.05)
