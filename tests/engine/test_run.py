from __future__ import annotations

from pathlib import Path

from evaluations.engine.contract import Limits
from evaluations.engine.errors import Code, failure
from evaluations.engine.journal import read_journal
from evaluations.engine.run import RunSettings
from evaluations.engine.types import AskScore, Failure, Fault
from tests.engine.local import LocalMemory, LocalModel, refused, run_locally, unavailable
from tests.engine.samples import sample

SAMPLES = tuple(sample(f"s{number}", "+?++??+?") for number in range(6))


def values(scores: dict[str, AskScore]) -> dict[str, float | None]:
    return {ask: score.value for ask, score in scores.items()}


def test_a_run_asks_everything_at_its_own_moment(tmp_path: Path) -> None:
    _, scores = run_locally(tmp_path, *SAMPLES, memory=LocalMemory())
    # Only the first ask comes when blue0 is still the newest fact.
    assert values(scores) == {
        f"s{number}-a{ask}": float(ask == 1) for number in range(6) for ask in range(1, 5)
    }


def test_every_unit_is_one_record(tmp_path: Path) -> None:
    run_locally(tmp_path, *SAMPLES, memory=LocalMemory())
    records = list(read_journal(tmp_path / "journal.jsonl"))
    keys = {(record["lane"], record["position"]) for record in records}
    assert len(records) == len(keys) == 6 * (4 + 4 + 4)


def test_a_service_that_is_down_for_a_while_changes_no_score(tmp_path: Path) -> None:
    def down(_operation: str, number: int) -> Failure | None:
        return unavailable() if 5 <= number < 40 else None

    quiet, noisy = tmp_path / "quiet", tmp_path / "noisy"
    quiet.mkdir()
    noisy.mkdir()
    _, undisturbed = run_locally(quiet, *SAMPLES, memory=LocalMemory())
    memory = LocalMemory(fail=down)
    run, scores = run_locally(noisy, *SAMPLES, memory=memory)
    assert run.stopped is None
    assert scores == undisturbed
    assert max(memory.deliveries.values()) > 1


def test_a_final_failed_add_closes_its_lane_and_no_other(tmp_path: Path) -> None:
    def refuse(_operation: str, number: int) -> Failure | None:
        return refused() if number == 1 else None

    _, scores = run_locally(tmp_path, *SAMPLES, memory=LocalMemory(fail=refuse))
    failed = {ask for ask, score in scores.items() if score.failed_by is Fault.PARTICIPANT}
    assert failed == {f"s0-a{ask}" for ask in range(1, 5)}
    assert {scores[ask].value for ask in failed} == {0.0}


def test_a_final_failed_search_is_zero_for_its_ask_only(tmp_path: Path) -> None:
    def refuse(operation: str, number: int) -> Failure | None:
        return refused() if operation == "search" and number < 9 else None

    memory = LocalMemory(fail=refuse)
    _, scores = run_locally(tmp_path, sample("s", "+??"), memory=memory)
    assert all(score.failed_by is Fault.PARTICIPANT for score in scores.values())
    assert {score.reason for score in scores.values()} == {"REQUEST_INVALID"}


def test_a_provider_that_is_down_for_a_while_changes_no_score(tmp_path: Path) -> None:
    def down(_operation: str, number: int) -> Failure | None:
        return failure(Code.MODEL_OUTAGE, sentence="down", retryable=True) if number < 30 else None

    _, scores = run_locally(tmp_path, *SAMPLES, memory=LocalMemory(), model=LocalModel(fail=down))
    assert sum(score.value or 0 for score in scores.values()) == 6


def test_a_provider_that_stays_down_leaves_asks_open_and_never_zero(tmp_path: Path) -> None:
    def down(_operation: str, _number: int) -> Failure | None:
        return failure(Code.MODEL_CREDIT, sentence="no credit", retryable=True)

    settings = RunSettings(model_attempts=2)
    model = LocalModel(fail=down)
    _, scores = run_locally(tmp_path, *SAMPLES, memory=LocalMemory(), model=model, settings=settings)
    assert {score.value for score in scores.values()} == {None}
    assert {score.failed_by for score in scores.values()} == {None}


def test_a_resumed_run_goes_on_without_asking_the_service_again(tmp_path: Path) -> None:
    def down(_operation: str, _number: int) -> Failure | None:
        return failure(Code.MODEL_OUTAGE, sentence="down", retryable=True)

    first = RunSettings(model_attempts=1)
    run_locally(tmp_path, *SAMPLES, memory=LocalMemory(), model=LocalModel(fail=down), settings=first)
    memory = LocalMemory()
    _, scores = run_locally(tmp_path, *SAMPLES, memory=memory)
    assert memory.calls == 0
    assert sum(score.value or 0 for score in scores.values()) == 6


def test_a_reply_of_the_judge_without_a_verdict_is_unscored_after_a_few_attempts(tmp_path: Path) -> None:
    _, scores = run_locally(tmp_path, *SAMPLES, memory=LocalMemory(), scorer="judge_binary")
    assert {score.reason for score in scores.values()} == {"JUDGE_UNPARSABLE"}
    assert {score.value for score in scores.values()} == {None}


def test_a_service_that_never_comes_back_ends_the_run_with_a_reason(tmp_path: Path) -> None:
    settings = RunSettings(limits=Limits(outage_end=20.0))
    memory = LocalMemory(fail=lambda _operation, _number: unavailable())
    run, scores = run_locally(tmp_path, *SAMPLES, memory=memory, settings=settings)
    assert run.stopped is not None
    assert {score.value for score in scores.values()} == {None}


def test_a_killed_call_is_sent_again_under_the_same_id(tmp_path: Path) -> None:
    memory = LocalMemory()
    run_locally(tmp_path, *SAMPLES, memory=memory)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:20]))
    _, scores = run_locally(tmp_path, *SAMPLES, memory=memory)
    assert set(memory.deliveries.values()) == {1, 2}
    assert sum(score.value or 0 for score in scores.values()) == 6
