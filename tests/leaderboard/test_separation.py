"""Which rows can be told apart, from the sums that a board keeps."""

from __future__ import annotations

import random

import pytest

from benchmarks.types import Capability, Title
from evaluations.engine.aggregate import cells_of
from evaluations.engine.comparing import separated, separation
from evaluations.engine.types import AskScore
from leaderboard.builder import pack_cells, unpack_cells

WEIGHTS = {"a": 0.5, "b": 0.5}
SYSTEMS = {"good": 0.9, "twin": 0.88, "poor": 0.3}


def scores(share: float, *, samples: int = 40) -> list[AskScore]:
    generator = random.Random(f"{share}")
    return [
        AskScore(f"{n}-{c}-{k}", f"{n}-{c}-{k}", f"s{n}", "d", c, float(generator.random() < share))
        for n in range(samples)
        for c in WEIGHTS
        for k in range(4)
    ]


def test_sums_tell_the_same_rows_apart_as_single_asks_do() -> None:
    systems = {name: scores(share) for name, share in SYSTEMS.items()}
    title = Title(en="x", zh="x")
    capabilities = [Capability(id=name, title=title, rubric=title, weight=w) for name, w in WEIGHTS.items()]
    from_asks = separated(systems, capabilities=capabilities, seed="s")
    from_sums = separation(
        {name: cells_of(rows) for name, rows in systems.items()}, weights=WEIGHTS, seed="s"
    )
    assert from_sums.pairs == from_asks == {("good", "poor"), ("twin", "poor")}


def test_the_floor_lies_between_what_ties_and_what_is_told_apart() -> None:
    systems = {name: cells_of(scores(share)) for name, share in SYSTEMS.items()}
    floor = separation(systems, weights=WEIGHTS, seed="s").floor
    assert floor is not None
    assert 0.02 < floor < 0.5


def test_one_row_has_no_floor() -> None:
    assert separation({"good": cells_of(scores(0.9))}, weights=WEIGHTS, seed="s").floor is None


def test_rows_over_other_asks_are_refused() -> None:
    systems = {"a": cells_of(scores(0.9)), "b": cells_of(scores(0.9, samples=39))}
    with pytest.raises(ValueError, match="same asks"):
        separation(systems, weights=WEIGHTS, seed="s")


def test_cells_come_back_from_a_row_as_they_went_in() -> None:
    cells = cells_of(scores(0.7))
    assert unpack_cells(pack_cells(cells)) == cells
