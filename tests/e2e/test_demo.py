"""``manage.py demo --once`` on a machine with nothing prepared, twice at once one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aml.pages.demo.processes import free_port
from tests.e2e.stage import ROOT

FIELDS = {
    "system", "track", "division", "overall", "ci_low", "ci_high", "questions", "scored", "rank",
    "contract_hash", "offline",
}  # fmt: skip
STRAYS = ("DATABASE_URL", "REDIS_URL", "AML_", "OPENAI_", "SECRET_KEY")


def demo(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(STRAYS)}
    command = [sys.executable, "manage.py", "demo", "--once", "--pack", "textual-tiny"]
    return subprocess.run(
        [*command, "--port", str(free_port())], cwd=ROOT, env=environment | {"AML_VAR_DIR": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> list[subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("demo")
    return [demo(folder), demo(folder)]


@pytest.mark.parametrize("number", [0, 1])
def test_the_demo_ends_with_the_published_row(
    twice: list[subprocess.CompletedProcess[str]], number: int
) -> None:
    done = twice[number]
    assert done.returncode == 0, done.stderr[-4000:]
    row = json.loads(done.stdout.splitlines()[-1])
    assert set(row) == FIELDS
    assert row["offline"] is True
    assert (row["track"], row["division"], row["rank"]) == ("textual", "open-source", 1)
    assert row["questions"] == row["scored"] > 0
    assert row["ci_low"] < row["overall"] < row["ci_high"]


def test_it_measures_the_same_again(twice: list[subprocess.CompletedProcess[str]]) -> None:
    first, second = (done.stdout.splitlines()[-1] for done in twice)
    assert first == second


def test_each_step_is_reported(twice: list[subprocess.CompletedProcess[str]]) -> None:
    for step in ("Conformance check", "Smoke", "Full", "Review", "Published"):
        assert step in twice[0].stderr
