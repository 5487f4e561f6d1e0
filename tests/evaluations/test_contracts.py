"""Making evaluation contracts, and measuring baselines under them."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command

from aml.web.errors import Refusal
from aml.web.models import AuditEntry
from benchmarks.models import PackRelease
from benchmarks.services import import_pack
from evaluations.models import Baseline, CycleTrack, EvaluationContract
from evaluations.services.baselines import run_baselines
from evaluations.services.contracts import make_contract
from leaderboard.models import Snapshot
from tests.factories import make_cycle

pytestmark = pytest.mark.django_db


@pytest.fixture
def packs() -> dict[str, PackRelease]:
    return {"full_pack": import_pack("textual-tiny"), "smoke_pack": import_pack("textual-smoke")}


def contract_of(packs: dict[str, PackRelease], *, answer_model: str = "") -> EvaluationContract:
    return make_contract(
        track="textual",
        full_pack=packs["full_pack"],
        smoke_pack=packs["smoke_pack"],
        answer_model=answer_model,
    )


def refused(**packs: Any) -> str:
    with pytest.raises(Refusal) as refusal:
        make_contract(track="textual", **packs)
    return refusal.value.code


def test_a_contract_names_its_parts_and_is_on_the_public_record(packs: dict[str, PackRelease]) -> None:
    contract = contract_of(packs)
    assert contract.spec["packs"]["full"]["hash"] == packs["full_pack"].hash
    assert contract.offline
    assert not contract.official
    assert AuditEntry.objects.get(act="contract.made").public


def test_the_same_parts_give_the_same_contract(packs: dict[str, PackRelease]) -> None:
    assert contract_of(packs) == contract_of(packs)
    assert AuditEntry.objects.filter(act="contract.made").count() == 1


def test_another_model_is_another_contract(packs: dict[str, PackRelease]) -> None:
    other = contract_of(packs, answer_model="gpt-4.1-mini-2025-04-14")
    assert contract_of(packs).hash != other.hash


def test_a_private_smoke_pack_is_refused(packs: dict[str, PackRelease]) -> None:
    packs["smoke_pack"].visibility = "private"
    assert refused(**packs) == "smoke_pack_private"


def test_a_smoke_pack_with_a_conversation_of_a_private_pack_is_refused(packs: dict[str, PackRelease]) -> None:
    private = packs["full_pack"]
    private.visibility = "private"
    sample = packs["smoke_pack"].samples.all()[0]
    sample.content_hash = private.samples.all()[0].content_hash
    sample.save()
    assert refused(**packs) == "smoke_pack_shares_conversations"


def test_a_pack_of_another_track_is_refused(packs: dict[str, PackRelease]) -> None:
    packs["full_pack"].track = "coding"
    assert refused(**packs) == "pack_of_other_track"


def test_a_pack_that_was_not_imported_whole_is_refused(packs: dict[str, PackRelease]) -> None:
    packs["full_pack"].complete = False
    assert refused(**packs) == "pack_incomplete"


def test_no_memory_is_below_full_text_search_and_that_below_the_oracle(packs: dict[str, PackRelease]) -> None:
    told: list[tuple[str, int, int]] = []
    none, text, oracle = run_baselines(
        contract=contract_of(packs), report=lambda words, done, total: told.append((words, done, total))
    )
    assert none.overall < text.overall < oracle.overall
    assert all(one.data["asks"] == one.data["scored"] == 72 for one in (none, text, oracle))
    assert told[-1][1] == told[-1][2] > 0


def test_measuring_again_gives_the_same_figures_in_the_same_row(packs: dict[str, PackRelease]) -> None:
    contract = contract_of(packs)
    first, second = (run_baselines(contract=contract, arms=["full-text"])[0] for _number in range(2))
    assert (first.pk, first.overall, first.ci_low) == (second.pk, second.overall, second.ci_low)
    assert Baseline.objects.count() == 1


def test_the_command_measures_open_tracks_and_puts_them_on_the_board(packs: dict[str, PackRelease]) -> None:
    CycleTrack.objects.create(cycle=make_cycle(), track="textual", contract=contract_of(packs))
    call_command("run_baselines", "--arm", "no-memory")
    boards = Snapshot.objects.filter(division="open-source")
    assert [row["name"] for row in boards.get().data["baselines"]] == ["no-memory"]
