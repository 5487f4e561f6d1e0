"""Retrieval measures: diagnostics beside a score, never in its column (scoring.md, 1.3)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from benchmarks.scorers.lexical import normalise

QUOTED_SHARE = 0.6
SHINGLE = 3


@dataclass(frozen=True, slots=True)
class Retrieval:
    """At cut k, but ``mrr`` and ``ap`` see the whole list; ``ndcg_lme`` is LongMemEval's variant."""

    recall_any: float
    recall_all: float
    recall: float
    precision: float
    mrr: float
    ap: float
    ndcg: float
    ndcg_lme: float


def retrieval(ranked: Sequence[str], gold: Collection[str], *, k: int) -> Retrieval:
    """Measures of one ranked list; ``gold`` must not be empty (abstention items are left out and counted)."""
    if not gold:
        raise ValueError("an item without gold has no retrieval measure")
    hits = [item in gold for item in ranked]
    top = hits[:k]
    found = sum(top)
    ideal = [True] * min(len(gold), k)
    return Retrieval(
        recall_any=float(found > 0),
        recall_all=float(set(gold) <= set(ranked[:k])),
        recall=found / len(gold),
        precision=found / k,
        mrr=next((1 / place for place, hit in enumerate(hits, 1) if hit), 0.0),
        ap=_precision_sum(hits) / len(gold),
        ndcg=_gain(top) / _gain(ideal),
        ndcg_lme=_gain_lme(top) / _gain_lme(ideal),
    )


def _precision_sum(hits: Sequence[bool]) -> float:
    return math.fsum(sum(hits[:place]) / place for place, hit in enumerate(hits, 1) if hit)


def _gain(hits: Sequence[bool]) -> float:
    return math.fsum(1 / math.log2(place + 1) for place, hit in enumerate(hits, 1) if hit)


def _gain_lme(hits: Sequence[bool]) -> float:
    """The first two places weigh the same."""
    return math.fsum(1 / math.log2(max(place, 2)) for place, hit in enumerate(hits, 1) if hit)


def quoted(source: str, items: Sequence[str]) -> bool:
    """True if one of ``items`` holds 60 % of the source's word trigrams: it brings back what was said.

    A source of fewer than three words must stand whole in an item.
    """
    wanted = _shingles(source)
    return bool(wanted) and any(
        len(wanted & _shingles(item, size=min(SHINGLE, _words(source)))) >= QUOTED_SHARE * len(wanted)
        for item in items
    )


def _words(text: str) -> int:
    return len(normalise(text).split())


def _shingles(text: str, *, size: int | None = None) -> set[tuple[str, ...]]:
    words = normalise(text).split()
    width = size or min(SHINGLE, len(words))
    return (
        {tuple(words[start : start + width]) for start in range(len(words) - width + 1)} if width else set()
    )
