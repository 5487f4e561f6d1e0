"""``manage.py bench engine``: the driver with its ledger against a service that only waits.

For each delay: calls per second, CPU per call of this process, peak memory, the ratio to the limit
max(Σ latency ÷ in flight, longest lane), and to a bare ``httpx2`` loop in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import django

CONCURRENCY = 64


@dataclass(frozen=True, slots=True)
class Load:
    """``lanes`` of ``adds`` Adds each, ``asks`` in all, ``body`` bytes an Add."""

    lanes: int
    adds: int
    asks: int
    body: int

    @property
    def calls(self) -> int:
        return self.lanes * self.adds + self.asks

    def limit(self, delay: float, *, in_flight: int = CONCURRENCY) -> float:
        """Seconds that no driver can beat: the places are full, or the longest lane runs."""
        longest = self.adds + 1  # a lane's asks go side by side
        return max(self.calls * delay / in_flight, longest * delay)


@dataclass(frozen=True, slots=True)
class Figures:
    wall: float
    cpu: float


def main() -> None:
    options = _parser().parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aml.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    load = Load(lanes=options.lanes, adds=options.adds // options.lanes, asks=options.asks, body=options.body)
    _print_head(load)
    for delay_ms in options.delays:
        _measure(load, delay_ms=delay_ms)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench engine", description=__doc__)
    parser.add_argument("--adds", type=int, default=2000)
    parser.add_argument("--asks", type=int, default=500)
    parser.add_argument("--lanes", type=int, default=250)
    parser.add_argument("--body", type=int, default=16_000, help="bytes of text in an Add")
    parser.add_argument("--delays", type=int, nargs="+", default=[0, 50, 200, 500], help="milliseconds")
    return parser


def _print_head(load: Load) -> None:
    from django.db import connection

    print(f"{load.lanes * load.adds} Adds of {load.body} bytes in {load.lanes} lanes, {load.asks} Searches, "
          f"{CONCURRENCY} in flight, ledger on {connection.vendor}")  # fmt: skip
    print(f"{'delay':>7} {'calls/s':>9} {'CPU/call':>9} {'peak':>8} {'limit/wall':>11} {'wall/bare':>10} "
          f"{'bare calls/s':>13} {'bare CPU/call':>14}")  # fmt: skip


def _measure(load: Load, *, delay_ms: int) -> None:
    port = 18_000 + delay_ms
    service = subprocess.Popen(
        [sys.executable, "-m", "bench.service", str(port), str(delay_ms)], stdout=subprocess.PIPE
    )
    try:
        if service.stdout:
            service.stdout.readline()
        ours = _ours(load, port=port, name=f"bench-{delay_ms}")
        bare = asyncio.run(_bare(load, port=port))
    finally:
        service.kill()
        service.wait()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    reached = load.limit(delay_ms / 1000) / ours.wall
    print(f"{delay_ms:>4} ms {load.calls / ours.wall:>9.0f} {ours.cpu / load.calls * 1000:>6.2f} ms {peak:>5} MB "
          f"{reached:>11.3f} {ours.wall / bare.wall:>10.2f} {load.calls / bare.wall:>13.0f} "
          f"{bare.cpu / load.calls * 1000:>11.2f} ms", flush=True)  # fmt: skip


def _ours(load: Load, *, port: int, name: str) -> Figures:
    """From the first call sent to the last reply, by the ledger's own rows; CPU of the whole process meanwhile."""
    from bench.packs import write
    from bench.rows import make_run
    from benchmarks.services import import_pack
    from evaluations.models import Attempt

    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "pack", lanes=[load.adds] * load.lanes, asks=load.asks, body=load.body)
        release = import_pack(Path(folder) / "pack", validate=False)
    run = make_run(release, port=port, name=name, concurrency=CONCURRENCY)
    before = time.process_time()
    asyncio.run(_drive(run.pk))
    cpu = time.process_time() - before
    calls = Attempt.objects.filter(run=run, kind__in=["add", "search"], ok=True).order_by()
    if calls.count() != load.calls:
        raise SystemExit(f"{calls.count()} of {load.calls} calls are recorded: the measurement is void")
    first, last = calls.order_by("started_at")[0].started_at, calls.order_by("-finished_at")[0].finished_at
    if last is None:
        raise SystemExit("a call has no end")
    return Figures(wall=(last - first).total_seconds(), cpu=cpu)


async def _drive(run_id: int) -> None:
    from asgiref.sync import sync_to_async

    from evaluations.models import Unit
    from evaluations.runner.driver import Driver

    def open_calls() -> bool:
        return Unit.objects.filter(run=run_id, kind__in=["add", "search"]).exclude(status="done").exists()

    driver = Driver()
    driving = asyncio.create_task(driver.run())
    while await sync_to_async(open_calls)():
        await asyncio.sleep(0.2)
    driver.stop()
    await driving


async def _bare(load: Load, *, port: int) -> Figures:
    """The same number of calls and bytes, one ``httpx2`` client a place, no ledger, no checks."""
    import httpx2
    import orjson

    text = "x" * load.body
    add = orjson.dumps({"request_id": "r", "user_id": "u", "session_id": "s",
                        "messages": [{"role": "user", "content": text}]})  # fmt: skip
    search = orjson.dumps({"query": "q", "user_id": "u", "top_k": 100})
    work = iter([add] * (load.calls - load.asks) + [search] * load.asks)
    head = {"Content-Type": "application/json"}

    async def place() -> None:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
            for body in work:
                reply = await client.post(f"http://127.0.0.1:{port}/", content=body, headers=head)
                orjson.loads(reply.content)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(place() for _ in range(CONCURRENCY)))
    return Figures(wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)


if __name__ == "__main__":
    main()
