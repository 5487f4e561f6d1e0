"""Closed-form statistics (scoring.md, 1.8): Wilson, clustered errors, McNemar, Fleiss, judge bias."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from scipy.stats import binomtest

from evaluations.engine.intervals import NORMAL_975


def wilson(successes: int, trials: int, *, z: float = NORMAL_975) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; (0, 1) where nothing was tried."""
    if trials == 0:
        return 0.0, 1.0
    share, spread = successes / trials, z * z / trials
    centre = (share + spread / 2) / (1 + spread)
    reach = z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return max(centre - reach, 0.0), min(centre + reach, 1.0)


def naive_error(scores: Sequence[float]) -> float:
    """Standard error of the mean of independent scores (two or more)."""
    mean = math.fsum(scores) / len(scores)
    variance = math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1)
    return math.sqrt(variance / len(scores))


def clustered_error(scores: Sequence[float], clusters: Sequence[Hashable], *, finite: bool = False) -> float:
    """Standard error with asks of one cluster dependent (Miller, arXiv 2411.00640).

    ``finite`` multiplies by √(C / (C - 1)), which needs two clusters.
    """
    mean = math.fsum(scores) / len(scores)
    grouped: dict[Hashable, list[float]] = defaultdict(list)
    for score, cluster in zip(scores, clusters, strict=True):
        grouped[cluster].append(score - mean)
    error = math.sqrt(math.fsum(math.fsum(rows) ** 2 for rows in grouped.values())) / len(scores)
    return error * math.sqrt(len(grouped) / (len(grouped) - 1)) if finite else error


@dataclass(frozen=True, slots=True)
class McNemar:
    only_first: int
    only_second: int
    p: float


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """Exact two-sided test of paired right and wrong answers."""
    pairs = list(zip(first, second, strict=True))
    n10, n01 = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
    p = float(binomtest(n10, n10 + n01, 0.5).pvalue) if n10 + n01 else 1.0
    return McNemar(n10, n01, p)


def fleiss_kappa(votes: Sequence[Sequence[bool]]) -> float:
    """Agreement of raters who all voted on every item; 1 where nobody ever differed."""
    raters = len(votes[0])
    counts = [(sum(row), raters - sum(row)) for row in votes]
    pairs = raters * (raters - 1)
    agreed = math.fsum((yes * (yes - 1) + no * (no - 1)) / pairs for yes, no in counts) / len(counts)
    share = sum(yes for yes, _ in counts) / (raters * len(counts))
    chance = share**2 + (1 - share) ** 2
    return 1.0 if chance == 1 else (agreed - chance) / (1 - chance)


def rogan_gladen(observed: float, *, sensitivity: float, specificity: float) -> float | None:
    """The share behind an imperfect judge's, clipped to [0, 1]; None for a judge no better than chance."""
    power = sensitivity + specificity - 1
    return min(max((observed + specificity - 1) / power, 0.0), 1.0) if power > 0 else None
