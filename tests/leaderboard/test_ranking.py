"""Ranks, ranges and tie groups."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from leaderboard.ranking import Standing, ranks, standings, tie_groups
from tests.shared_data import shared_json

SCORES = {"a": 0.9, "b": 0.8, "c": 0.79, "d": 0.6}
SEPARATED = frozenset({("a", "b"), ("a", "c"), ("a", "d"), ("b", "d"), ("c", "d")})

boards = st.dictionaries(st.sampled_from("abcdefghij"), st.floats(0, 1), max_size=10)


def test_a_range_holds_the_rows_that_cannot_be_told_from_it() -> None:
    ranges = {one.name: (one.rank_range.best, one.rank_range.worst) for one in _board()}
    assert ranges == {"a": (1, 1), "b": (2, 3), "c": (2, 3), "d": (4, 4)}


def test_a_tie_group_is_read_downwards_from_its_first() -> None:
    assert [one.group for one in _board()] == [1, 2, 2, 3]


def test_a_row_that_ties_with_the_second_only_begins_a_group_of_its_own() -> None:
    groups = tie_groups({"a": 0.9, "b": 0.8, "c": 0.7}, separated={("a", "c")})
    assert groups == {"a": 1, "b": 1, "c": 2}


def test_equal_scores_share_a_rank_and_the_next_one_is_skipped() -> None:
    assert ranks({"a": 0.5, "b": 0.7, "c": 0.5, "d": 0.1}) == {"b": 1, "a": 2, "c": 2, "d": 4}


def test_an_empty_board_has_no_standing() -> None:
    assert standings({}, separated=()) == []


@given(boards)
def test_the_order_of_ranks_is_the_order_of_scores(scores: dict[str, float]) -> None:
    board = standings(scores, separated=())
    assert [one.score for one in board] == sorted(scores.values(), reverse=True)
    assert [one.rank for one in board] == sorted(one.rank for one in board)


@given(boards, st.data())
def test_every_rank_lies_in_its_range(scores: dict[str, float], data: st.DataObject) -> None:
    pairs = [(a, b) for a in scores for b in scores if scores[a] > scores[b]]
    separated = data.draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    for one in standings(scores, separated=separated):
        assert one.rank_range.best <= one.rank <= one.rank_range.worst


def test_the_reference_vector_has_these_ranges() -> None:
    vector = shared_json("metric_vectors", "vec_rank.json")
    names = list(vector["bootstrap"])
    scores = {name: vector["mean"][name] for name in names}
    separated = {
        (pair["a"], pair["b"])
        for pair in vector["pairs"]
        if pair["a"] in names and pair["b"] in names and pair["diff"] > 2.57 * pair["se_paired_clustered"]
    }
    ranges = {
        one.name: [one.rank_range.best, one.rank_range.worst]
        for one in standings(scores, separated=separated)
    }
    assert ranges == {name: row["rank_ci"] for name, row in vector["bootstrap"].items()}


def _board() -> list[Standing]:
    return standings(SCORES, separated=SEPARATED)
