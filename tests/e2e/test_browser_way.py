"""A stranger's whole way in a browser, on pages only, to a published row; on real processes."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise

import pytest

from evaluations.services import statements
from tests.e2e.browser_way import BOARD, REASON, STRANGER, SYSTEM, TEAM, BrowserWay
from tests.e2e.stage import MEMORY_KEY

pytestmark = [pytest.mark.browser, pytest.mark.celery, pytest.mark.postgres]


def done_of(progress: str) -> int:
    """ "12 of 60 calls 0 of 72 questions" → 12; the numbers before "of" are what is done."""
    words = progress.replace(",", "").split()
    return sum(int(word) for word, after in pairwise(words) if after == "of")


def test_the_mails_code_opens_the_account(browser_way: BrowserWay) -> None:
    assert STRANGER in browser_way.saw["code"]
    assert "Create a participant, or join one" in browser_way.saw["first desk"]


def test_the_application_waits_for_the_organiser(browser_way: BrowserWay) -> None:
    assert "The organiser decides" in browser_way.saw["application"]
    assert "A memory that overwrites itself." in browser_way.saw["application in the admin"]


def test_the_organisers_approval_is_on_the_participants_page(browser_way: BrowserWay) -> None:
    assert f"{TEAM} in Demo cycle: approved" in browser_way.saw["approved in the admin"]
    assert "Welcome." in browser_way.saw["approved"]


def test_a_version_shows_all_that_was_entered_but_the_key(browser_way: BrowserWay) -> None:
    page = browser_way.saw["version"]
    entered = browser_way.system()
    of_the_entry = {"name", "description", "tracks", "memory_key", "auth_scheme", "public_fields"}
    for name in entered.keys() - of_the_entry:
        assert entered[name] in page.replace(",", ""), name
    assert MEMORY_KEY not in page
    assert MEMORY_KEY[-4:] in page


def test_the_key_is_shown_once(browser_way: BrowserWay) -> None:
    assert browser_way.key.startswith("aml_live_")
    secret = browser_way.key.split("_")[3]
    assert secret in browser_way.saw["key"]
    assert secret not in browser_way.saw["keys"]
    assert secret not in browser_way.saw["keys again"]


def test_the_check_passes_every_gate(browser_way: BrowserWay) -> None:
    assert "All gates passed" in browser_way.saw["check"]
    assert "Show the exchange" in browser_way.saw["check"]


@pytest.mark.parametrize("kind", ["smoke", "full"])
def test_a_run_moves_on_its_page_without_reloading(browser_way: BrowserWay, kind: str) -> None:
    done = [done_of(words) for words in browser_way.progress[kind]]
    assert done[0] < done[-1]
    assert done == sorted(done)


def test_the_smoke_tells_its_cost_and_shows_its_exchanges(browser_way: BrowserWay) -> None:
    assert "1 of 30 with this one" in browser_way.saw["smoke confirmation"]
    assert "1–25 of 40" in browser_way.saw["exchanges"]
    assert f"{browser_way.stage.memory}/add" in browser_way.files["exchanges"]


def test_the_full_tells_its_cost_before_the_button(browser_way: BrowserWay) -> None:
    page = browser_way.saw["full confirmation"]
    cost = page.index("Full 1 of 2 in this cycle; 1 left after it")
    cooldown = page.index("30 d in this track from the moment it finishes")
    assert max(cost, cooldown) < page.index("Start the Full", cooldown)
    for one in statements.STATEMENTS:
        assert str(one.text) in page


def test_without_the_statements_no_full_starts(browser_way: BrowserWay) -> None:
    page = browser_way.saw["full without statements"]
    assert "A Full is accepted only with every statement confirmed." in page
    assert browser_way.files["runs after the refusal"] == "0"


def test_the_results_are_private_until_they_are_published(browser_way: BrowserWay) -> None:
    assert "Private" in browser_way.saw["full"]
    assert "Overall" in browser_way.saw["full"]
    assert SYSTEM not in browser_way.saw["board after 1"]
    assert SYSTEM in browser_way.saw["board after 2"]
    assert "Published" in browser_way.saw["published run"]


def test_the_desk_says_until_when_the_cooldown_lasts(browser_way: BrowserWay) -> None:
    assert "The cooldown in this track lasts until" in browser_way.saw["desk in cooldown"]


def test_two_reviewers_decide_on_the_case(browser_way: BrowserWay) -> None:
    assert "0 of 2 approvals" in browser_way.saw["case 1"]
    assert "One more reviewer must decide." in browser_way.saw["decided 1"]
    assert "2 of 2 approvals" in browser_way.saw["decided 2"]
    assert REASON in browser_way.saw["case 2"]


def test_the_board_shows_the_row_with_interval_and_rank(browser_way: BrowserWay) -> None:
    row, page = browser_way.row(), browser_way.saw["board after 2"]
    interval = f"{100 * row['ci_low']:.1f}–{100 * row['ci_high']:.1f}"
    assert f"{row['rank']} {SYSTEM}" in page
    assert f"{100 * row['overall']:.1f}" in page
    assert interval in page


def test_the_private_results_are_those_of_the_board(browser_way: BrowserWay) -> None:
    results, row = json.loads(browser_way.files["results.json"]), browser_way.row()
    assert [results["overall"], results["low"], results["high"]] == [
        row["overall"], row["ci_low"], row["ci_high"],
    ]  # fmt: skip


def test_the_boards_json_is_that_of_the_api(browser_way: BrowserWay) -> None:
    with browser_way.stage.api() as visitor:
        known = visitor.get("boards/textual/open-source").json()
        text = visitor.get("boards/textual/open-source?format=csv").text
    assert json.loads(browser_way.files["board.json"]) == known
    assert browser_way.files["board.csv"].splitlines() == text.splitlines()


def test_the_boards_json_and_csv_are_equal(browser_way: BrowserWay) -> None:
    [line] = [
        one for one in csv.DictReader(io.StringIO(browser_way.files["board.csv"])) if one["system"] == SYSTEM
    ]
    row = browser_way.row()
    for name in ("overall", "ci_low", "ci_high"):
        assert float(line[name]) == row[name]
    for name in ("rank", "rank_low", "rank_high", "scored"):
        assert int(line[name]) == row[name]


def test_the_same_board_is_there_in_chinese(browser_way: BrowserWay) -> None:
    assert browser_way.paths["board in Chinese"] == f"/zh-hans{BOARD}"
    page, row = browser_way.saw["board in Chinese"], browser_way.row()
    assert SYSTEM in page
    assert f"{100 * row['overall']:.1f}" in page
    assert "演示赛季" in page
    assert "事实回忆" in page


def test_the_systems_page_shows_what_may_be_public_only(browser_way: BrowserWay) -> None:
    page = browser_way.saw["system"]
    assert TEAM in page
    assert "https://example.net/palimpsest.git" in page
    assert "Strange Institute" in page
    assert browser_way.stage.memory not in page
    assert "night@example.net" not in page


def test_no_browser_had_anything_to_complain_of(browser_way: BrowserWay) -> None:
    complaints = [line for person in browser_way.people for line in person.complaints]
    # The one form that was sent unfinished, on purpose.
    assert [line for line in complaints if "status of 422" not in line] == []
