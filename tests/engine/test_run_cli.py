"""The command line over real HTTP, against the reference service."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evaluations.engine.__main__ import main
from evaluations.engine.bundle import read_statement, verify_bundle
from evaluations.engine.folder import locked
from evaluations.reference.app import build_server
from tests.engine.packs import small_pack
from tests.engine.samples import sample
from tests.reference.serving import KEY, running

SAMPLES = tuple(sample(f"s{number}", "+?++??+?") for number in range(6))
UNITS = 6 * (4 + 4 + 4)  # the scorer needs no judge


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return small_pack(tmp_path / "pack", *SAMPLES)


def arguments(pack: Path, out: Path, *more: str, url: str | None = None) -> list[str]:
    target = ["--add-url", f"{url}/add", "--search-url", f"{url}/search"] if url else []
    key = ["--signing-key", str(out.parent / "key")]
    return ["run", "--pack", str(pack), "--out", str(out), *key, *target, *more]


def scores(out: Path) -> Mapping[str, Any]:
    assert verify_bundle(out / "bundle").ok
    assert verify_bundle(out / "bundle-public").ok
    statement = read_statement(out / "bundle")
    return {"scores": statement["scores"], "counts": statement["counts"], "outcome": statement["outcome"]}


def start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "evaluations.engine", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def end_after(command: list[str], *, journal: Path, lines: int, by: signal.Signals) -> int:
    """Sends the signal once the journal has so many lines; the process's exit code."""
    started = start(command)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and started.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\n") >= lines:
            break
        time.sleep(0.01)
    started.send_signal(by)
    return started.wait(timeout=20)


def test_a_run_over_http_ends_in_bundles_that_verify(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(path=tmp_path / "memory.sqlite3") as url:
        assert main(arguments(pack, tmp_path / "out", url=url)) == 0
    found = scores(tmp_path / "out")
    assert found["counts"]["scored"] == 24
    assert found["scores"]["overall"]["mean"] > 0
    assert "Offline models" in capsys.readouterr().out
    assert read_statement(tmp_path / "out" / "bundle")["offline"] is True


def test_a_run_killed_twice_ends_in_the_scores_of_an_undisturbed_one(pack: Path, tmp_path: Path) -> None:
    quiet, killed = tmp_path / "quiet", tmp_path / "killed"
    with running(path=tmp_path / "memory.sqlite3", faults=["slow:0.05"]) as url:
        assert main(arguments(pack, quiet, url=url)) == 0
        journal = killed / "journal.jsonl"
        for lines, more in ((12, ()), (40, ("--resume",))):
            command = arguments(pack, killed, *more, url=url)
            assert end_after(command, journal=journal, lines=lines, by=signal.SIGKILL) == -signal.SIGKILL
        assert main(arguments(pack, killed, "--resume", url=url)) == 0
    assert scores(killed) == scores(quiet)
    assert journal.read_bytes().count(b"\n") == UNITS


def test_an_interrupted_run_says_how_to_go_on_and_does(pack: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running(path=tmp_path / "memory.sqlite3", faults=["slow:0.05"]) as url:
        journal = out / "journal.jsonl"
        assert end_after(arguments(pack, out, url=url), journal=journal, lines=12, by=signal.SIGINT) == 1
        assert not (out / "bundle").exists()
        assert main(arguments(pack, out, "--resume", url=url)) == 0
    assert scores(out)["outcome"] == "succeeded"


@contextmanager
def serving(port: int, path: Path, *, faults: tuple[str, ...] = ()) -> Iterator[int]:
    server = build_server(port, path=path, faults=faults)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def test_a_service_that_answers_503_for_a_while_ends_in_the_same_scores(pack: Path, tmp_path: Path) -> None:
    quiet, noisy, path = tmp_path / "quiet", tmp_path / "noisy", tmp_path / "memory.sqlite3"
    with serving(0, path, faults=("slow:0.05",)) as port:
        url = f"http://127.0.0.1:{port}"
        assert main(arguments(pack, quiet, url=url)) == 0
    with serving(port, path, faults=("down",)):
        started = start(arguments(pack, noisy, url=url))
        time.sleep(3)
        assert started.poll() is None
    with serving(port, path):
        assert started.wait(timeout=90) == 0
    assert scores(noisy) == scores(quiet)


def test_a_folder_with_a_run_is_not_overwritten(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = arguments(pack, tmp_path / "out", "--arm", "none")
    assert main(command) == 0
    assert main(command) == 2
    assert "--resume" in capsys.readouterr().err


def test_two_processes_do_not_share_a_folder(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(tmp_path / "out"):
        assert main(arguments(pack, tmp_path / "out", "--arm", "none")) == 2
    assert "another process" in capsys.readouterr().err


def test_a_run_is_not_resumed_under_another_contract(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(arguments(pack, out, "--arm", "none")) == 0
    other = small_pack(tmp_path / "other", *SAMPLES[:3])
    assert main(arguments(other, out, "--arm", "none", "--resume")) == 2
    assert "pack_hash" in capsys.readouterr().err


def test_the_key_comes_from_the_environment_and_stays_out_of_the_folder(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_KEY", KEY)
    out = tmp_path / "out"
    with running(path=tmp_path / "memory.sqlite3", key=KEY) as url:
        auth = ["--auth", "bearer", "--key-env", "MEMORY_KEY"]
        assert main(arguments(pack, out, *auth, url=url)) == 0
    assert scores(out)["outcome"] == "succeeded"
    assert not [path for path in out.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_service_that_refuses_the_key_fails_the_run_by_its_own_fault(pack: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running(path=tmp_path / "memory.sqlite3", key=KEY) as url:
        assert main(arguments(pack, out, url=url)) == 0
    assert scores(out)["outcome"] == "failed"
    assert scores(out)["counts"]["zero_by_failure"] == 24


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "--add-url and --search-url are needed"),
        (("--add-url", "ftp://x/add", "--search-url", "http://x/s"), "must be http"),
        (("--arm", "none", "--add-url", "http://x/a"), "leave out"),
        (("--arm", "none", "--answer-model", "gpt-9", "--model-key-env", "NO_SUCH_KEY"), "NO_SUCH_KEY"),
    ],
)
def test_what_can_not_run_is_refused_with_a_reason(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], message: str
) -> None:
    assert main(arguments(pack, tmp_path / "out", *more)) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_no_memory_is_below_full_text_search_and_the_oracle_verifies(pack: Path, tmp_path: Path) -> None:
    for arm in ("none", "full-text", "oracle"):
        assert main(arguments(pack, tmp_path / arm, "--arm", arm)) == 0
    overall = {arm: scores(tmp_path / arm)["scores"]["overall"]["mean"] for arm in ("none", "full-text")}
    assert overall["none"] < overall["full-text"]
    assert "a control arm, not a system" in read_statement(tmp_path / "none" / "bundle")["notes"]


def test_a_resumed_oracle_knows_what_it_was_given_before(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    tiny = Path("textual-tiny")
    for out in (whole, cut):
        assert main(arguments(tiny, out, "--arm", "oracle")) == 0
    lines = (cut / "journal.jsonl").read_bytes().splitlines(keepends=True)
    adds = [number for number, line in enumerate(lines) if b'"kind":"add"' in line]
    (cut / "journal.jsonl").write_bytes(b"".join(lines[: adds[len(adds) // 2]]))
    assert main(arguments(tiny, cut, "--arm", "oracle", "--resume")) == 0
    assert scores(cut) == scores(whole)


def test_the_contract_names_the_smoke_pack_and_the_run_prints_its_hash(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone, paired = tmp_path / "alone", tmp_path / "paired"
    assert main(arguments(pack, alone, "--arm", "none")) == 0
    assert main(arguments(pack, paired, "--arm", "none", "--smoke-pack", "textual-tiny")) == 0
    contracts = [read_statement(out / "bundle")["contract"] for out in (alone, paired)]
    assert contracts[0]["spec"]["packs"]["smoke"]["id"] == "small"
    assert contracts[1]["spec"]["packs"]["smoke"]["id"] == "textual-tiny"
    assert contracts[0]["hash"] != contracts[1]["hash"]
    assert contracts[1]["hash"] in capsys.readouterr().out


def test_a_smoke_run_takes_two_samples_and_says_so(pack: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(arguments(pack, out, "--arm", "full-text", "--smoke")) == 0
    assert scores(out)["counts"]["clusters"] == 2
    assert any("smoke" in note for note in read_statement(out / "bundle")["notes"])


def test_two_runs_are_compared_sealed_or_public(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arm in ("none", "full-text"):
        assert main(arguments(pack, tmp_path / arm, "--arm", arm)) == 0
    capsys.readouterr()
    for bundle in ("bundle", "bundle-public"):
        assert main(["compare", *(str(tmp_path / arm / bundle) for arm in ("full-text", "none"))]) == 0
        shown = capsys.readouterr().out
        assert "Overall" in shown
        assert "unofficial" in shown


def test_verify_prints_that_a_self_run_is_no_platforms(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(pack, tmp_path / "out", "--arm", "none")) == 0
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "out")]) == 0
    assert "self-run, not signed by a platform" in capsys.readouterr().out
