"""Control arms that the platform runs itself under a contract: the unranked rows of its boards."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from aml.web import audit, clock
from aml.web.errors import Refusal
from benchmarks.packs.files import Pack
from benchmarks.services import export_pack
from evaluations import signals
from evaluations.engine.aggregate import Cell, aggregate_clusters, cells_of, score_fields
from evaluations.engine.bundle.content import BundleItem, split_lines
from evaluations.engine.bundle.files import ITEMS, read_files
from evaluations.engine.ledger import Ledger
from evaluations.engine.local_arms import connect_arm
from evaluations.engine.local_run import LocalRun, RunReport, run_locally
from evaluations.engine.run import PackRun, RunSettings
from evaluations.engine.types import Aggregate
from evaluations.models import Baseline, EvaluationContract
from evaluations.runner.shells import model_settings

#: Words for a person, done and total.
Report = Callable[[str, int, int], None]

_ENGINE_NAMES = {
    Baseline.Arm.NO_MEMORY: "none",
    Baseline.Arm.FULL_TEXT: "full-text",
    Baseline.Arm.ORACLE: "oracle",
}
DEFAULT_ARMS: tuple[str, ...] = tuple(Baseline.Arm.values)
REPORT_SECONDS = 0.5


def run_baselines(
    *, contract: EvaluationContract, arms: Sequence[str] = DEFAULT_ARMS, report: Report | None = None
) -> list[Baseline]:
    """Run each arm over the contract's full pack, in this process, and keep its figures.

    An arm that was measured before is measured again. Raises Refusal where an arm can't settle every ask,
    such as when the model provider is away; arms before it are kept.
    """
    measured: list[Baseline] = []
    try:
        with tempfile.TemporaryDirectory() as scratch:
            pack = export_pack(contract.full_pack, Path(scratch) / "pack")
            for arm in arms:
                out = Path(scratch) / arm
                measured.append(_measure(contract, arm=Baseline.Arm(arm), pack=pack, out=out, report=report))
    finally:
        if measured:
            signals.baselines_measured.send_robust(Baseline, contract_id=contract.pk)
    return measured


@dataclass(slots=True)
class _Watch:
    """Tells of progress while an arm runs, and keeps its ledger for the figures afterwards."""

    words: str
    report: Report | None
    ledger: Ledger | None = field(default=None)

    def __call__(self, run: PackRun, ledger: Ledger) -> AbstractAsyncContextManager[None]:
        self.ledger = ledger
        return self._telling(ledger)

    @asynccontextmanager
    async def _telling(self, ledger: Ledger) -> AsyncIterator[None]:
        task = asyncio.create_task(self._tell(ledger))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self._tell_once(ledger)

    async def _tell(self, ledger: Ledger) -> None:
        while True:
            self._tell_once(ledger)
            await asyncio.sleep(REPORT_SECONDS)

    def _tell_once(self, ledger: Ledger) -> None:
        if self.report is not None:
            counts = ledger.progress().values()
            self.report(self.words, sum(one.done for one in counts), sum(one.total for one in counts))

    def tokens_per_question(self) -> float | None:
        asks = self.ledger.asks.values() if self.ledger else ()
        tokens = [ask.answer["memory_tokens"] for ask in asks if ask.answer and "memory_tokens" in ask.answer]
        return round(sum(tokens) / len(tokens), 1) if tokens else None


def _measure(
    contract: EvaluationContract, *, arm: Baseline.Arm, pack: Pack, out: Path, report: Report | None
) -> Baseline:
    watch = _Watch(_("Baseline: %(arm)s") % {"arm": arm.label}, report)
    ended = asyncio.run(run_locally(_plan(contract, arm=arm, pack=pack, out=out), watch=watch))
    if ended.outcome is None:
        raise Refusal(
            "baseline_open",
            _("The baseline %(arm)s has questions without a score.") % {"arm": arm.label},
            hint=_("Look whether the models answer, then run it again."),
        )
    cells = _cells(ended)
    weights = {one.id: one.weight for one in pack.manifest.capabilities}
    figures = aggregate_clusters(cells, weights=weights, seed=contract.hash)
    measures = {"memory_tokens_per_question": watch.tokens_per_question()}
    return _store(contract, arm=arm, figures=figures, cells=cells, measures=measures)


def _plan(contract: EvaluationContract, *, arm: Baseline.Arm, pack: Pack, out: Path) -> LocalRun:
    return LocalRun(
        pack=pack,
        connect=connect_arm(_ENGINE_NAMES[arm], pack=pack, out=out),
        target=f"arm {arm}",
        answer_model=model_settings(contract, role="answer"),
        judge_model=model_settings(contract, role="judge"),
        out=out,
        key=Ed25519PrivateKey.generate(),  # signs a bundle that is read once, here, and thrown away
        settings=RunSettings(concurrency_models=settings.MODEL_BUDGET),
        control=True,
    )


def _cells(ended: RunReport) -> list[Cell]:
    lines = split_lines(read_files(ended.bundle)[ITEMS])
    return cells_of(BundleItem.decode(line).score for line in lines)


def _store(
    contract: EvaluationContract,
    *,
    arm: Baseline.Arm,
    figures: Aggregate,
    cells: Sequence[Cell],
    measures: dict[str, Any],
) -> Baseline:
    if figures.overall is None:
        raise Refusal("baseline_open", _("The pack has a capability without a question."))
    fields = score_fields(figures)
    values = {
        **{name: fields.pop(name) for name in ("overall", "ci_low", "ci_high")},
        "data": {**fields, "cells": [asdict(cell) for cell in cells], "measures": measures},
        "measured_at": clock.now(),
    }
    with transaction.atomic():
        baseline, _made = Baseline.objects.update_or_create(contract=contract, arm=arm, defaults=values)
        audit.record(
            "baseline.measured", subject=f"contract:{contract.hash[:16]}", public=True, arm=str(arm),
            overall=figures.overall.mean, hash=contract.hash,
        )  # fmt: skip
    return baseline
