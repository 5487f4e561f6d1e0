"""LoCoMo's whole file, end to end: by the command line and through the platform, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import DjangoDbBlocker

from benchmarks.importers.locomo import import_locomo
from evaluations.engine.__main__ import main
from evaluations.engine.bundle import read_statement, verify_bundle
from evaluations.engine.bundle.files import read_files, write_files
from tests.evaluations.whole_runs import (
    Published,
    ended,
    figures_of,
    platform,
    publish,
    run_by_command,
)
from tests.reference.serving import running
from tests.shared_data import shared_file

# The database is made for tests that say they need it; the module's fixture uses it before them.
pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]

QUESTIONS = 1_986
SMOKE_PACK = "textual-tiny"  # LoCoMo's pack is private, and a Smoke pack must be public
PLACES = (0.0, 0.13, 0.38, 0.5, 0.77, 1.0)  # where bytes are changed, as shares of a file


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = shared_file("locomo10", "locomo10.json")
    folder = tmp_path_factory.mktemp("locomo") / "pack"
    import_locomo(source, folder, licence_confirmed=True)
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(path=tmp_path_factory.mktemp("service") / "memory.sqlite3") as url:
        yield url


@pytest.fixture(scope="module")
def runs(pack: Path, service: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of three finished command-line runs: the reference service, and the arms around it."""
    folder = tmp_path_factory.mktemp("runs")
    out = {name: folder / name for name in ("none", "full-text", "oracle")}
    served = run_by_command(pack, out["full-text"], smoke_pack=SMOKE_PACK, url=service)
    arms = [run_by_command(pack, out[arm], "--arm", arm, smoke_pack=SMOKE_PACK) for arm in ("none", "oracle")]
    assert ended(served, *arms) == [0, 0, 0]
    return out


@pytest.fixture(scope="module")
def published(
    pack: Path,
    service: str,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Published:
    folder = tmp_path_factory.mktemp("platform")
    with platform(django_db_blocker, folder):
        return publish(pack, smoke_pack=SMOKE_PACK, url=service, folder=folder)


def test_the_whole_file_ends_with_every_question_scored(runs: dict[str, Path]) -> None:
    statement = read_statement(runs["full-text"] / "bundle")
    assert statement["outcome"] == "succeeded"
    assert statement["counts"] == {
        "asks": QUESTIONS, "scored": QUESTIONS, "unscored": 0, "zero_by_failure": 0, "clusters": 10,
    }  # fmt: skip


def test_the_command_line_verifies_its_bundles(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for bundle in ("bundle", "bundle-public"):
        assert main(["verify", str(runs["full-text"] / bundle)]) == 0
        assert "self-run, not signed by a platform" in capsys.readouterr().out


@pytest.mark.parametrize("bundle", ["bundle", "bundle-public"])
def test_a_changed_byte_in_any_file_is_refused(runs: dict[str, Path], bundle: str, tmp_path: Path) -> None:
    files = read_files(runs["full-text"] / bundle)
    for name, data in files.items():
        for share in PLACES:
            place = round(share * (len(data) - 1))
            changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            write_files(tmp_path / "changed", files=files | {name: changed})
            assert not verify_bundle(tmp_path / "changed").ok, (name, place)


def test_no_memory_is_below_full_text_search_and_that_below_the_oracle(runs: dict[str, Path]) -> None:
    overall = {name: figures_of(out / "bundle")["overall"] for name, out in runs.items()}
    assert overall["none"]["high"] < overall["full-text"]["low"]
    assert overall["full-text"]["high"] < overall["oracle"]["low"]


def test_the_platform_publishes_the_figures_of_the_command_line(
    published: Published, runs: dict[str, Path]
) -> None:
    statement = read_statement(runs["full-text"] / "bundle")
    assert published.status == "succeeded"
    assert published.contract_hash == statement["contract"]["hash"]
    assert published.figures == statement["scores"]
    assert published.counts.items() <= statement["counts"].items()


@pytest.mark.parametrize("kind", ["sealed", "public"])
def test_the_platforms_bundle_states_and_proves_its_figures(published: Published, kind: str) -> None:
    path = getattr(published, kind)
    report = verify_bundle(path, trusted_keys=[published.key_id])
    assert report.ok, report.lines
    assert figures_of(path) == published.figures
