"""The evaluation contract's hash changes with what a score depends on, and with nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aml.lib.tracks import Track
from benchmarks.types import Counts, Dataset, Manifest, ModelUse, Visibility
from evaluations.engine.prompts import ANSWER_TEMPLATE, JUDGE_TEMPLATE
from evaluations.engine.protocol import EvaluationContract, PackPart, build_contract
from evaluations.engine.types import ModelSettings, Secret
from tests.engine.builders import capability

ANSWER = ModelSettings(name="gpt-a", base_url="https://a.example/v1", api_key=Secret("k"))
JUDGE = ModelSettings(name="gpt-j", base_url="https://a.example/v1")
MANIFEST = Manifest(
    id="own-pack",
    version="1.0.0",
    title="Own",
    track=Track.TEXTUAL,
    visibility=Visibility.PUBLIC,
    licence="CC0-1.0",
    attribution="us",
    source="made",
    language="en",
    capabilities=(capability("A", 1.0),),
    datasets=(Dataset(id="d", title="D", licence="CC0-1.0"),),
    answer=ModelUse(prompt="prompts/answer.txt", role="answer", max_output_tokens=512),
    judge=ModelUse(prompt="prompts/judge.txt", role="judge", max_output_tokens=256),
    counts=Counts(samples=1, adds=1, asks=1, questions=1),
    files={},
)
PACK = PackPart(
    hash="0" * 64, manifest=MANIFEST, answer_template=ANSWER_TEMPLATE, judge_template=JUDGE_TEMPLATE
)


def build(
    *, full: PackPart = PACK, answer: ModelSettings = ANSWER, judge: ModelSettings = JUDGE, votes: int = 1
) -> EvaluationContract:
    return build_contract(
        full_pack=full, smoke_pack=PACK, answer_model=answer, judge_model=judge, judge_votes=votes
    )


def test_the_same_parts_have_the_same_hash() -> None:
    assert build().hash == build().hash
    assert len(build().hash) == 64


def test_credentials_addresses_and_time_outs_are_no_part_of_it() -> None:
    moved = replace(ANSWER, base_url="https://b.example/v1", api_key=None, timeout=5.0)
    assert build(answer=moved).hash == build().hash


@pytest.mark.parametrize(
    "other",
    [
        build(full=replace(PACK, hash="1" * 64)),
        build(full=replace(PACK, answer_template=ANSWER_TEMPLATE + " ")),
        build(full=replace(PACK, judge_template=JUDGE_TEMPLATE + " ")),
        build(
            full=replace(PACK, scorers=("exact",), manifest=MANIFEST.model_copy(update={"version": "1.0.1"}))
        ),
        build(answer=replace(ANSWER, name="gpt-b")),
        build(judge=replace(JUDGE, temperature=0.5)),
        build(votes=3),
    ],
)
def test_whatever_a_score_depends_on_changes_the_hash(other: EvaluationContract) -> None:
    assert other.hash != build().hash


def test_a_contract_with_an_offline_model_says_so() -> None:
    assert not build().offline
    assert build(judge=ModelSettings(name="aml-offline-judge-1")).offline


def test_the_parts_are_readable_in_the_spec() -> None:
    spec = build().spec
    assert spec["scorers"]["token_f1"] == 1
    assert spec["packs"]["full"]["input_budget_tokens"]["answer"] == 117_760
    assert spec["tokens"] == "o200k_base"
