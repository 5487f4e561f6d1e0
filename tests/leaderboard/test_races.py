"""Two publications of one entry at the same moment, on PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from evaluations.models import Run
from leaderboard import services
from leaderboard.models import BoardRow, Snapshot
from tests.factories import make_entry, make_registration
from tests.leaderboard.rows import make_contract, scored_full

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _on_postgresql(db: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("needs DATABASE_URL of a PostgreSQL server")


def settle_at_once(*runs: Run) -> None:
    start = Barrier(len(runs))

    def settle(run: Run) -> None:
        try:
            start.wait()
            services.settle(run.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(runs)) as pool:
        list(pool.map(settle, runs))


@pytest.mark.parametrize("attempt", range(5))
def test_two_fulls_of_one_entry_end_with_the_newer_row(attempt: int) -> None:
    entry, contract = make_entry(), make_contract()
    runs = [
        scored_full(entry=entry, contract=contract, accepted_at=timezone.now() - timedelta(days=days))
        for days in (9, 2)
    ]
    settle_at_once(*runs)
    assert [row.run for row in BoardRow.objects.current()] == [runs[1]]
    newest = Snapshot.objects.order_by("-number")[0]
    assert [row["name"] for row in newest.data["rows"]] == [runs[1].public_id]


def test_one_run_settled_twice_at_once_is_published_once() -> None:
    run = scored_full()
    settle_at_once(run, run, run)
    assert BoardRow.objects.count() == Snapshot.objects.count() == 1


def test_rows_of_one_board_published_at_once_are_all_in_the_newest_snapshot() -> None:
    registration, contract = make_registration(), make_contract()
    runs = [
        scored_full(entry=make_entry(registration=registration), contract=contract, share=share)
        for share in (0.2, 0.5, 0.8)
    ]
    settle_at_once(*runs)
    newest = Snapshot.objects.order_by("-number")[0]
    assert {row["name"] for row in newest.data["rows"]} == {run.public_id for run in runs}
    assert newest.number == 3
