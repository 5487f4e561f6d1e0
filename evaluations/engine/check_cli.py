"""``python -m evaluations.engine check``: the conformance report of one service, on the terminal."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from evaluations.engine.conformance import (
    CheckResult,
    CheckSettings,
    Outcome,
    Report,
    Severity,
    run_checks,
)
from evaluations.engine.conformance import Progress as Step
from evaluations.engine.types import AuthScheme, Endpoint, Secret

PASSED, GATE_FAILED, COULD_NOT_RUN = 0, 1, 2

_MARKS = {
    Outcome.PASS: ("✓", "green"),
    Outcome.WARNING: ("!", "yellow"),
    Outcome.FAIL: ("✗", "bold red"),
    Outcome.NOT_APPLICABLE: ("·", "dim"),
    Outcome.NOT_TESTED: ("?", "cyan"),
}
_WORDS = {
    Outcome.PASS: "passed",
    Outcome.WARNING: "with a warning",
    Outcome.FAIL: "failed",
    Outcome.NOT_TESTED: "not tested",
    Outcome.NOT_APPLICABLE: "not applicable",
}


class UsageError(Exception):
    """The check can't begin; ``str()`` says why."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``check``; the key itself is never one."""
    parser.add_argument("--add-url", required=True)
    parser.add_argument("--search-url", required=True)
    parser.add_argument("--health-url")
    parser.add_argument("--status-url", help="Add-status URL that holds {task_id}; approves 202")
    parser.add_argument("--auth", choices=[str(scheme) for scheme in AuthScheme], default="none")
    parser.add_argument("--key-env", metavar="NAME", help="environment variable that holds the key")
    parser.add_argument("--track", choices=["textual", "coding", "multimodal"], default="textual")
    parser.add_argument("--media", action="append", default=[], choices=["audio", "video"])
    parser.add_argument("--concurrency-add", type=_between(1, 64), default=4, metavar="N")
    parser.add_argument("--concurrency-search", type=_between(1, 256), default=4, metavar="N")
    parser.add_argument("--largest-add", type=_between(1, 64 * 2**20), metavar="BYTES")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the whole report there")
    parser.set_defaults(func=main)


def _between(low: int, high: int) -> Callable[[str], int]:
    def integer(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value} is not from {low} to {high}")
        return value

    return integer


def main(args: argparse.Namespace) -> int:
    """0: no gate failed; 1: a gate failed or the check was not complete; 2: it could not run."""
    errors = Console(stderr=True)
    try:
        endpoint = build_endpoint(args)
        # Before the check rather than after it: minutes of calls must not end without their report.
        if args.json is not None and not args.json.parent.is_dir():
            raise UsageError(f"there is no folder {args.json.parent} for the report")
        report = asyncio.run(_check(endpoint, args, errors))
        if args.json is not None:
            args.json.write_text(json.dumps(report.to_json(), ensure_ascii=False, indent=2) + "\n")
    except (UsageError, OSError) as error:
        errors.print(Text(f"The check could not run: {error}", style="bold red"))
        return COULD_NOT_RUN
    except KeyboardInterrupt:
        errors.print("Interrupted.")
        return COULD_NOT_RUN
    show(report, Console(file=sys.stdout, highlight=False))
    return PASSED if report.gates_passed else GATE_FAILED


def build_endpoint(args: argparse.Namespace) -> Endpoint:
    """The endpoint that the arguments describe; raises ``UsageError``. Private addresses are allowed."""
    for option in ("add_url", "search_url", "health_url", "status_url"):
        _check_url(option, getattr(args, option))
    if args.status_url and "{task_id}" not in args.status_url:
        raise UsageError("--status-url must hold {task_id}")
    auth = AuthScheme(args.auth)
    return Endpoint(
        add_url=args.add_url,
        search_url=args.search_url,
        health_url=args.health_url,
        status_url=args.status_url,
        auth=auth,
        key=_key(auth, args.key_env),
        media=frozenset(getattr(args, "media", ())),
        allow_private=True,
    )


def _check_url(option: str, url: str | None) -> None:
    if url is None:
        return
    name = f"--{option.replace('_', '-')}"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for a port that is no number
    except ValueError as error:
        raise UsageError(f"{name} {url!r}: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{name} {url!r} must be http://host/… or https://host/…")
    if parts.username is not None or parts.fragment:
        raise UsageError(f"{name} must hold no user name and no #fragment")


def _key(auth: AuthScheme, variable: str | None) -> Secret | None:
    if auth is AuthScheme.NONE:
        return None
    if not variable:
        raise UsageError(f"--auth {auth} needs --key-env NAME, the environment variable with the key")
    value = os.environ.get(variable, "")
    if not value:
        raise UsageError(f"the environment variable {variable} is not set or empty")
    return Secret(value)


async def _check(endpoint: Endpoint, args: argparse.Namespace, console: Console) -> Report:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Checking", total=None)

        def step(progress: Step) -> None:
            names = ", ".join(result.name for result in progress.results)
            bar.update(task, completed=progress.done, total=progress.total, description=names)

        return await run_checks(
            endpoint=endpoint,
            track=args.track,
            on_progress=step,
            largest_add_bytes=args.largest_add,
            settings=CheckSettings(
                concurrency_add=args.concurrency_add, concurrency_search=args.concurrency_search
            ),
        )


def show(report: Report, console: Console) -> None:
    """The report for a reader: one line a check, and what to do where something is wrong."""
    console.print(Text(f"Conformance check, {report.track}: {report.endpoint.add_url}", style="bold"))
    for result in report.results:
        _show_result(result, console)
    counts = [
        f"{report.counts[outcome]} {word}" for outcome, word in _WORDS.items() if report.counts[outcome]
    ]
    console.print(f"\n{', '.join(counts)}, in {report.seconds:.1f} s.")
    console.print(_verdict(report))


def _show_result(result: CheckResult, console: Console) -> None:
    mark, style = _MARKS[result.outcome]
    gate = "gate" if result.severity is Severity.GATE else ""
    line = Text.assemble((f"{mark} ", style), f"{result.name:<16} ", (f"{gate:<5}", "dim"), result.sentence)
    line.overflow = "fold"
    console.print(line, soft_wrap=not console.is_terminal)
    if result.outcome not in (Outcome.FAIL, Outcome.WARNING):
        return
    notes = [("expected", result.expected), ("do", result.advice), ("codes", ", ".join(result.codes))]
    for label, note in notes:
        if note:
            console.print(Padding(Text.assemble((f"{label}: ", "dim"), note), (0, 0, 0, 25)))


def _verdict(report: Report) -> Text:
    if report.gates_passed:
        return Text("No gate failed.", style="bold green")
    if report.failed_gates:
        return Text(f"Failed gates: {', '.join(report.failed_gates)}.", style="bold red")
    return Text("The check was not complete, so nothing is decided.", style="bold red")
