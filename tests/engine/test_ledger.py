from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evaluations.engine.ledger import Job, Ledger
from evaluations.engine.spool import SampleSpool
from evaluations.engine.types import UnitKind
from tests.engine.samples import sample

ADD, SEARCH, ANSWER, JUDGE = UnitKind.ADD, UnitKind.SEARCH, UnitKind.ANSWER, UnitKind.JUDGE


@contextmanager
def ledger(*shapes: str, records: list[dict[str, Any]] | None = None) -> Iterator[Ledger]:
    spool = SampleSpool(sample(f"s{number}", shape) for number, shape in enumerate(shapes))
    made = Ledger(spool, judged=lambda _question: True)
    for record in records or []:
        made.apply(record)
    made.start()
    yield made
    spool.close()


def record(job: Job, **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "lane": job.lane.sample,
        "position": job.unit.position,
        "kind": job.kind,
        "ask": job.unit.ask,
        "state": "done",
        "needs_judge": True,
    }
    return made | fields


def take(made: Ledger, kind: UnitKind, now: float = 0.0) -> Job:
    job = made.take(kind, now=now)
    assert job is not None
    return job


def do(made: Ledger, kind: UnitKind, **fields: Any) -> dict[str, Any]:
    job = take(made, kind)
    done = record(job, **fields)
    made.finish(job, done)
    return done


def test_adds_of_a_lane_come_one_after_the_other() -> None:
    with ledger("++") as made:
        first = take(made, ADD)
        assert made.take(ADD, now=0) is None
        made.finish(first, record(first))
        assert take(made, ADD).unit.event == 1


def test_asks_of_a_step_run_side_by_side_and_an_add_waits_for_all_of_them() -> None:
    with ledger("+??+") as made:
        do(made, ADD)
        one, two = take(made, SEARCH), take(made, SEARCH)
        made.finish(one, record(one))
        assert made.take(ADD, now=0) is None
        made.finish(two, record(two))
        assert take(made, ADD).unit.event == 3


def test_an_add_does_not_wait_for_answers() -> None:
    with ledger("?+") as made:
        do(made, SEARCH)
        assert take(made, ADD).unit.event == 1


def test_the_longest_remaining_lane_comes_first() -> None:
    with ledger("+", "+++", "++") as made:
        assert [take(made, ADD).lane.sample for _ in range(3)] == ["s1", "s2", "s0"]


def test_a_longer_lane_overtakes_one_that_has_begun() -> None:
    with ledger("+++", "+++") as made:
        assert do(made, ADD)["lane"] == "s0"
        assert take(made, ADD).lane.sample == "s1"


def test_an_answer_follows_its_search_and_a_judge_its_answer() -> None:
    with ledger("?") as made:
        assert made.take(ANSWER, now=0) is None
        do(made, SEARCH)
        do(made, ANSWER)
        do(made, JUDGE)
        assert made.finished


def test_a_settled_answer_needs_no_judge() -> None:
    with ledger("?") as made:
        do(made, SEARCH)
        do(made, ANSWER, needs_judge=False)
        assert made.finished
        assert made.progress()[JUDGE].total == 0


def test_a_failed_add_closes_its_lane_only() -> None:
    with ledger("++?", "+?") as made:
        do(made, ADD, state="failed", code="REQUEST_INVALID")
        assert do(made, ADD)["lane"] == "s1"
        assert take(made, SEARCH).lane.sample == "s1"
        assert made.closed_by("s0") == "REQUEST_INVALID"
        assert made.progress()[ADD].total == 2
        assert made.progress()[SEARCH].total == 1


def test_a_failed_search_leaves_nothing_to_answer() -> None:
    with ledger("?") as made:
        do(made, SEARCH, state="failed", code="NOT_JSON")
        assert made.finished
        assert made.asks["s0-a1"].failed_by_search == "NOT_JSON"
        assert made.progress()[ANSWER].total == 0


def test_a_retry_comes_back_when_it_is_due_and_holds_nothing_meanwhile() -> None:
    with ledger("+", "+") as made:
        job = take(made, ADD)
        made.again(job, due=10)
        assert take(made, ADD).lane.sample == "s1"
        assert made.take(ADD, now=9) is None
        assert made.next_due() == 10
        assert take(made, ADD, now=10) is job


def test_probes_rotate_through_waiting_calls() -> None:
    with ledger("+", "+") as made:
        for due in (5, 6):
            made.again(take(made, ADD), due=due)
        first = made.take_probe(now=0)
        assert first is not None
        made.again(first, due=7)
        second = made.take_probe(now=0)
        assert second is not None
        assert second.lane.sample != first.lane.sample


def test_a_second_record_of_one_unit_changes_nothing() -> None:
    with ledger("++") as made:
        done = do(made, ADD)
        made.apply(done)
        assert made.progress()[ADD].done == 1


def test_a_resumed_ledger_goes_on_where_the_records_end() -> None:
    records: list[dict[str, Any]] = []
    with ledger("+??+?") as made:
        records.append(do(made, ADD))
        records.append(do(made, SEARCH))
        records.append(do(made, SEARCH))
        records.append(do(made, ANSWER))
    with ledger("+??+?", records=records) as again:
        assert take(again, ADD).unit.event == 3
        assert take(again, ANSWER).unit.ask == "s0-a2"
        assert take(again, JUDGE).unit.ask == "s0-a1"
        assert again.take(SEARCH, now=0) is None


def test_a_resumed_ledger_keeps_a_closed_lane_closed() -> None:
    with ledger("?+?") as made:
        records = [do(made, SEARCH), do(made, ADD, state="failed", code="FORBIDDEN")]
    with ledger("?+?", records=records) as again:
        assert again.take(ADD, now=0) is None
        assert take(again, ANSWER).unit.ask == "s0-a1"
