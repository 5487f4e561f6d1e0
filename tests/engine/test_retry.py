"""The retry table and the counting rules, with time and jitter given."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluations.engine.contract import RETRY_TABLE, Decision, Limits
from evaluations.engine.errors import Code, failure
from evaluations.engine.retry import CallHistory, Stop, StopReason, Wait, decide
from evaluations.engine.types import Failure, Operation

LIMITS = Limits()
ADD, SEARCH = Operation.ADD, Operation.SEARCH


def fail(code: Code = Code.SERVER_ERROR, **fields: Any) -> Failure:
    return failure(code, sentence="It failed.", retryable=True, **fields)


def again(history: CallHistory | None = None, **changed: Any) -> Wait | Stop:
    given: dict[str, Any] = {
        "history": history or CallHistory(),
        "failure": fail(),
        "operation": ADD,
        "now": 1000.0,
        "run_successes": 0,
        "limits": LIMITS,
        "jitter": 0.5,
    }
    return decide(**{**given, **changed})


@pytest.mark.parametrize("operation", [ADD, SEARCH])
@pytest.mark.parametrize("row", RETRY_TABLE.values(), ids=lambda row: row.when[:20])
def test_every_row_of_the_table_is_what_happens_to_a_first_failure(row: Any, operation: Operation) -> None:
    for code in row.codes:
        answer = again(failure=fail(code), operation=operation)
        assert isinstance(answer, Wait) == (row.decision(operation) is Decision.RETRY), code


def failures(*, count: int, operation: Operation, successes_between: int) -> list[Wait | Stop]:
    answers: list[Wait | Stop] = []
    history = CallHistory()
    for number in range(count):
        seen = (number + 1) * successes_between
        answers.append(again(history, operation=operation, run_successes=seen, now=1000.0 + number))
        history = answers[-1].history
    return answers


@pytest.mark.parametrize(("operation", "attempts"), [(ADD, 32), (SEARCH, 6)])
def test_a_call_that_fails_while_others_succeed_uses_up_its_attempts(
    operation: Operation, attempts: int
) -> None:
    answers = failures(count=attempts, operation=operation, successes_between=1)
    assert all(isinstance(answer, Wait) for answer in answers[:-1])
    last = answers[-1]
    assert isinstance(last, Stop)
    assert last.reason is StopReason.ATTEMPTS


def test_an_outage_uses_up_nothing() -> None:
    answers = failures(count=200, operation=SEARCH, successes_between=0)
    assert all(isinstance(answer, Wait) and answer.history.attempts == 0 for answer in answers)


def test_an_outage_amid_a_run_counts_once() -> None:
    history = CallHistory()
    for _ in range(50):
        history = again(
            history, operation=SEARCH, run_successes=77, failure=fail(Code.CONNECT_REFUSED)
        ).history
    assert history.attempts == 1


def test_a_429_never_counts() -> None:
    history = CallHistory()
    for number in range(100):
        answer = again(history, operation=SEARCH, run_successes=number, failure=fail(Code.RATE_LIMITED))
        assert isinstance(answer, Wait)
        history = answer.history
    assert history.attempts == 0


@pytest.mark.parametrize(("seconds", "stops"), [(1700, False), (1900, True)])
def test_the_same_5xx_32_times_ends_a_call_only_after_half_an_hour(seconds: float, stops: bool) -> None:
    history = CallHistory()
    for number in range(32):
        answer = again(history, failure=fail(status=500), now=number * seconds / 31)
        history = answer.history
    assert isinstance(answer, Stop) == stops
    assert not stops or answer == Stop(history=history, reason=StopReason.POISONED)


def test_different_5xx_are_counted_apart() -> None:
    history = CallHistory()
    for number in range(60):
        answer = again(history, failure=fail(status=500 + number % 2), now=number * 60.0)
        history = answer.history
    assert isinstance(answer, Wait)


def test_a_first_409_is_final() -> None:
    answer = again(failure=fail(Code.CONFLICT, status=409))
    assert isinstance(answer, Stop)
    assert answer.reason is StopReason.FINAL


@pytest.mark.parametrize(("reached", "kind"), [(True, Wait), (False, Stop)])
def test_a_409_is_retried_if_an_earlier_attempt_may_have_arrived(reached: bool, kind: type) -> None:
    first = again(failure=fail(Code.CONNECTION_LOST, reached=reached))
    assert isinstance(again(first.history, failure=fail(Code.CONFLICT)), kind)


def test_a_409_of_a_search_is_final() -> None:
    first = again(operation=SEARCH)
    assert isinstance(again(first.history, operation=SEARCH, failure=fail(Code.CONFLICT)), Stop)


@pytest.mark.parametrize(("seconds", "kind"), [(599, Wait), (600, Stop)])
def test_a_409_is_retried_for_ten_minutes(seconds: float, kind: type) -> None:
    history = again().history
    history = again(history, failure=fail(Code.CONFLICT), now=2000.0).history
    answer = again(history, failure=fail(Code.CONFLICT), now=2000.0 + seconds)
    assert isinstance(answer, kind)


@pytest.mark.parametrize(
    ("code", "asked", "low", "high"),
    [
        (Code.SERVER_ERROR, 7.0, 7.0, 7.5),
        (Code.SERVER_ERROR, 3600.0, 60.0, 60.5),
        (Code.RATE_LIMITED, 0.2, 0.2, 0.7),
        (Code.RATE_LIMITED, None, 60.0, 60.5),
        (Code.SERVER_ERROR, None, 0.5, 1.0),
    ],
)
def test_the_wait_honours_retry_after_up_to_its_cap(
    code: Code, asked: float | None, low: float, high: float
) -> None:
    waits = [again(failure=fail(code, retry_after=asked), jitter=jitter) for jitter in (0.0, 0.999)]
    assert all(isinstance(wait, Wait) and low <= wait.seconds <= high for wait in waits)


def test_back_off_grows_to_its_cap_and_no_further() -> None:
    history = CallHistory()
    waits = []
    for _ in range(2000):
        answer = again(history, jitter=0.999999)
        assert isinstance(answer, Wait)
        waits.append(answer.seconds)
        history = answer.history
    assert waits[:3] == pytest.approx([1.0, 2.0, 4.0], rel=0.01)
    assert max(waits) <= 60.0
    assert waits[-1] == pytest.approx(60.0, rel=0.01)


def test_a_providers_failure_follows_its_own_flag_and_never_counts() -> None:
    outage = failure(Code.MODEL_OUTAGE, sentence="No answer.", retryable=True)
    refused = failure(Code.MODEL_REFUSED, sentence="Refused.", retryable=False)
    waiting = again(failure=outage, operation=SEARCH, run_successes=9)
    assert isinstance(waiting, Wait)
    assert waiting.history.attempts == 0
    assert isinstance(again(failure=refused), Stop)


def test_a_history_survives_json() -> None:
    history = again(failure=fail(status=503), run_successes=3).history
    history = again(history, failure=fail(Code.CONFLICT)).history
    assert CallHistory.from_json(json.loads(json.dumps(history.to_json()))) == history
    assert CallHistory.from_json({}) == CallHistory()
