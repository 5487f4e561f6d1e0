"""``manage.py run_baselines``: measure the control arms of the open tracks' contracts."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from aml.web.errors import Refusal
from evaluations.models import Baseline, CycleTrack, EvaluationContract
from evaluations.services.baselines import run_baselines


class Command(BaseCommand):
    help = (
        "Run no memory, full-text search and the oracle under a contract; they stand unranked on its boards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--contract", help="hash or its beginning; default: every open track's contract")
        parser.add_argument("--arm", action="append", choices=Baseline.Arm.values, help="repeatable")

    def handle(self, *args: Any, **options: Any) -> None:
        arms = options["arm"] or Baseline.Arm.values
        for contract in _contracts(options["contract"]):
            try:
                measured = run_baselines(contract=contract, arms=arms, report=self._report)
            except Refusal as refusal:
                raise CommandError(f"{refusal.reason} {refusal.hint}") from refusal
            for baseline in measured:
                self.stdout.write(
                    f"{contract} {baseline.arm}: {baseline.overall:.4f} "
                    f"[{baseline.ci_low:.4f}, {baseline.ci_high:.4f}]"
                )

    def _report(self, words: str, done: int, total: int) -> None:
        if done == total:
            self.stderr.write(f"{words}: {done} of {total}")


def _contracts(prefix: str | None) -> list[EvaluationContract]:
    contracts = EvaluationContract.objects.select_related("full_pack")
    if prefix:
        found = list(contracts.filter(hash__startswith=prefix))
        if len(found) != 1:
            raise CommandError(f"{len(found)} contracts begin with {prefix!r}")
        return found
    used = CycleTrack.objects.filter(is_open=True, contract__isnull=False)
    found = list(contracts.filter(pk__in=used.values("contract")))
    if not found:
        raise CommandError("no open track has a contract")
    return found
