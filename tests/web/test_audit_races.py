"""Several sealers at the same moment, on PostgreSQL: one chain without a gap."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from aml.web import audit
from aml.web.models import AuditEntry

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _on_postgresql(db: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("needs DATABASE_URL of a PostgreSQL server")


def seal_at_once(sealers: int) -> int:
    start = Barrier(sealers)

    def seal() -> int:
        try:
            start.wait()
            return audit.seal(limit=5)
        finally:
            connection.close()

    with ThreadPoolExecutor(sealers) as pool:
        return sum(future.result() for future in [pool.submit(seal) for _number in range(sealers)])


@pytest.mark.parametrize("attempt", range(5))
def test_sealers_at_once_give_no_place_twice(attempt: int) -> None:
    for number in range(12):
        audit.record("row.published", subject=f"run:{number}")
    assert seal_at_once(4) == 12
    places = AuditEntry.objects.order_by("pk").values_list("sequence", flat=True)
    assert list(places) == list(range(1, 13))
    assert audit.verify() == []
