"""Signed result bundles of finished runs, from the ledger: public for participants, sealed for reviewers."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from aml.lib.canonical import canonical_hash
from aml.web import bodies
from aml.web.errors import Refusal
from evaluations.engine.bundle import BundleItem, StatementData, write_bundle
from evaluations.engine.bundle.signing import key_id
from evaluations.engine.naming import sample_salt
from evaluations.engine.types import AskScore
from evaluations.models import Result, Run, RunScore
from evaluations.models.ledger import KindChoice
from evaluations.runner.scores import aggregate_run, ask_scores
from registration.models import Version


def bundle_of(run: Run, *, sealed: bool = False) -> bytes:
    """The zip. Raises Refusal while the run has no score; the same run gives the same bytes.

    The public one is made when it is first asked for and kept: later code or another key change it no more.
    """
    with transaction.atomic():
        score = RunScore.objects.select_for_update().filter(run=run).first()
        if score is None or not run.is_final:
            raise Refusal(
                "no_bundle",
                _("This run has no result bundle."),
                hint=_("A bundle is made once a run has finished with a score."),
            )
        return _made(run, sealed=True) if sealed else _kept(run, score)


def _kept(run: Run, score: RunScore) -> bytes:
    if score.public_bundle:
        with suppress(bodies.MissingBody):
            return bodies.get(score.public_bundle)
    made = _made(run, sealed=False)
    score.public_bundle = bodies.put(made)
    score.save(update_fields=["public_bundle"])
    return made


def _made(run: Run, *, sealed: bool) -> bytes:
    scores = ask_scores(run)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "bundle.zip"
        write_bundle(
            target,
            statement=_statement(run, scores),
            items=_items(run, scores, salts=_salts(run)),
            key=_signing_key(),
            sealed=sealed,
        )
        return target.read_bytes()


def platform_key_id() -> str:
    """What ``verify --trusted-key`` is told: the id of the key that signs this platform's bundles."""
    return key_id(_signing_key().public_key().public_bytes_raw())


def _signing_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(settings.SIGNING_KEY))


def is_unofficial(run: Run) -> bool:
    return not run.contract.is_official_in(run.cycle)


def fingerprint(version: Version) -> str:
    """SHA-256 over everything that an accepted Full freezes."""
    return canonical_hash({name: getattr(version, name) for name in Version.FROZEN_FIELDS})


def _salts(run: Run) -> bytes:
    """One platform and one pack, one salt: so two public bundles can be compared sample by sample."""
    return hashlib.sha256(bytes.fromhex(settings.SIGNING_KEY) + run.pack.hash.encode()).digest()


def _statement(run: Run, scores: list[AskScore]) -> StatementData:
    version = run.version
    return StatementData(
        subject={
            "entry": version.entry.public_id,
            "system": version.entry.name,
            "version": version.public_id,
            "version_label": version.label,
            "fingerprint": fingerprint(version),
            "run": run.public_id,
            "kind": run.kind,
            "track": run.track,
        },
        contract=run.contract.spec,
        lineage=_lineage(run),
        scores=aggregate_run(run, scores),
        offline=run.contract.offline,
        unofficial=is_unofficial(run),
        self_run=False,
        outcome=str(run.status),
        notes=("smoke: private, never ranked",) if run.is_smoke else (),
    )


def _lineage(run: Run) -> dict[str, Any]:
    answers = list(Result.objects.filter(run=run, kind=KindChoice.ANSWER).values_list("data", flat=True))
    return {
        "code_revision": run.spec.get("code_revision", ""),
        "rules_version": run.spec.get("rules_version"),
        "transport_limits": run.spec.get("limits", {}),
        "concurrency": run.spec["concurrency"],
        "models": sorted({str(data["model"]) for data in answers if data.get("model")}),
        "provider_fingerprints": sorted(
            {str(data["fingerprint"]) for data in answers if data.get("fingerprint")}
        ),
        "repeated_calls": run.repeated_calls,
        "started_at": run.first_add_at.isoformat() if run.first_add_at else None,
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def _items(run: Run, scores: list[AskScore], *, salts: bytes) -> Iterator[BundleItem]:
    found: dict[tuple[str, str], dict[str, Any]] = {
        (ask, kind): data
        for ask, kind, data in Result.objects.filter(run=run).values_list("ask", "kind", "data").iterator()
    }
    for score in scores:
        yield BundleItem.of(
            score,
            salt=sample_salt(salts, score.sample),
            search=found.get((score.ask, KindChoice.SEARCH)),
            answer=found.get((score.ask, KindChoice.ANSWER)),
            judge=found.get((score.ask, KindChoice.JUDGE)),
        )
