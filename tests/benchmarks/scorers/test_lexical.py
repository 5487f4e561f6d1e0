"""Token F1 and its older relatives against the reference vectors (tolerance 1e-9)."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

from benchmarks.scorers import SCORERS
from benchmarks.scorers.legacy import (
    legacy_adversarial,
    legacy_bleu1,
    legacy_em_set,
    legacy_rouge_l,
    legacy_set_f1,
    legacy_squad_f1,
    legacy_sub_em,
    squad_normalise,
)
from benchmarks.scorers.lexical import stem, stemmed_f1
from benchmarks.scorers.retrieval import quoted, retrieval
from benchmarks.scorers.token_f1 import locomo_f1
from tests.engine.builders import question
from tests.shared_data import shared_json

LEAVES = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "5": "adversarial"}
AUDITS = {
    "fc-4.1mini-cot": "fc_gpt-4.1-mini-cot",
    "fc-4.1mini-memos": "fc_gpt-4.1-mini-memos",
    "fc-4omini-cot": "fc_gpt-4o-mini-cot",
    "fc-4omini-memos": "fc_gpt-4o-mini-memos",
    "ap-v1": "ap_v1_specific_wrong_scored",
    "ap-v2": "ap_v2_vague_wrong_scored",
}


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-9)


def test_the_hand_cases_give_the_reference_f1() -> None:
    for case in shared_json("metric_vectors", "vec_locomo.json")["locomo"]:
        answer, gold = case["prediction"], case["gold"]
        if case["category"] == 5:
            assert legacy_adversarial(answer) == case["locomo_f1"]
        else:
            assert locomo_f1(answer, gold, leaf=LEAVES[str(case["category"])]) == close(case["locomo_f1"])


def test_the_hand_cases_give_the_other_measures() -> None:
    for case in shared_json("metric_vectors", "vec_locomo.json")["locomo"]:
        answer, gold = case["prediction"], case["gold"]
        assert stemmed_f1(answer, gold) == close(case["f1_single"])
        assert legacy_em_set(answer, gold) == case["em_set"]
        assert legacy_set_f1(answer, gold) == close(case["mem0_set_f1"])
        assert legacy_bleu1(answer, gold) == close(case["bleu1_ws_method1"])
        assert legacy_rouge_l(answer, gold) == close(case["rougeL_f_stem"])


@pytest.mark.parametrize("name", AUDITS)
def test_recorded_audit_answers_give_the_published_means(name: str) -> None:
    expected = shared_json("metric_vectors", "vec_locomo.json")["aggregates"][name]
    details = shared_json("locomo_audit", f"{AUDITS[name]}.json")["detailed_results"]
    rows = [
        (row["generated_answer"], str(row["golden_answer"]), LEAVES[row["category"]])
        for user in details.values()
        for row in user
    ]
    f1 = fmean(locomo_f1(answer, gold, leaf=leaf) for answer, gold, leaf in rows)
    assert len(rows) == expected["n"]
    assert f1 == pytest.approx(expected["locomo_f1"], abs=1e-4)
    assert fmean(legacy_set_f1(a, g) for a, g, _ in rows) == pytest.approx(expected["set_f1"], abs=1e-4)
    assert fmean(legacy_bleu1(a, g) for a, g, _ in rows) == pytest.approx(expected["bleu1"], abs=1e-4)


@pytest.mark.parametrize(
    ("word", "stemmed"), [("day", "day"), ("ages", "age"), ("birthdays", "birthday"), ("dying", "die")]
)
def test_the_stemmer_is_nltks_default_one(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


def test_token_f1_takes_the_best_of_several_golds() -> None:
    score = SCORERS["token_f1"].score(
        question(scorer="token_f1"), gold=["a barge", "red kite"], answer="Red kites", verdict=None
    )
    assert score.value == 1.0


def test_token_f1_reads_chinese_by_character() -> None:
    assert stemmed_f1("青色的风筝", "青色风筝") == close(8 / 9)


def test_hotpot_f1_matches_the_vectors() -> None:
    for case in shared_json("metric_vectors", "vec_misc.json")["mab"]:
        assert legacy_squad_f1(case["pred"], case["gold"]) == close(case["f1"])
        assert (squad_normalise(case["pred"]) == squad_normalise(case["gold"])) == case["em"]
        assert legacy_sub_em(case["pred"], case["gold"]) == float(case["sub_em"])


def test_retrieval_measures_match_the_vectors() -> None:
    for case in shared_json("metric_vectors", "vec_misc.json")["retrieval"]:
        found = retrieval(case["ranked"], case["relevant"], k=case["k"])
        assert (found.recall_any, found.recall_all) == (case["recall_any"], case["recall_all"])
        assert (found.recall, found.precision) == (close(case["recall"]), close(case["precision"]))
        assert (found.mrr, found.ap) == (close(case["mrr"]), close(case["ap"]))
        assert (found.ndcg, found.ndcg_lme) == (close(case["ndcg_std"]), close(case["ndcg_lme"]))


def test_recall_with_one_of_two_golds_is_a_half() -> None:
    assert retrieval(["a", "x"], ["a", "b"], k=2).recall == 0.5


def test_a_turn_is_quoted_if_most_of_its_trigrams_come_back() -> None:
    turn = "I flew a red kite on the hill yesterday"
    assert quoted(turn, ["Ada said: I flew a red kite on the hill"])
    assert not quoted(turn, ["Ada owns a red kite"])
