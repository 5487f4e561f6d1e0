"""One pack, run twice: by the engine's command line and through the platform's ledger."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.test import override_settings
from pytest_django import DjangoDbBlocker

from aml.web import clock
from benchmarks.services import import_pack
from evaluations.engine.bundle import read_statement
from evaluations.engine.offline import ANSWER_MODEL, JUDGE_MODEL
from evaluations.models import EvaluationContract, Run, RunScore
from evaluations.records import planning, quota
from evaluations.services import bundle_of, platform_key_id
from evaluations.services.contracts import make_contract
from tests.evaluations.ledger.driving import drive, final
from tests.factories import make_entry, make_version
from tests.run_factories import make_run, open_track

ADDS, SEARCHES = 10, 32  # calls at once
DEADLINE = 500.0  # seconds for one whole run, on a machine that is busy with others


@dataclass(frozen=True, slots=True)
class Published:
    """What the platform says of a finished Full, and its two bundles."""

    status: str
    contract_hash: str
    figures: Mapping[str, Any]
    counts: Mapping[str, int]
    sealed: Path
    public: Path
    key_id: str


def run_by_command(
    pack: Path | str, out: Path, *more: str, smoke_pack: str = "", url: str = ""
) -> subprocess.Popen[bytes]:
    """Starts ``python -m evaluations.engine run`` against the service at ``url``, or with an arm in ``more``."""
    target = ["--add-url", f"{url}/add", "--search-url", f"{url}/search"] if url else []
    contract = ["--smoke-pack", smoke_pack] if smoke_pack else []
    key = ["--signing-key", str(out.parent / "key")]
    at_once = ["--concurrency-add", str(ADDS), "--concurrency-search", str(SEARCHES)]
    command = ["run", "--pack", str(pack), "--out", str(out), *target, *contract, *key, *at_once, *more]
    return subprocess.Popen([sys.executable, "-m", "evaluations.engine", *command], stdout=subprocess.DEVNULL)


def ended(*started: subprocess.Popen[bytes]) -> list[int]:
    """Waits for all of them; their exit codes. None is left running."""
    try:
        return [process.wait(timeout=DEADLINE) for process in started]
    finally:
        for process in started:
            process.kill()  # does nothing to one that has ended


def figures_of(bundle: Path) -> Mapping[str, Any]:
    """Overall and capabilities with their intervals, as the bundle states them."""
    return dict(read_statement(bundle)["scores"])


@contextmanager
def platform(blocker: DjangoDbBlocker, folder: Path) -> Iterator[None]:
    """The test database for a fixture of a whole module, with bodies in ``folder``; left empty."""
    bodies = {**settings.STORAGES["bodies"], "OPTIONS": {"location": str(folder / "bodies")}}
    changed = {
        "STORAGES": {**settings.STORAGES, "bodies": bodies},
        "OPENAI_API_KEY": "",
        "OPENAI_BASE_URL": "",
    }
    with blocker.unblock(), override_settings(ALLOW_PRIVATE_ENDPOINTS=True, **changed):
        try:
            yield
        finally:
            call_command("flush", verbosity=0, interactive=False)


def publish(pack: Path | str, *, smoke_pack: str, url: str, folder: Path) -> Published:
    """Imports the packs, drives a Full to its end in this process, and writes its bundles to ``folder``."""
    release, smoke = import_pack(pack), import_pack(smoke_pack)
    contract = make_contract(
        track="textual",
        full_pack=release,
        smoke_pack=smoke,
        answer_model=ANSWER_MODEL,
        judge_model=JUDGE_MODEL,
    )
    run = _planned(contract, url=url)
    drive(final(run.pk), seconds=DEADLINE)
    run.refresh_from_db()
    paths = {sealed: folder / f"{'sealed' if sealed else 'public'}.zip" for sealed in (True, False)}
    for sealed, path in paths.items():
        path.write_bytes(bundle_of(run, sealed=sealed))
    return _published(run, paths)


def _planned(contract: EvaluationContract, *, url: str) -> Run:
    entry = make_entry()
    open_track(entry.registration.cycle, contract=contract)
    version = make_version(
        entry=entry, add_url=f"{url}/add", search_url=f"{url}/search", auth_scheme="none",
        add_concurrency=ADDS, search_concurrency=SEARCHES,
    )  # fmt: skip
    run = make_run(version=version)
    quota.reserve(run, now=clock.now())
    planning.plan(run.pk)
    return run


def _published(run: Run, paths: Mapping[bool, Path]) -> Published:
    score = RunScore.objects.get(run=run)
    figures = {
        "overall": {"mean": score.overall, "low": score.ci_low, "high": score.ci_high},
        "capabilities": score.capabilities,
    }
    names = ("asks", "scored", "unscored", "zero_by_failure")
    return Published(
        status=run.status,
        contract_hash=run.contract.hash,
        figures=figures,
        counts={name: getattr(score, name) for name in names},
        sealed=paths[True],
        public=paths[False],
        key_id=platform_key_id(),
    )
