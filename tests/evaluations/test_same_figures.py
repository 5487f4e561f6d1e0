"""A shipped pack by the command line and through the platform: the same figures under one contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from pytest_django import DjangoDbBlocker

from evaluations.engine.bundle import read_statement, verify_bundle
from evaluations.engine.bundle.files import read_files, write_files
from tests.evaluations.whole_runs import Published, ended, figures_of, platform, publish, run_by_command
from tests.reference.serving import running

# The database is made for tests that say they need it; the module's fixture uses it before them.
pytestmark = pytest.mark.django_db
PACK = "textual-tiny"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(path=tmp_path_factory.mktemp("service") / "memory.sqlite3") as url:
        yield url


@pytest.fixture(scope="module")
def local(service: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a command-line run against the service."""
    out = tmp_path_factory.mktemp("local") / "out"
    assert ended(run_by_command(PACK, out, url=service)) == [0]
    return out


@pytest.fixture(scope="module")
def published(
    service: str,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Published:
    folder = tmp_path_factory.mktemp("platform")
    with platform(django_db_blocker, folder):
        return publish(PACK, smoke_pack=PACK, url=service, folder=folder)


def test_the_platform_publishes_the_figures_of_the_command_line(published: Published, local: Path) -> None:
    assert published.status == "succeeded"
    assert published.contract_hash == read_statement(local / "bundle")["contract"]["hash"]
    assert published.figures == figures_of(local / "bundle")


def test_the_arm_in_process_finds_what_the_service_finds(local: Path, tmp_path: Path) -> None:
    assert ended(run_by_command(PACK, tmp_path / "arm", "--arm", "full-text")) == [0]
    assert figures_of(tmp_path / "arm" / "bundle") == figures_of(local / "bundle")


@pytest.mark.parametrize("kind", ["sealed", "public"])
def test_the_platforms_bundles_verify_as_signed_by_it(published: Published, kind: str) -> None:
    report = verify_bundle(getattr(published, kind), trusted_keys=[published.key_id])
    assert report.ok, report.lines
    assert any("signed by a platform key that you trust" in line for line in report.lines)


def test_the_platforms_bundles_state_its_figures(published: Published) -> None:
    for path in (published.sealed, published.public):
        statement = read_statement(path)
        assert statement["scores"] == published.figures
        assert statement["counts"].items() >= published.counts.items()
        assert (statement["self_run"], statement["offline"], statement["unofficial"]) == (False, True, True)


def test_both_sealed_bundles_hold_the_same_verdict_on_each_ask(published: Published, local: Path) -> None:
    def verdicts(bundle: Path) -> dict[str, tuple[object, ...]]:
        lines = [orjson.loads(line) for line in read_files(bundle)["items.jsonl"].splitlines()]
        names = ("value", "reason", "answer", "grades")
        return {line["ask"]: tuple(line[name] for name in names) for line in lines}

    assert verdicts(published.sealed) == verdicts(local / "bundle")


def test_every_call_of_the_platforms_run_has_its_hash(published: Published) -> None:
    lines = [orjson.loads(line) for line in read_files(published.sealed)["items.jsonl"].splitlines()]
    hashes = ("request_sha256", "reply_sha256", "prompt_sha256", "answer_sha256")
    assert all(len(line[name]) == 64 for line in lines for name in hashes)
    assert all(len(line["judge_prompt_sha256"]) == 64 for line in lines if line["grades"] is not None)


def test_a_platforms_bundle_with_a_changed_byte_is_refused(published: Published, tmp_path: Path) -> None:
    files = read_files(published.sealed)
    for name, data in files.items():
        place = len(data) // 2
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        write_files(tmp_path / "changed", files=files | {name: changed})
        assert not verify_bundle(tmp_path / "changed").ok, name
