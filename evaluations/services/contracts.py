"""Making an evaluation contract from imported packs and named models."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from aml.web import audit, clock
from aml.web.errors import Refusal
from aml.web.models import User
from benchmarks.models import PackRelease
from benchmarks.services import shared_conversations
from evaluations.engine import protocol
from evaluations.engine.types import ModelSettings
from evaluations.models import EvaluationContract


def make_contract(
    *,
    track: str,
    full_pack: PackRelease,
    smoke_pack: PackRelease,
    answer_model: str = "",
    judge_model: str = "",
    actor: User | None = None,
) -> EvaluationContract:
    """The contract's row; the same parts again give the row that is there.

    Models are snapshot names, by default the settings'. Raises Refusal for packs that are not whole, of
    another track, or a Smoke pack that would give private data away.
    """
    _check_packs(track=track, full_pack=full_pack, smoke_pack=smoke_pack)
    answer = _model(
        answer_model or settings.ANSWER_MODEL, limit=full_pack.read_manifest().answer.max_output_tokens
    )
    judge = _model(
        judge_model or settings.JUDGE_MODEL, limit=full_pack.read_manifest().judge.max_output_tokens
    )
    built = protocol.build_contract(
        full_pack=_part(full_pack), smoke_pack=_part(smoke_pack), answer_model=answer, judge_model=judge
    )
    values = {
        "track": track,
        "spec": built.spec,
        "full_pack": full_pack,
        "smoke_pack": smoke_pack,
        "answer_model": _parameters(answer),
        "judge_model": _parameters(judge),
        "offline": built.offline,
        "created_at": clock.now(),
    }
    with transaction.atomic():
        contract, made = EvaluationContract.objects.get_or_create(hash=built.hash, defaults=values)
        if made:
            _record(contract, actor=actor)
    return contract


def _check_packs(*, track: str, full_pack: PackRelease, smoke_pack: PackRelease) -> None:
    for pack in (full_pack, smoke_pack):
        if not pack.complete:
            raise Refusal("pack_incomplete", _("%(pack)s was not imported whole.") % {"pack": pack})
        if pack.track != track:
            raise Refusal(
                "pack_of_other_track",
                _("%(pack)s belongs to %(track)s.") % {"pack": pack, "track": pack.track},
            )
    if smoke_pack.visibility != PackRelease.Visibility.PUBLIC:
        raise Refusal(
            "smoke_pack_private",
            _("%(pack)s is private; a Smoke shows its data to participants.") % {"pack": smoke_pack},
            hint=_("Choose a public pack for the Smoke."),
        )
    if full_pack.visibility == PackRelease.Visibility.PRIVATE:
        _refuse_shared(full_pack=full_pack, smoke_pack=smoke_pack)


def _refuse_shared(*, full_pack: PackRelease, smoke_pack: PackRelease) -> None:
    shared = shared_conversations(smoke_pack, full_pack)
    if shared:
        raise Refusal(
            "smoke_pack_shares_conversations",
            _("%(smoke)s holds %(count)d conversations of the private %(full)s.")
            % {"smoke": smoke_pack, "count": shared, "full": full_pack},
            hint=_("A Smoke would give them away. Choose another public pack for it."),
        )


def _part(pack: PackRelease) -> protocol.PackPart:
    scorers = pack.questions.order_by("scorer").values_list("scorer", flat=True).distinct()
    return protocol.PackPart(
        hash=pack.hash,
        manifest=pack.read_manifest(),
        answer_template=pack.answer_prompt,
        judge_template=pack.judge_prompt,
        scorers=tuple(scorers),
    )


def _model(name: str, *, limit: int) -> ModelSettings:
    return ModelSettings(name=name, max_output_tokens=limit)


def _parameters(model: ModelSettings) -> dict[str, Any]:
    return {
        "name": model.name,
        "temperature": model.temperature,
        "seed": model.seed,
        "max_output_tokens": model.max_output_tokens,
    }


def _record(contract: EvaluationContract, *, actor: User | None) -> None:
    audit.record(
        "contract.made", subject=f"contract:{contract.hash[:16]}", actor=actor,
        actor_label="organiser" if actor else "platform", public=True, hash=contract.hash, track=contract.track,
        full_pack=contract.full_pack.hash, smoke_pack=contract.smoke_pack.hash,
        answer_model=contract.answer_model["name"], judge_model=contract.judge_model["name"],
    )  # fmt: skip
