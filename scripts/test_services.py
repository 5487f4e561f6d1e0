"""PostgreSQL, Redis and a browser for the tests.

    python scripts/test_services.py run -- COMMAND…    start both, run the command, stop exactly those
    python scripts/test_services.py start|stop|kill|restart postgres|redis

``run`` starts throwaway servers of its own on free ports, in a directory under the temporary one, and never
touches those of the machine. The command sees ``DATABASE_URL``, ``REDIS_URL``, ``AML_TEST_CHROMIUM`` (a path)
and ``AML_TEST_SERVICES`` (the directory); with the last one set, a test stops and starts the servers through
the second form. Servers named in ``AML_TEST_DATABASE_URL`` or ``AML_TEST_REDIS_URL`` are used as they are.

Missing programs are installed where this runs as root on a Debian or Ubuntu; elsewhere one line says which
packages to install, and the exit code is 2. Only the standard library, so it also runs outside ``.venv``.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

PREFIX = "aml-test-"
STATE = "state.json"
DATABASE = "aml"
START_SECONDS = 60  # and to stop
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REDIS = ("redis-server", "valkey-server")
# Variables of the caller that would change what the tests see.
STRAY_PREFIXES = ("AML_", "OPENAI_", "DJANGO_", "PG")
STRAY_NAMES = frozenset({"SECRET_KEY", "SECRET_KEY_FILE", "DATABASE_URL_FILE", "REDIS_URL_FILE"})
KEPT_PREFIXES = ("AML_TEST_", "AML_SHARED_")


class ServiceError(Exception):
    """A server could not be found, started or stopped; the message is for the terminal."""


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: unlike Ctrl-C, the child has not had it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Who the servers run as: PostgreSQL refuses root."""

    name: str
    uid: int
    gid: int

    @classmethod
    def current(cls) -> Account:
        if os.geteuid() != 0:
            entry = pwd.getpwuid(os.geteuid())
        else:
            names = {entry.pw_name: entry for entry in pwd.getpwall()}
            entry = names.get("postgres") or names["nobody"]
        return cls(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)

    def popen_options(self) -> dict[str, Any]:
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if os.geteuid() == 0 else {}


class Postgres:
    """A PostgreSQL in ``root``; trusts whoever connects to its port on the loopback address."""

    def __init__(self, *, root: Path, port: int, account: Account, programs: Path) -> None:
        self.data, self.log, self.root = root / "data", root / "log", root
        self.port, self.account, self.programs = port, account, programs

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/{DATABASE}"

    def create(self) -> None:
        self._run("initdb", "--pgdata", self.data, "--username=postgres", "--auth=trust", "--no-sync",
                  "--encoding=UTF8", "--locale=C.UTF-8")  # fmt: skip
        self.start()
        self._run("createdb", "--host=127.0.0.1", f"--port={self.port}", "--username=postgres", DATABASE)

    def start(self) -> None:
        # No fsync, since the machine is not going to crash. But commits still wait for the write: a killed
        # server must lose nothing it has confirmed.
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.root} "
            "-c fsync=off -c full_page_writes=off -c max_connections=200 -c timezone=UTC"
        )
        self._ctl("start", "--log", self.log, "--options", options)

    def stop(self) -> None:
        self._ctl("stop", "--mode=fast")

    def kill(self) -> None:
        """As a crash: connections break at once, and the next start recovers from the log."""
        self._ctl("stop", "--mode=immediate")

    def is_running(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    def _ctl(self, action: str, *arguments: str | Path) -> None:
        self._run("pg_ctl", action, "--pgdata", self.data, "--wait", f"--timeout={START_SECONDS}", *arguments)

    def _run(self, program: str, *arguments: str | Path) -> None:
        run_quietly([self.programs / program, *arguments], root=self.root, account=self.account)


class Redis:
    """A Redis in ``root`` that keeps nothing on disk, stopped over its own socket and never by process id."""

    def __init__(self, *, root: Path, port: int, account: Account, program: Path) -> None:
        self.socket, self.root = root / "socket", root
        self.port, self.account, self.program = port, account, program

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = {
            "bind": "127.0.0.1", "port": f"{self.port}", "unixsocket": f"{self.socket}", "save": "",
            "appendonly": "no", "daemonize": "yes", "dir": f"{self.root}", "logfile": f"{self.root / 'log'}",
        }  # fmt: skip
        arguments = [text for name, value in options.items() for text in (f"--{name}", value)]
        run_quietly([self.program, *arguments], root=self.root, account=self.account)
        if not wait_until(self.is_running):
            raise ServiceError(f"Redis did not start; see {self.root / 'log'}")

    def stop(self) -> None:
        with suppress(OSError):
            self._ask(b"SHUTDOWN NOSAVE\r\n")
        if not wait_until(lambda: not self.is_running()):
            raise ServiceError("Redis did not stop")

    create, kill = start, stop

    def is_running(self) -> bool:
        with suppress(OSError):
            return self._ask(b"PING\r\n").startswith(b"+PONG")
        return False

    def _ask(self, command: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(5)
            connection.connect(f"{self.socket}")
            connection.sendall(command)
            return connection.recv(64)


Service = Postgres | Redis


def run(command: Sequence[str]) -> int:
    """Run ``command`` with servers around it; its exit code."""
    install_missing()
    sweep()
    with terminated_politely(), servers() as found:
        child = subprocess.Popen(command, env={**clean_environment(os.environ), **found})
        return wait_for(child)


@contextmanager
def servers() -> Iterator[dict[str, str]]:
    """Variables for the tests while the servers run."""
    root = Path(tempfile.mkdtemp(prefix=PREFIX))
    root.chmod(0o755)  # the servers' account must get through
    state = {"pid": os.getpid(), "postgres": free_port(), "redis": free_port()}
    (root / STATE).write_text(json.dumps(state))
    started: list[Service] = []
    try:
        found = {"AML_TEST_CHROMIUM": f"{program(CHROMIUM)}", "AML_TEST_SERVICES": f"{root}"}
        for name, variable in (("postgres", "DATABASE_URL"), ("redis", "REDIS_URL")):
            found[variable] = os.environ.get(f"AML_TEST_{variable}") or started_url(root, name, started)
        yield found
    finally:
        stop_all(started)
        shutil.rmtree(root, ignore_errors=True)


def started_url(root: Path, name: str, started: list[Service]) -> str:
    service = load(root, name)
    service.root.mkdir()
    service.root.chmod(0o700)
    os.chown(service.root, service.account.uid, service.account.gid)
    started.append(service)
    service.create()
    return service.url


def load(root: Path, name: str) -> Service:
    """The server ``name`` of a directory that ``servers`` made, running or not."""
    state = json.loads((root / STATE).read_text())
    account = Account.current()
    if name == "postgres":
        return Postgres(root=root / name, port=state[name], account=account, programs=postgres_programs())
    if name == "redis":
        return Redis(root=root / name, port=state[name], account=account, program=program(REDIS))
    raise ServiceError(f"No such server: {name!r}; there are postgres and redis")


def stop_all(services: Sequence[Service]) -> None:
    """A test may have stopped one already."""
    for service in services:
        if service.is_running():
            try:
                service.stop()
            except ServiceError as error:
                print(error, file=sys.stderr)


def sweep() -> None:
    """Stop what a run that was killed has left, found by its directory."""
    for root in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError, ValueError, KeyError, ServiceError):
            if root.is_symlink() or root.stat().st_uid != os.geteuid():
                continue
            if Path("/proc", f"{json.loads((root / STATE).read_text())['pid']}").exists():
                continue
            stop_all([load(root, name) for name in ("postgres", "redis") if (root / name).exists()])
            shutil.rmtree(root, ignore_errors=True)


def clean_environment(source: Mapping[str, str]) -> dict[str, str]:
    """The caller's variables without those that settings or models would react to."""
    return {
        name: value
        for name, value in source.items()
        if name.startswith(KEPT_PREFIXES) or not (name in STRAY_NAMES or name.startswith(STRAY_PREFIXES))
    }


@contextmanager
def terminated_politely() -> Iterator[None]:
    """SIGTERM and SIGHUP end the run through its clean-up, as Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Terminated

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait_for(child: subprocess.Popen[bytes]) -> int:
    try:
        return child.wait()
    except KeyboardInterrupt as interrupt:
        if isinstance(interrupt, Terminated):
            child.send_signal(signal.SIGINT)
        with suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
            child.wait(timeout=20)
        child.kill()  # nothing where it has ended
        child.wait()
        return 130


def install_missing() -> None:
    """Nothing if every program is there. Raises ``ServiceError`` naming the packages otherwise."""
    packages = missing_packages()
    if not packages:
        return
    apt = shutil.which("apt-get")
    if os.geteuid() != 0 or apt is None:
        raise ServiceError(
            f"The tests need more programs. Install them: apt-get install {' '.join(packages)}"
        )
    print(f"Installing {' '.join(packages)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", *packages]):
        subprocess.run([apt, *arguments], env=environment, stdin=subprocess.DEVNULL, check=True)
    if left := missing_packages():
        raise ServiceError(f"Installed, but still missing: {' '.join(left)}")


def missing_packages() -> list[str]:
    wanted: dict[str, Callable[[], Path]] = {"chromium": lambda: program(CHROMIUM)}
    if not os.environ.get("AML_TEST_DATABASE_URL"):
        wanted["postgresql"] = postgres_programs
    if not os.environ.get("AML_TEST_REDIS_URL"):
        wanted["redis-server"] = lambda: program(REDIS)
    packages = [package for package, find in wanted.items() if not has(find)]
    # Pages in Chinese are measured in the browser; without a font each glyph is an empty box.
    return [*packages, "fonts-noto-cjk"] if "chromium" in packages else packages


def postgres_programs() -> Path:
    """The newest directory with ``initdb`` in it: Debian's, else what ``pg_config`` or PATH name."""
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    candidates = sorted(debian, key=lambda path: [int(n) for n in path.parent.name.split(".")], reverse=True)
    if config := shutil.which("pg_config"):
        answer = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=True)
        candidates.append(Path(answer.stdout.strip()))
    if initdb := shutil.which("initdb"):
        candidates.append(Path(initdb).resolve().parent)
    for path in candidates:
        if all((path / name).exists() for name in ("initdb", "pg_ctl", "createdb")):
            return path
    raise ServiceError("PostgreSQL's programs (initdb, pg_ctl, createdb) are missing")


def program(names: Sequence[str]) -> Path:
    for name in names:
        if path := shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/bin:/usr/sbin:/usr/local/bin"):
            return Path(path)
    raise ServiceError(f"{names[0]} is missing")


def run_quietly(command: Sequence[str | Path], *, root: Path, account: Account) -> None:
    """Run as ``account``; raises ``ServiceError`` with the output when it fails."""
    # Into a file: a server keeps its parent's pipe open, and reading to its end would wait for ever.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            [f"{part}" for part in command],
            cwd=root,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            check=False,
            **account.popen_options(),
        )
        output.seek(0)
        text = output.read().decode(errors="replace").strip()
    if done.returncode:
        log = root / "log"
        tail = log.read_text(errors="replace")[-2000:] if log.exists() else ""
        raise ServiceError(f"{Path(command[0]).name} failed ({done.returncode}):\n{text}\n{tail}".rstrip())


def has(find: Callable[[], Path]) -> bool:
    with suppress(ServiceError):
        return bool(find())
    return False


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def control(action: str, name: str) -> int:
    """``start``, ``stop``, ``kill`` or ``restart`` one server of ``AML_TEST_SERVICES``."""
    root = os.environ.get("AML_TEST_SERVICES")
    if not root:
        raise ServiceError("AML_TEST_SERVICES is not set: there are no servers of ours to control")
    service = load(Path(root), name)
    if action in {"stop", "restart"}:
        service.stop()
    if action in {"start", "restart"}:
        service.start()
    if action == "kill":
        service.kill()
    return 0


def main(arguments: Sequence[str]) -> int:
    try:
        match arguments:
            case ["run", "--", *command] if command:
                return run(command)
            case ["start" | "stop" | "kill" | "restart" as action, name]:
                return control(action, name)
    except ServiceError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
