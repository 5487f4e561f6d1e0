"""From bootstrap draws to 95 % intervals (packs.md, "Aggregating")."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import stdtrit

from evaluations.engine.draws import Floats
from evaluations.engine.types import Interval

FEW_CLUSTERS = 30
TAIL = 0.025
NORMAL_975 = 1.959963984540054
DIGITS = 6


def published(value: float) -> float:
    """Rounded half-even to 6 decimals; -0.0 becomes 0.0."""
    return round(value, DIGITS) + 0.0


def student(degrees: int) -> float:
    """The 97.5 % quantile of Student's t."""
    return float(stdtrit(degrees, 1 - TAIL))


def quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between the two nearest of ``ordered`` (Hyndman and Fan's type 7)."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def deviation(draws: Floats) -> float:
    """Standard deviation of the draws with exact sums."""
    values = draws.tolist()
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def finite_factor(clusters: int, strata: int) -> float:
    """What makes the bootstrap's deviation unbiased: each data set has lost one degree of freedom."""
    return math.sqrt(clusters / (clusters - strata))


def interval(
    mean: float, draws: Floats | None, *, clusters: int, strata: int, bounds: tuple[float, float] = (0.0, 1.0)
) -> Interval:
    """The 2.5 % and 97.5 % quantiles; below 30 clusters the mean ± t times the standard error.

    With no cluster to spare in any data set nothing is known of the spread, and the interval is
    the whole range.
    """
    lowest, highest = bounds
    free = clusters - strata
    if draws is None or free < 1:
        return Interval(published(mean), lowest, highest)
    if clusters < FEW_CLUSTERS:
        reach = student(free) * deviation(draws) * finite_factor(clusters, strata)
        low, high = mean - reach, mean + reach
    else:
        ordered = sorted(draws.tolist())
        low, high = quantile(ordered, TAIL), quantile(ordered, 1 - TAIL)
    return Interval(published(mean), published(max(low, lowest)), published(min(high, highest)))
