"""The control arms separate on the shipped packs, with the offline models and without any HTTP."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from statistics import fmean

import pytest

from benchmarks.packs.files import Pack, evidence_messages, open_pack
from benchmarks.packs.shipped import materialise
from benchmarks.scorers import SCORERS
from benchmarks.types import Ask, Message, Question, Sample
from evaluations.engine.answering import parse_answer, render_answer_prompt
from evaluations.engine.judging import parse_verdict, render_judge_prompt
from evaluations.engine.offline.answerer import answer
from evaluations.engine.offline.judge import judge
from evaluations.engine.scoring import needs_judge, score_answer
from evaluations.engine.types import MemoryItem
from evaluations.reference.index import IndexedMessage, Place, UserIndex, event_time
from evaluations.reference.words import query_terms

NONCE = "0123456789abcdef"
Search = Callable[[Sample, Question, Ask], Sequence[Message]]
Scores = dict[str, float]


def score(pack: Pack, question: Question, ask: Ask, found: Sequence[Message]) -> float:
    gold = question.gold if ask.gold is None else ask.gold
    prompt = render_answer_prompt(
        template=pack.answer_template,
        question=question,
        items=[MemoryItem("m", str(m.content), created_at=str(event_time(m.timestamp))) for m in found],
        budget=117_760,
        nonce=NONCE,
    )
    given, verdict = parse_answer(answer(prompt.text)), None
    if needs_judge(question, gold=gold, answer=given):
        grades = SCORERS[question.scorer].grades_for(gold)
        criteria = SCORERS[question.scorer].criteria_for(gold, given)
        asked = render_judge_prompt(
            template=pack.judge_template,
            question=question,
            gold=gold,
            answer=given,
            grades=grades,
            criteria=criteria,
            nonce=NONCE,
        )
        verdict = parse_verdict(judge(asked.text), nonce=NONCE, grades=grades, criteria=len(criteria))
    return score_answer(question, gold=gold, answer=given, verdict=verdict).value or 0.0


def run(pack: Pack, search: Search) -> tuple[float, Scores]:
    """Overall and the mean of each capability."""
    questions, values = pack.questions(), defaultdict(list)
    for sample in pack.samples():
        for event in sample.events:
            if event.ask:
                question = questions[event.ask.question]
                value = score(pack, question, event.ask, search(sample, question, event.ask))
                values[question.capability].append(value)
    means = {name: fmean(found) for name, found in values.items()}
    return fmean(means.values()), means


def nothing(sample: Sample, question: Question, ask: Ask) -> list[Message]:
    return []


def oracle(sample: Sample, question: Question, ask: Ask) -> list[Message]:
    return evidence_messages(sample, question, before=ask.id)


def full_text(sample: Sample, question: Question, ask: Ask) -> list[Message]:
    before = takewhile(lambda event: event.ask is None or event.ask.id != ask.id, sample.events)
    told = [(event.add.session, message) for event in before if event.add for message in event.add.messages]
    index = UserIndex()
    index.extend(
        IndexedMessage(Place(0, place), session, str(message.content), message.timestamp)
        for place, (session, message) in enumerate(told)
    )
    hits = index.search(query_terms(str(question.query), *(question.option_texts() or ())), limit=100)
    index.close()
    return [told[hit.place.position][1] for hit in hits]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return open_pack(materialise("textual-demo", Path(tmp_path_factory.mktemp("packs"))))


def test_no_memory_is_near_chance_and_oracle_near_the_ceiling(pack: Pack) -> None:
    none, by_none = run(pack, nothing)
    best, by_best = run(pack, oracle)
    assert none < 0.2
    assert by_none["E"] <= 0.30
    assert max(by_none[name] for name in "ABCGS") <= 0.10
    assert best >= 0.90
    assert min(by_best.values()) >= 0.90


def test_full_text_search_lies_clearly_between(pack: Pack) -> None:
    overall, _ = run(pack, full_text)
    assert 0.4 < overall < 0.9
