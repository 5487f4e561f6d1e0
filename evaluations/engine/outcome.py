"""How a run ended, by the share of zeros that the participant's service caused (product.md, rule 7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from evaluations.engine.types import AskScore, Fault

SUCCEEDED_UP_TO = 0.005
PARTIAL_UP_TO = 0.20


class Outcome(StrEnum):
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AskCounts:
    """Every planned ask ends scored, 0 by the participant's failure, or open.

    ``scored`` does not count the zeros by failure; ``open`` holds what has no value yet, unscored
    asks that wait for a reviewer among them.
    """

    planned: int
    scored: int
    zero_by_failure: int

    @property
    def open(self) -> int:
        return self.planned - self.scored - self.zero_by_failure


def count_asks(scores: Iterable[AskScore], *, planned: int) -> AskCounts:
    scored = zeros = 0
    for score in scores:
        if score.failed_by is Fault.PARTICIPANT:
            zeros += 1
        elif score.value is not None:
            scored += 1
    return AskCounts(planned=planned, scored=scored, zero_by_failure=zeros)


def outcome(
    counts: AskCounts, *, succeeded_up_to: float = SUCCEEDED_UP_TO, partial_up_to: float = PARTIAL_UP_TO
) -> Outcome | None:
    """None while an ask is open, or when nothing was planned. Both limits belong to the better side."""
    if counts.open > 0 or counts.planned == 0:
        return None
    share = counts.zero_by_failure / counts.planned
    if share <= succeeded_up_to:
        return Outcome.SUCCEEDED
    return Outcome.PARTIAL if share <= partial_up_to else Outcome.FAILED
