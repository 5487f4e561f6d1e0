"""The bootstrap's draws: samples resampled within their data set, the same on every machine.

Indices come from SHA-256 in counter mode over the contract hash and integer arithmetic; sums are
integers. So anyone's recomputation agrees to the digit.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

DRAWS = 4_000
SCALE = 2**32  # cluster sums as integers: products and sums of them are exact in any order
_BLOCK_CELLS = 8_000_000
_MOST_DRAWS = 2_000_000

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Clusters:
    """Samples with their data set, sorted; ``counts`` and ``sums`` are samples × capabilities."""

    samples: tuple[tuple[str, str], ...]  # (data set, sample)
    counts: Ints
    sums: Ints  # in units of 1 / SCALE


Key = tuple[str, str, str]  # (data set, sample, capability)


def clusters_of(values: Mapping[Key, Sequence[float]], *, capabilities: Sequence[str]) -> Clusters:
    """From every ask's value; samples keep their place by name, as comparing systems needs it."""
    totals = {key: (len(scores), math.fsum(scores)) for key, scores in values.items()}
    return clusters_from_sums(totals, capabilities=capabilities)


def clusters_from_sums(
    totals: Mapping[Key, tuple[int, float]], *, capabilities: Sequence[str], by_content: bool = False
) -> Clusters:
    """From count and sum of each cell; their order plays no part.

    ``by_content`` sorts a data set's samples by their figures instead of their names, so that the same
    draws come from a public bundle, in which the names are salted.
    """
    samples = tuple(sorted({(dataset, sample) for dataset, sample, _ in totals}))
    row = {sample: index for index, sample in enumerate(samples)}
    column = {capability: index for index, capability in enumerate(capabilities)}
    counts = np.zeros((len(samples), len(capabilities)), dtype=np.int64)
    sums = np.zeros_like(counts)
    for (dataset, sample, capability), (count, total) in totals.items():
        place = row[dataset, sample], column[capability]
        counts[place] = count
        sums[place] = round(total * SCALE)
    found = Clusters(samples, counts, sums)
    return _sorted_by_content(found) if by_content else found


def _sorted_by_content(found: Clusters) -> Clusters:
    def key(index: int) -> tuple[str, list[int], list[int]]:
        return found.samples[index][0], found.counts[index].tolist(), found.sums[index].tolist()

    order = sorted(range(len(found.samples)), key=key)
    return Clusters(tuple(found.samples[index] for index in order), found.counts[order], found.sums[order])


def uniform(seed: str, *, first: int, draws: int, size: int) -> Ints:
    """Uniform 32-bit integers, draws × ``size``, for the draws from number ``first`` on.

    Draw n reads the digests n·d to (n + 1)·d - 1 of SHA-256(seed ‖ 64-bit counter), big-endian,
    eight integers to a digest, where d = ⌈size / 8⌉; what is left of the last one is not used.
    """
    per_draw = -(-size // 8)
    start = hashlib.sha256(seed.encode())
    counters = range(first * per_draw, (first + draws) * per_draw)
    data = b"".join(_digest(start, counter) for counter in counters)
    return np.frombuffer(data, dtype=">u4").reshape(draws, per_draw * 8)[:, :size].astype(np.int64)


def _digest(start: Hash, counter: int) -> bytes:
    state = start.copy()
    state.update(counter.to_bytes(8, "big"))
    return state.digest()


def _strata(samples: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """First place and size of each data set's run of samples."""
    starts = [
        index for index, sample in enumerate(samples) if index == 0 or samples[index - 1][0] != sample[0]
    ]
    return [(start, end - start) for start, end in zip(starts, [*starts[1:], len(samples)], strict=True)]


def _weights(numbers: Ints, *, strata: Sequence[tuple[int, int]]) -> Ints:
    """How often each sample was drawn, draws × samples: a number picks from its own data set."""
    draws, size = numbers.shape
    chosen = np.empty_like(numbers)
    for start, length in strata:
        block = slice(start, start + length)
        chosen[:, block] = start + (numbers[:, block] * length >> 32)
    flat = chosen + np.arange(draws, dtype=np.int64)[:, None] * size
    return np.bincount(flat.ravel(), minlength=draws * size).reshape(draws, size).astype(np.int64)


def _blocks(clusters: Clusters, *, seed: str) -> Iterator[Ints]:
    size, strata = len(clusters.samples), _strata(clusters.samples)
    block = max(1, min(DRAWS, _BLOCK_CELLS // size))  # memory stays flat with many samples
    for first in range(0, _MOST_DRAWS, block):
        yield _weights(uniform(seed, first=first, draws=block, size=size), strata=strata)


def draw(clusters: Clusters, *, seed: str, draws: int = DRAWS) -> Ints | None:
    """Weights of ``draws`` draws in which every capability has an ask; others are drawn again.

    None where such draws are too rare to be found in two million: then no interval is known.
    """
    found: list[Ints] = []
    missing = draws
    for weights in _blocks(clusters, seed=seed):
        valid = weights[(weights @ clusters.counts > 0).all(axis=1)][:missing]
        found.append(valid)
        missing -= len(valid)
        if missing == 0:
            return np.concatenate(found)
    return None


def capability_means(weights: Ints, clusters: Clusters) -> Floats:
    """Mean of each capability in each draw, draws × capabilities."""
    means: Floats = (weights @ clusters.sums) / ((weights @ clusters.counts) * float(SCALE))
    return means


def weighted(means: Floats, weights: Sequence[float]) -> Floats:
    """Overall of each draw; added column by column, so that no library chooses the order."""
    total = np.zeros(means.shape[0])
    for index, weight in enumerate(weights):
        total = total + means[:, index] * weight
    return total
