import pytest

from evaluations.engine.outcome import AskCounts, Outcome, count_asks, outcome
from evaluations.engine.types import AskScore, Fault


@pytest.mark.parametrize(
    ("zeros", "expected"),
    [
        (0, Outcome.SUCCEEDED),
        (5, Outcome.SUCCEEDED),
        (6, Outcome.PARTIAL),
        (200, Outcome.PARTIAL),
        (201, Outcome.FAILED),
        (1000, Outcome.FAILED),
    ],
)
def test_the_share_of_zeros_by_failure_decides(zeros: int, expected: Outcome) -> None:
    counts = AskCounts(planned=1000, scored=1000 - zeros, zero_by_failure=zeros)
    assert outcome(counts) is expected


def test_an_open_ask_leaves_the_run_undecided() -> None:
    assert outcome(AskCounts(planned=10, scored=9, zero_by_failure=0)) is None


def test_nothing_planned_is_no_success() -> None:
    assert outcome(AskCounts(planned=0, scored=0, zero_by_failure=0)) is None


def test_thresholds_are_the_cycles() -> None:
    counts = AskCounts(planned=10, scored=9, zero_by_failure=1)
    assert outcome(counts, succeeded_up_to=0.1) is Outcome.SUCCEEDED
    assert outcome(counts, partial_up_to=0.05) is Outcome.FAILED


def test_wrong_answers_are_scored_and_failures_are_not() -> None:
    def score(value: float | None, failed_by: Fault | None = None) -> AskScore:
        return AskScore("a", "q", "s", "d", "A", value, failed_by=failed_by)

    counts = count_asks([score(0.0), score(0.0, Fault.PARTICIPANT), score(None)], planned=4)
    assert (counts.scored, counts.zero_by_failure, counts.open) == (1, 1, 2)
