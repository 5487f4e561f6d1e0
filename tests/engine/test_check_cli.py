from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluations.engine.__main__ import COMMANDS, build_parser, main
from tests.reference.serving import KEY, running

VARIABLE = "CHECK_TEST_KEY"


def arguments(url: str, *more: str) -> list[str]:
    return ["check", "--add-url", f"{url}/add", "--search-url", f"{url}/search", *more]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


@pytest.mark.parametrize("scheme", ["bearer", "token", "x-api-key"])
def test_a_sound_service_ends_with_zero(scheme: str, capsys: pytest.CaptureFixture[str]) -> None:
    with running(key=KEY) as url:
        code = main(arguments(url, "--auth", scheme, "--key-env", VARIABLE))
    assert code == 0
    shown = capsys.readouterr().out
    assert "No gate failed." in shown
    assert KEY not in shown


def test_a_failed_gate_ends_with_one_and_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with running(faults=["success-string"]) as url:
        assert main(arguments(url)) == 1
    shown = capsys.readouterr().out
    assert "Failed gates: add.schema." in shown
    assert "SUCCESS_NOT_TRUE" in shown


def test_a_dead_service_ends_with_one_within_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments("http://127.0.0.1:9")) == 1
    assert "CONNECT_REFUSED" in capsys.readouterr().out


def test_the_json_holds_names_severities_and_codes(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    with running(key=KEY, faults=["echo"]) as url:
        main(arguments(url, "--auth", "bearer", "--key-env", VARIABLE, "--json", str(file)))
    assert KEY not in file.read_text()
    report = json.loads(file.read_text())
    (echo,) = [check for check in report["checks"] if check["name"] == "add.echo"]
    assert (echo["severity"], echo["outcome"], echo["codes"]) == ("gate", "fail", ["ECHO_MISMATCH"])
    assert report["gates_passed"] is False
    assert echo["exchanges"][0]["status"] == 200


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--auth", "bearer"], "needs --key-env"),
        (["--auth", "bearer", "--key-env", "NOT_THERE_AT_ALL"], "NOT_THERE_AT_ALL is not set"),
        (["--status-url", "http://a/status"], "{task_id}"),
        (["--health-url", "ftp://a/health"], "--health-url"),
        (["--health-url", "http://a:port/health"], "--health-url"),
        (["--health-url", "http://me@a/health"], "user name"),
        (["--json", "/no/such/folder/report.json"], "no folder /no/such/folder"),
    ],
)
def test_what_cannot_run_ends_with_two(
    more: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments("http://127.0.0.1:9", *more)) == 2
    assert reason in " ".join(capsys.readouterr().err.split())


def test_a_concurrency_out_of_range_is_a_usage_error() -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments("http://a", "--concurrency-add", "65"))


def test_the_four_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        build_parser(None).parse_args(["--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)
