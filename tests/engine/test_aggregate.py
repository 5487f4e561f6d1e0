"""Means, intervals and comparisons, on known numbers and at the edges."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.types import Capability
from evaluations.engine.aggregate import aggregate, score_fields
from evaluations.engine.comparing import RankRange, paired_difference, rank_ranges, separated
from evaluations.engine.draws import uniform
from evaluations.engine.intervals import published, quantile, student
from evaluations.engine.statistics import (
    clustered_error,
    fleiss_kappa,
    mcnemar,
    naive_error,
    rogan_gladen,
    wilson,
)
from evaluations.engine.types import AskScore, Fault, Interval
from leaderboard.ranking import ranks, standings, tie_groups
from tests.engine.builders import ask_scores, capability
from tests.shared_data import shared_json

SEED = "c0ffee"
ONE = [capability("A", 1.0)]
TWO = [capability("A", 0.25), capability("B", 0.75)]
AUDITS = {
    "fc41": "fc_gpt-4.1-mini-cot",
    "memos41": "fc_gpt-4.1-mini-memos",
    "fc4o": "fc_gpt-4o-mini-cot",
    "memos4o": "fc_gpt-4o-mini-memos",
}


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-9)


def spread(samples: int, *, names: tuple[str, ...] = ("A",), seed: int = 1) -> list[AskScore]:
    numbers = random.Random(seed)
    return [
        score
        for index in range(samples)
        for name in names
        for score in ask_scores(
            [float(numbers.random() < 0.6) for _ in range(4)], sample=f"s{index}", capability=name
        )
    ]


def test_overall_is_the_weighted_mean_of_capability_means() -> None:
    scores = ask_scores([1, 0], capability="A") + ask_scores([1, 1, 1, 0], capability="B")
    result = aggregate(scores, capabilities=TWO, planned={"A": 2, "B": 4}, seed=SEED)
    assert [column.score.mean for column in result.capabilities if column.score] == [0.5, 0.75]
    assert result.overall is not None
    assert result.overall.mean == 0.6875


def test_an_open_ask_leaves_its_capability_and_overall_without_a_figure() -> None:
    scores = ask_scores([1, None], capability="A") + ask_scores([1, 1], capability="B")
    result = aggregate(scores, capabilities=TWO, planned={"A": 2, "B": 2}, seed=SEED)
    assert result.overall is None
    assert [column.score is None for column in result.capabilities] == [True, False]
    assert (result.asks, result.scored, result.unscored) == (4, 3, 1)


def test_fields_of_open_figures_have_no_overall_and_add_up() -> None:
    result = aggregate(ask_scores([1, None]), capabilities=ONE, planned={"A": 2}, seed=SEED)
    fields = score_fields(result)
    assert (fields["overall"], fields["ci_low"], fields["ci_high"]) == (None, None, None)
    assert (fields["asks"], fields["scored"], fields["unscored"]) == (2, 1, 1)
    assert fields["capabilities"][0]["score"] is None


def test_an_ask_that_never_came_is_open_too() -> None:
    result = aggregate(ask_scores([1, 1]), capabilities=ONE, planned={"A": 3}, seed=SEED)
    assert (result.overall, result.unscored) == (None, 1)


def test_zeros_by_failure_stay_in_the_denominator_and_are_counted() -> None:
    zero = replace(ask_scores([0.0], sample="t")[0], failed_by=Fault.PARTICIPANT)
    result = aggregate([*ask_scores([1]), zero], capabilities=ONE, planned={"A": 2}, seed=SEED)
    assert result.overall is not None
    assert (result.overall.mean, result.scored, result.zero_by_failure) == (0.5, 1, 1)


@pytest.mark.parametrize(
    ("scores", "planned"),
    [
        (ask_scores([1, 1]) + ask_scores([1]), {"A": 3}),
        (ask_scores([1, 1]), {"A": 1}),
        (ask_scores([1], capability="Z"), {"A": 1}),
        (ask_scores([1]), {"A": 1, "Z": 1}),
    ],
)
def test_scores_that_do_not_fit_the_plan_are_refused(scores: list[AskScore], planned: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"twice|planned|unknown"):
        aggregate(scores, capabilities=ONE, planned=planned, seed=SEED)


def test_nothing_planned_gives_no_figure() -> None:
    result = aggregate([], capabilities=ONE, planned={}, seed=SEED)
    assert (result.overall, result.asks, result.clusters) == (None, 0, 0)


def test_equal_scores_have_an_interval_of_no_width() -> None:
    result = aggregate(
        [score for index in range(5) for score in ask_scores([0.5, 0.5], sample=f"s{index}")],
        capabilities=ONE,
        planned={"A": 10},
        seed=SEED,
    )
    assert result.overall == Interval(0.5, 0.5, 0.5)


def test_one_cluster_says_nothing_about_the_spread() -> None:
    result = aggregate(ask_scores([1, 0]), capabilities=ONE, planned={"A": 2}, seed=SEED)
    assert result.overall == Interval(0.5, 0.0, 1.0)


@pytest.mark.parametrize("samples", [12, 40])
def test_the_order_of_the_scores_changes_no_digit(samples: int) -> None:
    scores = spread(samples, names=("A", "B"))
    planned = {"A": samples * 4, "B": samples * 4}
    expected = aggregate(scores, capabilities=TWO, planned=planned, seed=SEED)
    random.Random(3).shuffle(scores)
    assert aggregate(scores, capabilities=TWO, planned=planned, seed=SEED) == expected


def test_the_figures_are_pinned_so_that_a_change_of_method_is_noticed() -> None:
    few = aggregate(spread(12), capabilities=ONE, planned={"A": 48}, seed=SEED)
    many = aggregate(spread(40), capabilities=ONE, planned={"A": 160}, seed=SEED)
    assert few.overall == Interval(mean=0.645833, low=0.485897, high=0.80577)
    assert many.overall == Interval(mean=0.65, low=0.575, high=0.725)


def test_another_contract_draws_other_samples() -> None:
    scores = spread(40)
    results = {aggregate(scores, capabilities=ONE, planned={"A": 160}, seed=seed).overall for seed in "ab"}
    assert len(results) == 2


def test_a_draw_without_a_capability_is_drawn_again() -> None:
    scores = spread(6) + ask_scores([1, 1], sample="s0", capability="B")
    result = aggregate(scores, capabilities=TWO, planned={"A": 24, "B": 2}, seed=SEED)
    assert result.overall is not None
    assert result.overall.low < result.overall.mean < result.overall.high


def test_few_clusters_use_students_t_on_the_clustered_error() -> None:
    scores = spread(10)
    overall = aggregate(scores, capabilities=ONE, planned={"A": 40}, seed=SEED).overall
    assert overall is not None
    error = clustered_error(
        [score.value or 0.0 for score in scores], [score.sample for score in scores], finite=True
    )
    assert overall.high - overall.mean == pytest.approx(student(9) * error, rel=0.05)


def test_random_numbers_do_not_depend_on_how_many_are_taken_at_once() -> None:
    whole = uniform(SEED, first=0, draws=4, size=11)
    assert (whole[2:] == uniform(SEED, first=2, draws=2, size=11)).all()


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0000005, 0.0), (0.0000015, 0.000002), (-0.0, 0.0), (1 / 3, 0.333333)]
)
def test_published_figures_have_six_decimals(value: float, shown: float) -> None:
    assert published(value) == shown


def test_quantiles_are_linear() -> None:
    assert quantile([0.0, 1.0, 2.0, 3.0], 0.5) == 1.5


def test_the_clustered_errors_match_the_vector() -> None:
    vector = shared_json("metric_vectors", "vec_misc.json")["clustered"]
    scores, clusters = vector["scores"], vector["clusters"]
    assert naive_error(scores) == close(vector["se_naive_ddof1"])
    assert clustered_error(scores, clusters) == close(vector["se_clustered_miller"])
    assert clustered_error(scores, clusters, finite=True) == close(vector["se_clustered_finite"])


def test_wilson_and_judge_bias_match_the_vectors() -> None:
    vectors = shared_json("metric_vectors", "vec_locomo.json")
    for case in vectors["wilson"]:
        assert wilson(case["k"], case["n"]) == (close(case["lo"]), close(case["hi"]))
    bias = vectors["rogan_gladen"]
    found = rogan_gladen(bias["p_hat"], sensitivity=bias["q1"], specificity=bias["q0"])
    assert found == close(bias["theta"])


@pytest.fixture(scope="module")
def audits() -> dict[str, list[AskScore]]:
    """Majority votes of four recorded systems; a conversation is a cluster."""
    return {name: _majorities(shared_json("locomo_audit", f"{file}.json")) for name, file in AUDITS.items()}


def _majorities(recorded: Any) -> list[AskScore]:
    return [
        AskScore(
            ask=row["question_id"],
            question=row["question_id"],
            sample=user,
            dataset="locomo",
            capability="A",
            value=float(sum(row["llm_judgments"].values()) >= 2),
        )
        for user, rows in recorded["detailed_results"].items()
        for row in rows
    ]


def test_paired_errors_match_the_vectors(audits: dict[str, list[AskScore]]) -> None:
    for pair in shared_json("metric_vectors", "vec_rank.json")["pairs"]:
        first, second = audits[pair["a"]], audits[pair["b"]]
        differences = [(a.value or 0.0) - (b.value or 0.0) for a, b in zip(first, second, strict=True)]
        test = mcnemar([bool(a.value) for a in first], [bool(b.value) for b in second])
        assert sum(differences) / len(differences) == close(pair["diff"])
        assert naive_error(differences) == close(pair["se_paired"])
        assert clustered_error(differences, [a.sample for a in first]) == close(pair["se_paired_clustered"])
        assert (test.only_first, test.only_second) == (pair["n10"], pair["n01"])
        assert test.p == pytest.approx(pair["mcnemar_exact_p"], rel=1e-9)


def test_fleiss_kappa_matches_the_recorded_votes() -> None:
    expected = shared_json("metric_vectors", "vec_locomo.json")["aggregates"]["fc-4.1mini-cot"]
    recorded = shared_json("locomo_audit", "fc_gpt-4.1-mini-cot.json")["detailed_results"]
    votes = [list(row["llm_judgments"].values()) for rows in recorded.values() for row in rows]
    assert fleiss_kappa(votes) == close(expected["fleiss_kappa"])


def test_rank_ranges_match_the_vector(audits: dict[str, list[AskScore]]) -> None:
    expected = shared_json("metric_vectors", "vec_rank.json")["bootstrap"]
    found = rank_ranges(audits, capabilities=ONE, seed=SEED)
    assert found == {name: RankRange(*expected[name]["rank_ci"]) for name in audits}


def test_paired_difference_is_tighter_than_two_intervals(audits: dict[str, list[AskScore]]) -> None:
    sure = paired_difference(audits["fc41"], audits["memos41"], capabilities=ONE, seed=SEED)
    tied = paired_difference(audits["memos41"], audits["fc4o"], capabilities=ONE, seed=SEED)
    assert sure.mean == pytest.approx(0.105844, abs=1e-6)
    assert sure.low > 0
    assert tied.low < 0 < tied.high


def test_paired_difference_needs_the_same_asks() -> None:
    with pytest.raises(ValueError, match="same asks"):
        paired_difference(ask_scores([1, 1]), ask_scores([1]), capabilities=ONE, seed=SEED)


def test_equal_systems_are_never_told_apart() -> None:
    scores = spread(20)
    assert separated({"a": scores, "b": scores, "c": scores}, capabilities=ONE, seed=SEED) == frozenset()


def test_equal_published_scores_share_a_rank() -> None:
    assert ranks({"a": 0.5, "b": 0.6, "c": 0.5, "d": 0.4}) == {"a": 2, "b": 1, "c": 2, "d": 4}


def test_a_tie_group_ends_at_the_first_row_told_from_its_first() -> None:
    scores = {"a": 0.9, "b": 0.8, "c": 0.7}
    assert tie_groups(scores, separated={("a", "c")}) == {"a": 1, "b": 1, "c": 2}


def test_standings_run_downwards_with_their_rank_ranges() -> None:
    rows = standings({"x": 0.2, "y": 0.9, "z": 0.8}, separated={("y", "x"), ("z", "x")})
    assert [(row.name, row.rank, row.group) for row in rows] == [("y", 1, 1), ("z", 2, 1), ("x", 3, 2)]
    assert [row.rank_range for row in rows] == [RankRange(1, 2), RankRange(1, 2), RankRange(3, 3)]


def test_capabilities_without_asks_leave_no_overall() -> None:
    capabilities: list[Capability] = TWO
    result = aggregate(ask_scores([1]), capabilities=capabilities, planned={"A": 1}, seed=SEED)
    assert result.overall is None
