"""A whole evaluation on one machine: from a pack and a service to signed bundles in a folder."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aml.lib.clock import Clock, SystemClock
from benchmarks.packs.files import Pack
from benchmarks.scorers import SCORERS
from benchmarks.types import Question, Sample
from evaluations.engine.aggregate import aggregate_clusters
from evaluations.engine.bundle import BundleItem, StatementData, cells, write_bundle
from evaluations.engine.folder import BUNDLE, PUBLIC_BUNDLE, RunIdentity, claim_folder, locked, new_identity
from evaluations.engine.journal import Journal, read_journal
from evaluations.engine.ledger import Ledger
from evaluations.engine.models import build_model
from evaluations.engine.outcome import Outcome, count_asks, outcome
from evaluations.engine.protocol import EvaluationContract, PackPart, build_contract
from evaluations.engine.results import bundle_items
from evaluations.engine.run import PackRun, RunSettings
from evaluations.engine.spool import SampleSpool
from evaluations.engine.steps import UnitExecutor
from evaluations.engine.types import Aggregate, MemoryService, ModelSettings

SMOKE_LANES = 2
LIBRARIES = ("httpx2", "numpy", "scipy", "nltk", "openai", "bpe-openai", "orjson", "pydantic")

Watch = Callable[[PackRun, Ledger], AbstractAsyncContextManager[Any]]
Connect = Callable[[RunIdentity], MemoryService]


@dataclass(frozen=True, slots=True)
class LocalRun:
    """Everything a run needs. ``connect`` makes the service or arm once the run's secret is known;
    ``target`` names it without credentials; ``key`` signs the bundles and salts the samples."""

    pack: Pack
    connect: Connect
    target: str
    answer_model: ModelSettings
    judge_model: ModelSettings
    out: Path
    key: Ed25519PrivateKey
    settings: RunSettings = field(default_factory=RunSettings)
    smoke: bool = False  # two samples of the pack only
    smoke_pack: Pack | None = None  # the contract's, where it isn't the pack itself
    resume: bool = False
    control: bool = False  # a baseline arm, not a system
    clock: Clock = field(default_factory=SystemClock)


@dataclass(frozen=True, slots=True)
class RunReport:
    """``stopped`` says why the run ended before everything was done; then it can be resumed."""

    scores: Aggregate
    outcome: Outcome | None
    stopped: str | None
    offline: bool
    contract_hash: str
    bundle: Path
    public_bundle: Path


async def run_locally(plan: LocalRun, *, watch: Watch) -> RunReport:
    """Runs everything that is open in the folder and writes both bundles.

    Raises ``FolderRefused``, ``JournalDamaged`` or ``PackError`` before the first call.
    """
    with locked(plan.out):
        return await _run(plan, watch=watch)


async def _run(plan: LocalRun, *, watch: Watch) -> RunReport:
    questions = plan.pack.questions()
    contract = contract_of(plan)
    wanted = new_identity(
        pack=plan.pack.manifest.id + (" (smoke)" if plan.smoke else ""),
        pack_hash=plan.pack.hash,
        contract_hash=contract.hash,
        target=plan.target,
        now=plan.clock.now(),
    )
    identity = claim_folder(plan.out, wanted=wanted, resume=plan.resume)
    with closing(SampleSpool(_samples(plan.pack, smoke=plan.smoke))) as spool:
        ledger = Ledger(spool, judged=_judged(questions))
        for record in read_journal(plan.out / "journal.jsonl"):
            ledger.apply(record)
        run = await _drive(plan, identity, ledger=ledger, spool=spool, questions=questions, watch=watch)
        salts = _salts(plan)
        items = list(bundle_items(ledger, spool=spool, questions=questions, salts=salts))
        return _report(plan, identity, contract=contract, items=items, ledger=ledger, stopped=run.stopped)


def contract_of(plan: LocalRun) -> EvaluationContract:
    """What the run is scored under; the same as a cycle's where packs and models are."""
    return build_contract(
        full_pack=_part(plan.pack),
        smoke_pack=_part(plan.smoke_pack or plan.pack),
        answer_model=plan.answer_model,
        judge_model=plan.judge_model,
    )


def _part(pack: Pack) -> PackPart:
    return PackPart(
        hash=pack.hash,
        manifest=pack.manifest,
        answer_template=pack.answer_template,
        judge_template=pack.judge_template,
        scorers=frozenset(question.scorer for question in pack.questions().values()),
    )


async def _drive(
    plan: LocalRun,
    identity: RunIdentity,
    *,
    ledger: Ledger,
    spool: SampleSpool,
    questions: Mapping[str, Question],
    watch: Watch,
) -> PackRun:
    executor = UnitExecutor(
        memory=plan.connect(identity),
        answerer=build_model(plan.answer_model),
        judge_model=build_model(plan.judge_model),
        answer_template=plan.pack.answer_template,
        judge_template=plan.pack.judge_template,
        budget=plan.pack.manifest.answer.input_budget_tokens,
        secret=identity.key,
    )
    try:
        with closing(Journal(plan.out)) as journal:
            run = PackRun(executor, ledger, spool, journal, questions, plan.settings, clock=plan.clock)
            async with watch(run, ledger):
                await run.run()
        return run
    finally:
        for service in (executor.memory, executor.answerer, executor.judge_model):
            await service.aclose()


def _samples(pack: Pack, *, smoke: bool) -> Iterable[Sample]:
    """All of them, or for a smoke run the two with the fewest Adds."""
    if not smoke:
        return pack.samples()
    sizes = sorted((sum(event.add is not None for event in one.events), one.id) for one in pack.samples())
    chosen = {name for _, name in sizes[:SMOKE_LANES]}
    return (one for one in pack.samples() if one.id in chosen)


def _judged(questions: Mapping[str, Question]) -> Callable[[str], bool]:
    judged = {name for name, question in questions.items() if SCORERS[question.scorer].judged}
    return judged.__contains__


def _salts(plan: LocalRun) -> bytes:
    """One key and one pack, one salt: so two public bundles of one laptop can be compared."""
    return hashlib.sha256(plan.key.private_bytes_raw() + plan.pack.hash.encode()).digest()


def _report(
    plan: LocalRun,
    identity: RunIdentity,
    *,
    contract: EvaluationContract,
    items: list[BundleItem],
    ledger: Ledger,
    stopped: str | None,
) -> RunReport:
    weights = _weights(plan.pack, items)
    scores = aggregate_clusters(cells(items), weights=weights, seed=contract.hash)
    counts = count_asks((item.score for item in items), planned=len(items))
    ended = outcome(counts)
    statement = StatementData(
        subject={"entry": plan.target, "version": identity.id, "fingerprint": None, "control": plan.control},
        contract=contract.spec,
        lineage=_lineage(plan, identity, ledger=ledger),
        scores=scores,
        offline=contract.offline,
        unofficial=True,
        self_run=True,
        outcome=None if ended is None else ended.value,
        notes=tuple(_notes(plan)),
    )
    paths = {True: plan.out / BUNDLE, False: plan.out / PUBLIC_BUNDLE}
    for sealed, path in paths.items():
        write_bundle(path, statement=statement, items=items, key=plan.key, sealed=sealed)
    return RunReport(scores, ended, stopped, contract.offline, contract.hash, paths[True], paths[False])


def _weights(pack: Pack, items: list[BundleItem]) -> dict[str, float]:
    """The manifest's; a smoke run that lacks a capability shares its weight among the others."""
    present = {item.score.capability for item in items}
    weights = {one.id: one.weight for one in pack.manifest.capabilities}
    if present >= weights.keys():
        return weights
    total = sum(weights[name] for name in present)
    return {name: weight / total for name, weight in weights.items() if name in present}


def _notes(plan: LocalRun) -> Iterator[str]:
    if plan.smoke:
        yield "smoke: a part of the pack only, never to be compared with a whole run"
    if plan.control:
        yield "a control arm, not a system"


def _lineage(plan: LocalRun, identity: RunIdentity, *, ledger: Ledger) -> dict[str, Any]:
    answers = [state.answer for state in ledger.asks.values() if state.answer is not None]
    return {
        "software": _version("aml"),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "transport_limits": plan.settings.limits.model_dump(mode="json"),
        "concurrency": {"add": plan.settings.concurrency_add, "search": plan.settings.concurrency_search},
        "models": sorted({str(answer["model"]) for answer in answers if answer.get("model")}),
        "provider_fingerprints": sorted(
            {str(answer["fingerprint"]) for answer in answers if answer.get("fingerprint")}
        ),
        "started_at": round(identity.started_at, 3),
        "finished_at": round(plan.clock.now(), 3),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
