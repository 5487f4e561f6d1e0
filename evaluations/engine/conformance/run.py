"""One conformance check: probes in order, within a budget, and the report."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from aml.lib.clock import Clock, SystemClock
from aml.lib.ids import new_secret
from evaluations.engine.client import HttpMemoryService
from evaluations.engine.conformance import observed
from evaluations.engine.conformance.catalog import FIRST, LAST, MIDDLE, SEVERITIES, Need, ProbeSpec
from evaluations.engine.conformance.findings import not_applicable, not_tested
from evaluations.engine.conformance.probe import Budget, Lab, Probe, Scope, Service
from evaluations.engine.conformance.report import CheckResult, Finding, Outcome, Report
from evaluations.engine.contract import AGENT_NAME, Limits
from evaluations.engine.errors import Code
from evaluations.engine.types import Endpoint, Exchange, Operation

SHOWN_EXCHANGES = 6
LARGEST_ADD = {"textual": 65_536, "coding": 1_048_576, "multimodal": 4_194_304}


@dataclass(frozen=True, slots=True)
class Progress:
    """``results`` are those that the step which just ended has brought."""

    done: int
    total: int
    results: tuple[CheckResult, ...]


OnProgress = Callable[[Progress], None]
Connect = Callable[[Endpoint], Service]


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What a cycle and a version add to a check; ``connect`` makes a client for an endpoint."""

    concurrency_add: int = 4  # as the version declares
    concurrency_search: int = 4
    old_dates: bool = False  # a pack of the cycle holds dates of 1970 and before
    budget: Budget = field(default_factory=Budget)
    clock: Clock = field(default_factory=SystemClock)
    agent: str = AGENT_NAME  # the whole User-Agent
    connect: Connect | None = None  # None: over HTTP


async def run_checks(
    *,
    endpoint: Endpoint,
    track: str = "textual",
    limits: Limits | None = None,
    namespace_secret: bytes | None = None,
    on_progress: OnProgress | None = None,
    largest_add_bytes: int | None = None,
    settings: CheckSettings | None = None,
) -> Report:
    """Run every check against ``endpoint``. Never raises for what the service does.

    ``largest_add_bytes`` is the cycle's largest planned Add. Each call is a namespace of its own unless
    ``namespace_secret`` is given.
    """
    settings = settings or CheckSettings()
    limits = limits or Limits.model_validate({})
    limits = limits.model_copy(update={"attempt_total": min(limits.attempt_total, settings.budget.attempt)})
    scope = Scope(
        endpoint=endpoint,
        track=track,
        limits=limits,
        secret=namespace_secret or new_secret(),
        budget=settings.budget,
        concurrency_add=settings.concurrency_add,
        concurrency_search=settings.concurrency_search,
        largest_add_bytes=largest_add_bytes or LARGEST_ADD[track],
        old_dates=settings.old_dates,
    )
    connect = settings.connect or _http(track, limits, settings)
    lab = Lab(scope, connect(endpoint), connect, settings.clock, random.SystemRandom())
    try:
        return await _Check(lab, on_progress or _silent).report()
    finally:
        await lab.service.aclose()


def _http(track: str, limits: Limits, settings: CheckSettings) -> Connect:
    return lambda endpoint: HttpMemoryService(
        endpoint, track=track, limits=limits, clock=settings.clock, agent=settings.agent
    )


def _silent(_: Progress) -> None:
    return None


class _Check:
    def __init__(self, lab: Lab, on_progress: OnProgress) -> None:
        self._lab = lab
        self._on_progress = on_progress
        self._results: dict[str, CheckResult] = {}
        self._complete = True
        self._started_at, self._began = lab.clock.now(), lab.clock.monotonic()

    async def report(self) -> Report:
        try:
            async with asyncio.timeout(self._lab.scope.budget.total):
                await self._run_all()
        except TimeoutError:
            self._complete = False
            self._skip_rest(self._out_of_time())
        self._observe()
        return Report(
            endpoint=self._lab.scope.endpoint,
            track=self._lab.scope.track,
            started_at=self._started_at,
            seconds=self._lab.clock.monotonic() - self._began,
            complete=self._complete,
            results=tuple(self._results[name] for name in SEVERITIES),
        )

    async def _run_all(self) -> None:
        for spec in FIRST:
            await self._run_if(spec, frozenset())
        met = self._met()
        side_by_side = asyncio.Semaphore(self._lab.scope.budget.parallel)

        async def run(spec: ProbeSpec) -> None:
            async with side_by_side:
                await self._run_if(spec, met)

        async with asyncio.TaskGroup() as group:
            for spec in MIDDLE:
                group.create_task(run(spec))
        for spec in LAST:
            await self._run_if(spec, met)

    def _met(self) -> frozenset[Need]:
        """What read_your_write has shown to work."""
        exchanges = self._lab.exchanges
        met = set()
        if any(_landed(exchange, Operation.ADD) for exchange in exchanges):
            met.add(Need.ADD)
        if any(e.operation is Operation.SEARCH and e.failure is None for e in exchanges):
            met.add(Need.SEARCH)
        if self._results["read_your_write"].outcome in (Outcome.PASS, Outcome.WARNING):
            met.add(Need.MEMORY)
        return frozenset(met)

    async def _run_if(self, spec: ProbeSpec, met: frozenset[Need]) -> None:
        if reason := spec.spared(self._lab.scope):
            self._settle(dict.fromkeys(spec.names, not_applicable(reason)), ())
        elif missing := spec.needs - met:
            self._settle(dict.fromkeys(spec.names, not_tested(_MISSING[min(missing)])), ())
        else:
            await self._run(spec)

    async def _run(self, spec: ProbeSpec) -> None:
        probe = Probe(self._lab, spec.names[0])
        try:
            findings = await spec.run(probe)
        except Exception as error:  # a fault of ours must cost one check, not the report
            self._complete = False
            sentence = f"The check itself failed ({type(error).__name__}); this is not the service's fault."
            broken = Finding(Outcome.NOT_TESTED, sentence, codes=(str(Code.PLATFORM_ERROR),))
            findings = dict.fromkeys(spec.names, broken)
        self._settle(findings, probe.exchanges)

    def _settle(self, findings: dict[str, Finding], exchanges: Iterable[Exchange]) -> None:
        results = tuple(_result(name, finding, exchanges) for name, finding in findings.items())
        self._results.update({result.name: result for result in results})
        self._on_progress(Progress(len(self._results), len(SEVERITIES), results))

    def _skip_rest(self, sentence: str) -> None:
        for spec in (*FIRST, *MIDDLE, *LAST):
            open_names = [name for name in spec.names if name not in self._results]
            if open_names:
                self._settle(dict.fromkeys(open_names, not_tested(sentence)), ())

    def _out_of_time(self) -> str:
        budget = self._lab.scope.budget.total
        values = observed.latencies(self._lab.exchanges)
        pace = f" The median call took {observed.percentile(values, 0.5):.1f} s." if values else ""
        return f"The time of a check ({budget:.0f} s) was over.{pace}"

    def _observe(self) -> None:
        found = observed.observe(self._lab.exchanges, authenticated=self._lab.scope.authenticated)
        for name, seen in found.items():
            self._settle({name: seen.finding}, seen.exchanges)


_MISSING = {
    Need.ADD: "No Add was answered with 200.",
    Need.MEMORY: "read_your_write found nothing, so this would show nothing.",
    Need.SEARCH: "No Search reply could be read.",
}


def _landed(exchange: Exchange, operation: Operation) -> bool:
    return exchange.operation is operation and (exchange.failure is None or exchange.status == 200)


def _result(name: str, finding: Finding, exchanges: Iterable[Exchange]) -> CheckResult:
    every = list(exchanges)
    failed_first = sorted(every, key=lambda exchange: exchange.failure is None)
    met = [str(exchange.failure.code) for exchange in every if exchange.failure]
    return CheckResult(
        name=name,
        severity=SEVERITIES[name],
        outcome=finding.outcome,
        sentence=finding.sentence,
        expected=finding.expected,
        advice=finding.advice,
        exchanges=tuple(failed_first[:SHOWN_EXCHANGES]),
        codes=finding.codes or tuple(dict.fromkeys(met)),
    )
