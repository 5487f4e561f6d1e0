"""A run against a service on this machine, and what its ledger says in the end.

As a program, for databases that this process doesn't use:
``python -m tests.celery.stage prepare PORT`` writes the run and prints its id;
``python -m tests.celery.stage report ID`` prints the report as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

SHAPES = ("+?++??+?", "++?+?", "?+??+", "+++++?", "+?+?+?", "++??+?")
MANY = SHAPES * 3
SCORER = "judge_binary"

#: Waits of seconds instead of minutes.
BRISK = {
    "backoff_base": 0.05, "backoff_cap": 0.4, "retry_after_cap": 1.0, "rate_limit_wait": 0.2, "probe_base": 0.1,
    "probe_cap": 0.4, "outage_after": 1.0, "regrow_every": 0.5, "connect_ramp": 0.0,
}  # fmt: skip


def prepare(port: int, *, shapes: tuple[str, ...] = SHAPES, **fields: Any) -> int:
    """A planned Full against ``port``; its id."""
    from tests.evaluations.ledger.rows import ledger_run
    from tests.factories import make_version

    base = f"http://127.0.0.1:{port}"
    version = make_version(add_url=f"{base}/add", search_url=f"{base}/search")
    defaults: dict[str, Any] = {"add": 4, "search": 8, "limits": BRISK, "scorer": SCORER}
    return ledger_run(*shapes, version=version, **{**defaults, **fields}).pk


def report(run_id: int) -> dict[str, Any]:
    """Status, figures, and the counts by which a run is shown to be whole."""
    from evaluations.models import Attempt, Result, Run, Unit

    run = Run.objects.get(pk=run_id)
    units = Unit.objects.filter(run=run)
    attempts = Attempt.objects.filter(run=run)
    score = getattr(run, "score", None)
    return {
        "status": run.status,
        "figures": None if score is None else figures_of(score),
        "units": dict(Counter(units.values_list("status", flat=True))),
        "done": units.filter(status="done").count(),
        "done_calls": units.filter(status="done", kind__in=["add", "search"]).count(),
        "ok_attempts": attempts.filter(ok=True).count(),
        "results": Result.objects.filter(run=run).count(),
        "results_due": units.filter(status="done").exclude(kind="add").count(),
        "attempts": dict(Counter(attempts.values_list("state", flat=True))),
        "codes": sorted(set(attempts.exclude(code="").values_list("code", flat=True))),
        "repeated_calls": run.repeated_calls,
        "quota": list(run.quota_entries.order_by("pk").values_list("act", flat=True)),
        "calls": calls_of(run),
    }


def calls_of(run: Any) -> dict[str, list[int]]:
    """Every planned call as the service sees it, with its lane and step."""
    from benchmarks.models import read_questions
    from evaluations.engine.naming import request_id, user_id

    secret, found = bytes(run.secret), {}
    for unit in run.units.filter(kind__in=["add", "search"]).select_related("lane", "event"):
        key = request_id(secret, unit.lane.sample, unit.event.position)
        if unit.kind == "search":
            query = read_questions(run.pack_id, [unit.question])[unit.question].query
            key = f"{user_id(secret, unit.lane.sample)} {query}"
        found[key] = [unit.lane.position, unit.step]
    return found


def figures_of(score: Any) -> dict[str, Any]:
    """What the command line's statement holds of the same run."""
    return {
        "overall": [score.overall, score.ci_low, score.ci_high],
        "counts": [score.asks, score.scored, score.unscored, score.zero_by_failure],
        "capabilities": _means(score.capabilities),
    }


def command_line_figures(service: Any, *, shapes: tuple[str, ...] = SHAPES) -> dict[str, Any]:
    """The figures of the same pack, run by ``python -m evaluations.engine run``."""
    from evaluations.engine.__main__ import main
    from evaluations.engine.bundle import read_statement
    from tests.engine.packs import small_pack
    from tests.engine.samples import sample

    samples = [sample(f"s{number}", shape) for number, shape in enumerate(shapes)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        pack = small_pack(Path(folder) / "pack", *samples, scorer=SCORER)
        urls = ["--add-url", service.add_url, "--search-url", service.search_url]
        code = main(["run", "--pack", f"{pack}", "--out", f"{out}", "--signing-key", f"{folder}/key", *urls])
        assert code == 0
        return statement_figures(read_statement(out / "bundle"))


def statement_figures(statement: Any) -> dict[str, Any]:
    scores, counts = statement["scores"], statement["counts"]
    overall = scores["overall"]
    return {
        "overall": [overall["mean"], overall["low"], overall["high"]],
        "counts": [counts[name] for name in ("asks", "scored", "unscored", "zero_by_failure")],
        "capabilities": _means(scores["capabilities"]),
    }


def _means(rows: list[dict[str, Any]]) -> list[list[Any]]:
    return sorted([one["capability"], one["score"] and one["score"]["mean"]] for one in rows)


def _program(action: str, argument: str) -> None:
    import django

    django.setup()
    if action == "prepare":
        print(prepare(int(argument), shapes=MANY))
    else:
        print(json.dumps(report(int(argument))))


if __name__ == "__main__":
    _program(*sys.argv[1:])
