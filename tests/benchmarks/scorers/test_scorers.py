"""Each scorer on answers as models write them."""

from __future__ import annotations

import pytest

from benchmarks.packs.golds import GOLD_SHAPES
from benchmarks.scorers import SCORERS
from benchmarks.scorers.abstain import declines
from benchmarks.scorers.code_tests import sandbox_verdict
from benchmarks.scorers.event_order import listed_events, order_score
from benchmarks.types import Score, Verdict
from tests.engine.builders import options, question
from tests.shared_data import shared_json

FOUR = options("Tea", "Coffee", "Water", "Milk")


def scored(
    scorer: str, gold: object, answer: str, *, grades: tuple[str, ...] | None = None, four: bool = False
) -> Score:
    asked = question(scorer=scorer, options=FOUR if four else None)
    verdict = None if grades is None else Verdict(grades=grades)
    return SCORERS[scorer].score(asked, gold=gold, answer=answer, verdict=verdict)


def test_every_gold_shape_has_a_scorer() -> None:
    assert set(SCORERS) == set(GOLD_SHAPES)


@pytest.mark.parametrize(
    ("answer", "value"),
    [("  The QX-4417. ", 1), ("qx-4417", 1), ("QX-4418", 0), ("", 0), ("It is QX-4417", 0)],
)
def test_exact_ignores_case_articles_and_outer_punctuation(answer: str, value: int) -> None:
    assert scored("exact", ["QX-4417"], answer).value == value


@pytest.mark.parametrize(
    "answer",
    ["B", "b", "(B)", "B.", "Answer: B", "[B]", "\\boxed{B}", "(B. Coffee)", "B. Coffee", "Coffee",
     "Option B", "The best one is (B).", "答案是 B", "选 B", "I think\nANSWER: B"],
)  # fmt: skip
def test_choice_reads_one_letter_however_it_is_dressed(answer: str) -> None:
    assert scored("choice", "B", answer, four=True).value == 1.0


@pytest.mark.parametrize(
    "answer", ["", "(A)(B)", "The answer is (B) because (A) is wrong", "B or C", "G", "I like A lot", "None"]
)
def test_choice_without_exactly_one_letter_is_wrong_and_a_format_failure(answer: str) -> None:
    score = scored("choice", "B", answer, four=True)
    assert (score.value, score.details["format_failure"]) == (0.0, True)


@pytest.mark.parametrize("answer", ["A, C, D", "ACD", "(D, A, C)", "A, C and D", "(A) (C) (D)"])
def test_choice_set_takes_the_letters_in_any_order(answer: str) -> None:
    assert scored("choice_set", ["A", "C", "D"], answer, four=True).value == 1.0


def test_choice_set_with_a_letter_twice_is_malformed() -> None:
    score = scored("choice_set", "AC", "A, A, C", four=True)
    assert (score.value, score.details["format_failure"]) == (0.0, True)


def test_choice_set_shows_jaccard_beside_all_or_nothing() -> None:
    score = scored("choice_set", "ACD", "A and C", four=True)
    assert (score.value, score.details["jaccard"]) == (0.0, pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("answer", "value"),
    [("C, A, B, D", 1), ("C -> A -> B -> D", 1), ("CABD", 1), ("A, B, C, D", 0), ("C, A", 0)],
)
def test_ordering_needs_every_letter_in_its_place(answer: str, value: int) -> None:
    assert scored("ordering", "CABD", answer, four=True).value == value


@pytest.mark.parametrize(
    ("scorer", "gold", "grades", "value"),
    [
        ("judge_binary", "x", ("CORRECT",), 1.0),
        ("judge_binary", "x", ("WRONG",), 0.0),
        ("judge_rubric_all", ["a", "b"], ("YES", "YES"), 1.0),
        ("judge_rubric_all", ["a", "b"], ("YES", "NO"), 0.0),
        ("judge_rubric_mean", ["a", "b", "c"], ("1", "0.5", "0.5"), 2 / 3),
        ("judge_preference", {"preference": "tea", "positive": False}, ("0.75",), 0.75),
        ("event_order", ["a", "b", "c"], ("1", "none", "3"), 1 / 3),
    ],
)
def test_grades_become_values(scorer: str, gold: object, grades: tuple[str, ...], value: float) -> None:
    answer = "1. first\n2. second\n3. third"
    assert scored(scorer, gold, answer, grades=grades).value == pytest.approx(value)


@pytest.mark.parametrize("scorer", [name for name, scorer in SCORERS.items() if scorer.judged])
def test_without_a_verdict_a_judged_answer_is_unscored(scorer: str) -> None:
    score = scored(scorer, ["a", "b"], "one; two")
    assert score.value is None
    assert score.reason


def test_event_order_matches_beam() -> None:
    for case in shared_json("metric_vectors", "vec_parsers.json")["event_ordering"]:
        found = order_score(case["reference"], case["system"], beam=True)
        for name in ("precision", "recall", "f1", "tau_norm"):
            assert getattr(found, name) == pytest.approx(case[name], abs=1e-9)
        assert found.final == pytest.approx(case["final_score"], abs=1e-9)


def test_a_single_matched_event_is_in_order() -> None:
    assert order_score(["A"], ["A"]).final == 1.0


@pytest.mark.parametrize(
    "answer", ["1. Rome\n2) Oslo\n- Bergen", "Rome; Oslo; Bergen", "Rome -> Oslo -> Bergen"]
)
def test_listed_events_are_read_without_their_numbers(answer: str) -> None:
    assert listed_events(answer) == ("Rome", "Oslo", "Bergen")


@pytest.mark.parametrize(
    "answer",
    ["No information available.", "I don't know.", "The memories do not mention this.",
     "Not mentioned.", "There is no record of that.", "I cannot determine that from the memories.",
     "没有相关信息。", "我不知道", "无法确定"],
)  # fmt: skip
def test_declining_is_recognised_in_both_languages(answer: str) -> None:
    assert declines(answer)


@pytest.mark.parametrize(
    "answer",
    ["", "   ", "Oslo", "I don't know the day, but it was in May 2023.",
     "It was Oslo. The street is not mentioned.",
     "No", "Nobody", "不喜欢", "没有", "不清楚，不过可能是上海"],
)  # fmt: skip
def test_what_answers_or_says_nothing_is_no_abstention(answer: str) -> None:
    assert not declines(answer)
    assert scored("abstain", None, answer).value == 0.0


def test_a_patch_scores_only_with_passing_tests() -> None:
    asked = question(scorer="code_tests")
    for applied, passed, value in [(True, True, 1.0), (True, False, 0.0), (False, False, 0.0)]:
        verdict = sandbox_verdict(applied=applied, passed=passed, right_file=True)
        score = SCORERS["code_tests"].score(asked, gold={}, answer="--- a", verdict=verdict)
        assert (score.value, score.details["right_file"]) == (value, True)
