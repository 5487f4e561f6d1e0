"""The sizes that ship, and how many asks and sessions each sample of one gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.packs.capabilities import TEXTUAL_CAPABILITIES
from benchmarks.packs.textual.seeds import rng
from benchmarks.types import Visibility

STREAMING, STREAMING_BUNCH = "S", 3


@dataclass(frozen=True, slots=True)
class Size:
    """``spread`` is the sigma of the log-normal lengths: 0 gives equal samples."""

    name: str
    seed: str
    title: str
    visibility: Visibility
    samples: int
    adds: int
    asks: int
    spread: float
    fewest_adds: int


TINY = Size("textual-tiny", "garden", "Textual, tiny", Visibility.PUBLIC, 8, 60, 72, 0.15, 6)
DEMO = Size("textual-demo", "harbour", "Textual, demo", Visibility.PRIVATE, 40, 500, 480, 0.35, 6)
SMOKE = Size("textual-smoke", "lantern", "Textual, smoke", Visibility.PUBLIC, 3, 16, 24, 0.0, 5)
LOAD = Size("textual-load", "quarry", "Textual, load", Visibility.PRIVATE, 610, 47_000, 6_300, 1.0, 8)
SIZES: dict[str, Size] = {size.name: size for size in (TINY, DEMO, SMOKE, LOAD)}


def add_counts(size: Size) -> list[int]:
    """Adds by sample; they sum to ``size.adds``."""
    random = rng(size.seed, "lengths")
    raw = [random.lognormvariate(0, size.spread) if size.spread else 1.0 for _ in range(size.samples)]
    spare = size.adds - size.fewest_adds * size.samples
    return [size.fewest_adds + extra for extra in _shares(raw, total=spare)]


def _shares(weights: Sequence[float], *, total: int) -> list[int]:
    """Whole numbers in proportion to ``weights`` that sum to ``total`` (largest remainders)."""
    scale = total / sum(weights)
    exact = [weight * scale for weight in weights]
    whole = [int(value) for value in exact]
    order = sorted(range(len(exact)), key=lambda index: (whole[index] - exact[index], index))
    for index in order[: total - sum(whole)]:
        whole[index] += 1
    return whole


def ask_counts(size: Size) -> list[dict[str, int]]:
    """Asks by sample and capability; every capability gets the same number, to within one.

    Streaming comes in threes: its point is the same question at several moments of one history.
    """
    names = TEXTUAL_CAPABILITIES
    totals = _shares([1.0] * len(names), total=size.asks)
    counts: list[dict[str, int]] = [dict.fromkeys(names, 0) for _ in range(size.samples)]
    for offset, (name, total) in enumerate(zip(names, totals, strict=True)):
        for turn in range(total):
            # Each capability starts at another sample, so that the odd ones spread out.
            place = turn // STREAMING_BUNCH if name == STREAMING else turn
            counts[(place + offset * 3) % size.samples][name] += 1
    return counts
