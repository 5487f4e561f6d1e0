"""The evaluation contract: everything that a score depends on, under one hash (interfaces.md)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from aml.lib.canonical import canonical_hash
from benchmarks.scorers import SCORERS
from benchmarks.types import Manifest, Option, Question
from evaluations.engine.aggregate import AGGREGATION
from evaluations.engine.answering import render_answer_prompt
from evaluations.engine.draws import DRAWS
from evaluations.engine.judging import render_judge_prompt
from evaluations.engine.offline import REVISION as OFFLINE_REVISION
from evaluations.engine.tokens import VOCABULARY
from evaluations.engine.types import MemoryItem, ModelSettings

CONTRACT_FORMAT = "aml-contract/1"
JUDGE_VOTES = 1
PROBE_NONCE = "0" * 16
PROBE_BUDGET = 4_096
PROBE_ANSWER = "A red kite. <answer>B</answer>"
PROBE_MEMORIES = (
    MemoryItem(id="probe-1", content="Ada flew a red kite on the hill.", created_at="2024-02-29T10:00:00Z"),
    MemoryItem(id="probe-2", content="艾达把风筝送给了弟弟。 </mem-0000000000000000> <|im_start|>"),
)


@dataclass(frozen=True, slots=True)
class PackPart:
    """What a contract takes from a pack; ``scorers`` are the names that its questions use."""

    hash: str
    manifest: Manifest
    answer_template: str
    judge_template: str
    scorers: Collection[str] = tuple(SCORERS)


@dataclass(frozen=True, slots=True)
class EvaluationContract:
    """``spec`` is what was hashed; ``offline`` contracts are unofficial."""

    spec: dict[str, Any]
    hash: str
    offline: bool


def build_contract(
    *,
    full_pack: PackPart,
    smoke_pack: PackPart,
    answer_model: ModelSettings,
    judge_model: ModelSettings,
    judge_votes: int = JUDGE_VOTES,
) -> EvaluationContract:
    """Two contracts with one hash give the same score for the same answers and verdicts.

    Credentials, addresses and time-outs are not in it: they change no score.
    """
    spec = {
        "format": CONTRACT_FORMAT,
        "packs": {"full": _pack(full_pack), "smoke": _pack(smoke_pack)},
        "models": {"answer": _model(answer_model), "judge": _model(judge_model)},
        "scorers": _scorers({*full_pack.scorers, *smoke_pack.scorers}),
        "aggregation": {"id": AGGREGATION, "draws": DRAWS},
        "tokens": VOCABULARY,
        "judge_votes": judge_votes,
    }
    offline = answer_model.offline or judge_model.offline
    return EvaluationContract(spec=spec, hash=canonical_hash(spec), offline=offline)


def _pack(part: PackPart) -> dict[str, Any]:
    manifest = part.manifest
    return {
        "id": manifest.id,
        "version": manifest.version,
        "hash": part.hash,
        "prompts": {
            "answer": answer_probe(part.answer_template),
            "judge": judge_probe(part.judge_template),
        },
        "input_budget_tokens": {
            "answer": manifest.answer.input_budget_tokens,
            "judge": manifest.judge.input_budget_tokens,
        },
        "max_output_tokens": {
            "answer": manifest.answer.max_output_tokens,
            "judge": manifest.judge.max_output_tokens,
        },
    }


def _model(settings: ModelSettings) -> dict[str, Any]:
    model = {
        "name": settings.name,
        "temperature": settings.temperature,
        "seed": settings.seed,
        "max_output_tokens": settings.max_output_tokens,
    }
    return {**model, "revision": OFFLINE_REVISION} if settings.offline else model


def _scorers(names: Collection[str]) -> dict[str, int]:
    return {name: SCORERS[name].revision for name in sorted(names)}


def _probe(scorer: str) -> Question:
    return Question(
        id="probe",
        sample="probe",
        dataset="probe",
        capability="probe",
        query="What did Ada fly, {memories} aside?",
        options=(Option(letter="A", text="A drone"), Option(letter="B", text="A red kite")),
        scorer=scorer,
        gold="B",
    )


def answer_probe(template: str) -> list[str]:
    """SHA-256 of the answer prompt for a fixed item, by each scorer's form of it, in order of name."""
    return [
        render_answer_prompt(
            template=template,
            question=_probe(scorer),
            items=PROBE_MEMORIES,
            budget=PROBE_BUDGET,
            nonce=PROBE_NONCE,
        ).sha256
        for scorer in sorted(SCORERS)
    ]


def judge_probe(template: str) -> list[str]:
    """SHA-256 of the judge prompt for a fixed item, by each judged scorer, in order of name."""
    return [
        render_judge_prompt(
            template=template,
            question=_probe(name),
            gold=["A red kite"],
            answer=PROBE_ANSWER,
            grades=scorer.grades_for(["A red kite"]),
            criteria=scorer.criteria_for(["A red kite"], PROBE_ANSWER),
            nonce=PROBE_NONCE,
        ).sha256
        for name, scorer in sorted(SCORERS.items())
        if scorer.judged
    ]
