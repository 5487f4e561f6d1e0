"""The shipped Textual packs: sizes, determinism, balance."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.packs.files import Pack, open_pack
from benchmarks.packs.shipped import SHIPPED, materialise
from benchmarks.packs.textual.pack import cases
from benchmarks.packs.textual.sizes import DEMO, LOAD, SIZES, add_counts, ask_counts
from benchmarks.packs.textual.story import StoryError, parse, stories
from benchmarks.types import Question

SMALL = ("textual-tiny", "textual-demo", "textual-smoke")


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pack]:
    folder = tmp_path_factory.mktemp("packs")
    return {name: open_pack(materialise(name, folder)) for name in SMALL}


def asked(pack: Pack) -> list[Question]:
    """The question of every ask, in order."""
    questions = pack.questions()
    return [
        questions[event.ask.question] for sample in pack.samples() for event in sample.events if event.ask
    ]


@pytest.mark.parametrize("name", SMALL)
def test_a_shipped_pack_is_valid_and_has_its_size(packs: dict[str, Pack], name: str) -> None:
    counts, size = packs[name].manifest.counts, SIZES[name]
    assert packs[name].validate() == []
    assert (counts.samples, counts.adds, counts.asks) == (size.samples, size.adds, size.asks)


def test_tiny_and_demo_ask_every_capability_equally_often(packs: dict[str, Pack]) -> None:
    for name, each in (("textual-tiny", 9), ("textual-demo", 60)):
        assert set(Counter(question.capability for question in asked(packs[name])).values()) == {each}


def test_the_same_seed_gives_the_same_bytes_in_another_process(
    tmp_path: Path, packs: dict[str, Pack]
) -> None:
    code = (
        "import sys, pathlib; from benchmarks.packs.files import open_pack; "
        "from benchmarks.packs.shipped import materialise; "
        "print(open_pack(materialise('tiny', pathlib.Path(sys.argv[1]))).hash)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=os.environ | {"PYTHONHASHSEED": "77"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == packs["textual-tiny"].hash


def test_smoke_shares_no_conversation_with_the_others(packs: dict[str, Pack]) -> None:
    def sessions(pack: Pack) -> set[str]:
        return {
            event.add.model_dump_json(exclude={"session"}, exclude_none=True)
            for sample in pack.samples()
            for event in sample.events
            if event.add
        }

    smoke = sessions(packs["textual-smoke"])
    assert not smoke & sessions(packs["textual-tiny"])
    assert not smoke & sessions(packs["textual-demo"])


def test_smoke_is_public_and_demo_private(packs: dict[str, Pack]) -> None:
    found = {name: pack.manifest.visibility.value for name, pack in packs.items()}
    assert found == {"textual-tiny": "public", "textual-demo": "private", "textual-smoke": "public"}


def test_declining_everywhere_does_not_pay(packs: dict[str, Pack]) -> None:
    questions = asked(packs["textual-demo"])
    share = Counter(q.capability for q in questions if q.scorer == "abstain")
    assert share["H"] == 30
    assert sum(share.values()) / len(questions) < 0.15


def test_the_right_letter_is_spread_evenly(packs: dict[str, Pack]) -> None:
    golds = Counter(q.gold for q in asked(packs["textual-demo"]) if q.scorer == "choice")
    assert set(golds) == set("ABCD")
    assert max(golds.values()) <= 0.35 * golds.total()


def test_streaming_asks_the_same_question_with_the_gold_of_the_moment(packs: dict[str, Pack]) -> None:
    golds: dict[str, list[str]] = {}
    for sample in packs["textual-demo"].samples():
        for event in sample.events:
            if event.ask and event.ask.gold:
                golds.setdefault(event.ask.question, []).append(str(event.ask.gold))
    assert sum(len(found) >= 2 for found in golds.values()) >= 15
    assert all(len(set(found)) == len(found) for found in golds.values())


def test_evidence_of_a_moment_comes_before_its_ask(packs: dict[str, Pack]) -> None:
    """Some evidence is there whenever a question that has an answer is asked."""
    for sample in packs["textual-demo"].samples():
        questions, added = packs["textual-demo"].questions(), set()
        for event in sample.events:
            if event.add:
                added.add(event.add.session)
            elif event.ask and questions[event.ask.question].evidence:
                evidence = questions[event.ask.question].evidence or ()
                assert {name.rpartition(":")[0] for name in evidence} & added


def test_no_slot_or_alternative_is_left_in_the_texts(packs: dict[str, Pack]) -> None:
    for name in SMALL:
        for sample in packs[name].samples():
            for event in sample.events:
                texts = [str(m.content) for m in event.add.messages] if event.add else []
                assert not any(mark in text for text in texts for mark in "{}[]|*")


def test_times_never_go_back_within_a_sample(packs: dict[str, Pack]) -> None:
    for sample in packs["textual-demo"].samples():
        stamps = [m.timestamp or 0 for event in sample.events if event.add for m in event.add.messages]
        assert all(before <= after for before, after in pairwise(stamps))


def test_a_quarter_of_the_samples_is_chinese(packs: dict[str, Pack]) -> None:
    datasets = Counter(sample.dataset for sample in packs["textual-demo"].samples())
    assert datasets == {"textual-en": 30, "textual-zh": 10}


def test_load_has_the_size_of_a_full_and_very_unequal_samples() -> None:
    adds = add_counts(LOAD)
    assert (len(adds), sum(adds)) == (610, 47_000)
    assert max(adds) > 15 * sorted(adds)[305] / 2
    assert sum(sum(asks.values()) for asks in ask_counts(LOAD)) == 6_300


def test_samples_stream(packs: dict[str, Pack]) -> None:
    first = next(cases(DEMO))
    assert first.sample == next(packs["textual-demo"].samples())


def test_the_aliases_and_names_are_known() -> None:
    assert {"tiny", "textual-tiny", "textual-demo", "textual-smoke", "textual-load"} <= SHIPPED


def test_a_pack_is_made_once(tmp_path: Path) -> None:
    first = materialise("tiny", tmp_path)
    before = (first / "pack.json").stat().st_mtime_ns
    assert materialise("textual-tiny", tmp_path) == first
    assert (first / "pack.json").stat().st_mtime_ns == before


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_story_key_is_used_once_and_every_story_can_be_asked(language: str) -> None:
    told = stories(language)
    assert len({story.key for story in told}) == len(told)
    assert all(story.probes for story in told if story.capability != "-")


def test_a_line_out_of_place_is_refused() -> None:
    with pytest.raises(StoryError, match="line 2"):
        list(parse("== a | A x\nno slot here\n", name="f"))
