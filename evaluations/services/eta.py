"""Rate and time left from samples of progress. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Sample = Sequence[object]  # [Unix time, {kind: units that are final}]


@dataclass(frozen=True, slots=True)
class Pace:
    """``rate`` a second; seconds left, most likely and between ``low`` and ``high``. None while unknown."""

    rate: float | None = None
    eta: float | None = None
    low: float | None = None
    high: float | None = None


def pace_of(samples: Sequence[Sample], *, kind: str, left: int) -> Pace:
    """Over all samples kept; the spread comes from the slowest and the fastest third of the steps between."""
    points = [(_time(sample), _count(sample, kind)) for sample in samples]
    points = [point for index, point in enumerate(points) if index == 0 or point[0] > points[index - 1][0]]
    if len(points) < 2:
        return Pace()
    rate = (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])
    if rate <= 0:
        return Pace(rate=0.0 if rate == 0 else None)
    slow, fast = _spread(points, rate)
    return Pace(rate=rate, eta=left / rate, low=left / fast, high=left / slow)


def _spread(points: Sequence[tuple[float, int]], rate: float) -> tuple[float, float]:
    steps = sorted(
        (after[1] - before[1]) / (after[0] - before[0]) for before, after in itertools.pairwise(points)
    )
    third = max(1, len(steps) // 3)
    slow = sum(steps[:third]) / third
    fast = sum(steps[-third:]) / third
    # A step without any progress would make the time left endless; half the mean rate is slow enough.
    return max(slow, rate / 2), max(fast, rate)


def _time(sample: Sample) -> float:
    when = sample[0]
    return float(when) if isinstance(when, int | float) else 0.0


def _count(sample: Sample, kind: str) -> int:
    done = sample[1]
    count = done.get(kind, 0) if isinstance(done, Mapping) else 0
    return int(count)
