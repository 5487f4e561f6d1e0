"""A board's page, JSON, CSV and snapshot say the same, and nothing private."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from aml.lib.canonical import canonical_hash
from evaluations.models import Baseline, CycleTrack, EvaluationContract, RunScore
from leaderboard import services
from leaderboard.builder import build
from leaderboard.models import Snapshot
from registration.models import Cycle, Entry
from tests.factories import make_cycle, make_entry, make_registration
from tests.leaderboard.rows import make_contract, scored_full
from tests.run_factories import open_track

pytestmark = pytest.mark.django_db
ADDRESS = "/leaderboard/textual/open-source/"


@pytest.fixture
def cycle() -> Cycle:
    return make_cycle()


@pytest.fixture
def contract(cycle: Cycle) -> EvaluationContract:
    contract = make_contract()
    CycleTrack.objects.create(cycle=cycle, track="textual", contract=contract)
    return contract


def publish(contract: EvaluationContract, cycle: Cycle, name: str, share: float, **fields: Any) -> str:
    entry = make_entry(registration=make_registration(cycle=cycle), name=name)
    run = scored_full(entry=entry, contract=contract, share=share, **fields)
    services.settle(run.pk)
    return run.public_id


def lines(client: Client, query: str = "") -> list[dict[str, str]]:
    text = client.get(f"{ADDRESS}?format=csv{query}").content.decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_page_json_csv_and_api_hold_the_same_rows(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    for name, share in (("Palimpsest", 0.9), ("Tape", 0.3), ("Third", 0.6)):
        publish(contract, cycle, name, share)
    document = client.get(f"{ADDRESS}?format=json").json()
    page = client.get(ADDRESS).context["board"]["rows"]
    from_json = [(row["rank"], row["system"], row["overall"]) for row in document["rows"]]
    from_page = [(row.rank, row.system, row.overall) for row in page]
    from_csv = [(int(row["rank"]), row["system"], float(row["overall"])) for row in lines(client)]
    assert from_json == from_page == from_csv
    assert client.get("/api/v1/boards/textual/open-source").json() == document


def test_the_hash_is_over_everything_but_the_snapshot(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    publish(contract, cycle, "Palimpsest", 0.9)
    document = client.get(f"{ADDRESS}?format=json").json()
    snapshot = document.pop("snapshot")
    assert canonical_hash(document) == snapshot["hash"]


def test_a_name_that_a_spreadsheet_would_run_is_text(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    publish(contract, cycle, '=HYPERLINK("http://evil")', 0.9, label="@1")
    assert lines(client)[0]["system"] == '\'=HYPERLINK("http://evil")'
    assert lines(client)[0]["version"] == "'@1"


def test_markup_in_a_name_stays_text(client: Client, contract: EvaluationContract, cycle: Cycle) -> None:
    publish(contract, cycle, "<script>alert(1)</script>", 0.9)
    assert b"<script>alert" not in client.get(ADDRESS).content


def test_a_partial_full_is_listed_without_a_rank(contract: EvaluationContract, cycle: Cycle) -> None:
    publish(contract, cycle, "Whole", 0.5)
    publish(contract, cycle, "Partial", 0.9, status="partial")
    board = build(cycle=cycle, track="textual", division="open-source", contract=contract)
    assert [(row.system, row.rank) for row in board.rows] == [("Whole", 1)]
    assert [(row.system, row.rank, row.badges) for row in board.unranked] == [
        ("Partial", None, ("offline", "incomplete"))
    ]


def test_a_row_without_a_score_is_never_ranked(contract: EvaluationContract, cycle: Cycle) -> None:
    publish(contract, cycle, "Scored", 0.5)
    publish(contract, cycle, "Unscored", 0.9)
    RunScore.objects.filter(run__version__entry__name="Unscored").update(
        overall=None, ci_low=None, ci_high=None
    )
    board = build(cycle=cycle, track="textual", division="open-source", contract=contract)
    assert [row.system for row in board.rows] == ["Scored"]


def test_rows_of_two_contracts_never_share_a_table(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    publish(contract, cycle, "Old", 0.9)
    newer = make_contract()
    CycleTrack.objects.filter(cycle=cycle).update(contract=newer)
    publish(newer, cycle, "New", 0.1)
    tables = [{row["system"] for row in one.data["rows"]} for one in Snapshot.objects.order_by("number")]
    assert tables == [{"Old"}, {"New"}]
    assert [row.system for row in client.get(ADDRESS).context["board"]["rows"]] == ["New"]
    assert client.get(ADDRESS).context["others"] == [Snapshot.objects.get(number=1)]


def test_a_capability_with_few_questions_shows_no_score(contract: EvaluationContract, cycle: Cycle) -> None:
    run = publish(contract, cycle, "Palimpsest", 0.9)
    score = RunScore.objects.get(run__public_id=run)
    score.capabilities[0]["asks"] = 4
    score.save()
    board = build(cycle=cycle, track="textual", division="open-source", contract=contract)
    assert [figure.score is None for figure in board.rows[0].capabilities] == [True, False]


def test_nothing_of_single_questions_or_samples_is_public(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    publish(contract, cycle, "Palimpsest", 0.9)
    slug = Entry.objects.get(name="Palimpsest").slug
    for address in (ADDRESS, f"{ADDRESS}?format=json", f"{ADDRESS}?format=csv", f"/systems/{slug}/",
                    f"/api/v1/systems/{slug}", "/benchmarks/", "/api/v1/audit", "/audit/"):  # fmt: skip
        text = client.get(address).content.decode()
        assert "secret-sample" not in text
        assert "a private question" not in text
        assert "a private answer" not in text


def test_an_old_snapshot_stays_as_it_was(client: Client, contract: EvaluationContract, cycle: Cycle) -> None:
    publish(contract, cycle, "First", 0.5)
    before = client.get(f"{ADDRESS}?snapshot=1&format=json").content
    publish(contract, cycle, "Second", 0.9)
    assert client.get(f"{ADDRESS}?snapshot=1&format=json").content == before
    assert [row["system"] for row in lines(client, "&snapshot=1")] == ["First"]


def test_rows_can_be_ordered_by_a_column(client: Client, contract: EvaluationContract, cycle: Cycle) -> None:
    for name, share in (("Zeta", 0.9), ("Alpha", 0.3)):
        publish(contract, cycle, name, share)
    rows = client.get(f"{ADDRESS}?sort=system").context["board"]["rows"]
    assert [(row.system, row.rank, row.tie_group) for row in rows] == [("Alpha", 2, 1), ("Zeta", 1, 2)]


def test_baselines_stand_unranked_on_the_board(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    interval = {"mean": 0.4, "low": 0.3, "high": 0.5}
    figures = [
        {"capability": name, "weight": 0.5, "asks": 24, "scored": 24, "score": interval}
        for name in ("recall", "time")
    ]
    data = {"capabilities": figures, "asks": 48, "scored": 48, "zero_by_failure": 0}
    Baseline.objects.create(
        contract=contract, arm="full-text", overall=0.4, ci_low=0.3, ci_high=0.5, data=data
    )
    services.refresh_contract(contract.pk, reason="baselines measured")
    board = client.get(ADDRESS).context["board"]
    assert board["rows"] == []
    assert [(row.system, row.rank) for row in board["baseline_rows"]] == [("Full-text search", None)]


ABSENT = (
    "/leaderboard/x/open-source/",
    "/leaderboard/textual/x/",
    f"{ADDRESS}?cycle=none",
    f"{ADDRESS}?snapshot=9",
    f"{ADDRESS}?snapshot=x",
)


@pytest.mark.parametrize("address", ABSENT)
def test_what_is_not_there_is_a_404(client: Client, contract: EvaluationContract, address: str) -> None:
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("prefix", ["", "/zh-hans"])
def test_a_board_without_rows_says_what_to_do(client: Client, cycle: Cycle, prefix: str) -> None:
    assert client.get(f"{prefix}{ADDRESS}").status_code == 200
    open_track(cycle)
    assert client.get(f"{prefix}{ADDRESS}").status_code == 200


def test_the_index_leads_to_the_first_board(client: Client, cycle: Cycle) -> None:
    assert client.get("/leaderboard/", follow=True).redirect_chain == [(ADDRESS, 302)]


def test_a_board_of_a_cycle_that_is_not_public_is_a_404(client: Client, cycle: Cycle) -> None:
    make_cycle(slug="hidden", is_public=False)
    assert client.get(f"{ADDRESS}?cycle=hidden").status_code == 404


def test_an_unchanged_board_is_not_sent_again(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    publish(contract, cycle, "Palimpsest", 0.9)
    for address in ("/api/v1/boards/textual/open-source", f"{ADDRESS}?format=csv", "/api/v1/audit"):
        etag = client.get(address)["ETag"]
        assert client.get(address, headers={"If-None-Match": etag}).status_code == 304


def test_the_api_gives_csv_on_request(client: Client, contract: EvaluationContract, cycle: Cycle) -> None:
    publish(contract, cycle, "Palimpsest", 0.9)
    response = client.get("/api/v1/boards/textual/open-source?format=csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response.content == client.get(f"{ADDRESS}?format=csv").content


@pytest.mark.parametrize("number", ["٣", "1" * 19, "9" * 18, "-1", "x", "1 "])
def test_a_snapshot_that_is_no_number_is_not_found(
    client: Client, contract: EvaluationContract, cycle: Cycle, number: str
) -> None:
    publish(contract, cycle, "Palimpsest", 0.9)
    assert client.get(ADDRESS, {"snapshot": number}).status_code == 404
    assert client.get("/api/v1/boards/textual/open-source", {"snapshot": number}).status_code == 404


def test_the_current_cycle_is_asked_for_once(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    publish(contract, cycle, "Palimpsest", 0.9)
    with CaptureQueriesContext(connection) as queries:
        client.get(ADDRESS)
    opened = [query for query in queries if '"opens_at" <=' in query["sql"]]
    assert len(opened) == 1


def test_links_of_an_earlier_cycle_name_it(
    client: Client, contract: EvaluationContract, cycle: Cycle
) -> None:
    publish(contract, cycle, "Palimpsest", 0.9)
    make_cycle(opens_at=cycle.opens_at + timedelta(hours=1))
    context = client.get(ADDRESS, {"cycle": cycle.slug}).context
    links = [tab["href"] for tab in (*context["tracks"], *context["divisions"])]
    assert all(link.endswith(f"?cycle={cycle.slug}") for link in links)
