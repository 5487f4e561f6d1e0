"""The main job, once, while you watch: register, check, Smoke, Full, review by two, board.

What a person decides goes through the same services as the pages; what a script does goes over the
API, with the Evaluation Key, over real HTTP.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx2

from aml.pages.demo.processes import DemoFailed, Processes
from aml.pages.demo.seed import Ground
from evaluations.models import Run
from evaluations.services.statements import IDS as STATEMENTS
from evaluations.services.statements import VERSION as STATEMENTS_VERSION
from registration.models import Entry
from registration.services import entries, keys, participants, registrations
from registration.types import Division
from review.models import Case, Decision
from review.services.checklist import IDS as CHECKLIST
from review.services.deciding import decide

Report = Callable[[str, int, int], None]
TRACK = "textual"
POLL_SECONDS = 0.3
PATIENCE = 15 * 60.0
REPOSITORY = "https://example.org/aml/reference-memory"


@dataclass(frozen=True, slots=True)
class Walk:
    """``report`` is told a step's words, done and total, over and over until it ends."""

    ground: Ground
    site: str
    memory: str
    memory_key: str
    children: Processes
    report: Report

    def go(self) -> dict[str, Any]:
        """The whole way; returns the published row."""
        entry, key = self._register()
        with httpx2.Client(
            base_url=f"{self.site}/api/v1/",
            headers={"Authorization": f"Bearer {key}"},
            timeout=30,
            trust_env=False,
        ) as api:
            version = entry.versions.get().public_id
            self._check(api, version)
            self._run(api, version, kind="smoke")
            run = self._run(api, version, kind="full")
            self._review(run)
            return self._row(api, entry)

    def _register(self) -> tuple[Entry, str]:
        actor, cycle = self.ground.participant, self.ground.cycle
        participant = participants.create_participant(actor=actor, name="Demo team", organisation="Demo")
        registration = registrations.register(
            actor=actor, participant=participant, cycle=cycle, division=Division.OPEN_SOURCE,
            statement="The reference memory: full-text search over the stored messages.",
        )  # fmt: skip
        registrations.decide_registration(
            actor=self.ground.organiser, registration=registration, approve=True
        )
        registration.refresh_from_db()
        entry = entries.create_entry(
            actor=actor, registration=registration, name="Reference memory", tracks=[TRACK],
            description="Full-text search (SQLite FTS5, BM25) over everything that was added.",
            version=self._version(), memory_key=self.memory_key,
        )  # fmt: skip
        self.report("Registered, approved, entered, key issued", 1, 1)
        return entry, keys.create_evaluation_key(actor=actor, registration=registration).text

    def _version(self) -> dict[str, Any]:
        return {
            "label": "1.0",
            "add_url": f"{self.memory}/add",
            "search_url": f"{self.memory}/search",
            "health_url": f"{self.memory}/health",
            "auth_scheme": "bearer",
            "add_concurrency": 16,
            "search_concurrency": 16,
            "runtime_environment": "Python and SQLite on this machine.",
            "documentation": "manage.py reference_memory --help",
            "models_and_dependencies": "none",
            "contact": self.ground.participant.email,
            "public_fields": ["organisation", "documentation", "models_and_dependencies"],
            "repository": REPOSITORY,
            "commit": "0" * 40,
            "original_authors": "The AML authors",
            "provenance": "Written for this platform.",
            "changes": "none",
            "licence": "Apache-2.0",
            "implementation_notes": "One FTS5 index per user; BM25 with neighbouring messages as context.",
        }

    def _check(self, api: httpx2.Client, version: str) -> None:
        made = _sent(api.post("checks", json={"version": version}))
        check = self._until(
            lambda: _sent(api.get(f"checks/{made['id']}")), "Conformance check",
            ended=lambda check: check["status"] in ("passed", "failed", "error"),
            progress=lambda check: (check["done"], check["total"]),
        )  # fmt: skip
        if check["status"] != "passed":
            raise DemoFailed(
                f"the conformance check ended {check['status']}: {self.site}/evaluation/checks/{made['id']}/"
            )

    def _run(self, api: httpx2.Client, version: str, *, kind: str) -> Run:
        order: dict[str, Any] = {"version": version, "track": TRACK, "kind": kind, "label": f"demo {kind}"}
        if kind == "full":
            order["statements"] = {"version": STATEMENTS_VERSION, "accepted": list(STATEMENTS)}
        made = _sent(api.post("runs", json=order, headers={"Idempotency-Key": f"demo-{kind}-{version}"}))
        run = self._until(
            lambda: _sent(api.get(f"runs/{made['id']}")), kind.capitalize(),
            ended=lambda run: run["status"] in ("succeeded", "partial", "failed", "cancelled"),
            progress=_units,
        )  # fmt: skip
        if run["status"] != "succeeded":
            raise DemoFailed(f"the {kind} ended {run['status']}: {self.site}/evaluation/runs/{made['id']}/")
        return Run.objects.get(public_id=made["id"])

    def _review(self, run: Run) -> None:
        case = self._until(
            lambda: Case.objects.filter(run=run).first(), "Review", ended=lambda case: case is not None,
            progress=lambda case: (0, 2),
        )  # fmt: skip
        for number, reviewer in enumerate(self.ground.reviewers, start=1):
            decide(
                case=case, reviewer=reviewer, verdict=Decision.Verdict.APPROVE,
                reason="Materials complete, counts add up, no finding against publication.", checklist=CHECKLIST,
            )  # fmt: skip
            self.report("Review", number, 2)

    def _row(self, api: httpx2.Client, entry: Entry) -> dict[str, Any]:
        def rows() -> list[dict[str, Any]]:
            board = _sent(api.get(f"boards/{TRACK}/{Division.OPEN_SOURCE}"))
            return [flat_row(row, board) for row in board["rows"] if row["slug"] == entry.slug]

        found = self._until(rows, "Published", ended=bool, progress=lambda rows: (len(rows), 1))
        return dict(found[0])

    def _until(
        self, read: Callable[[], Any], words: str, *, ended: Callable[[Any], bool],
        progress: Callable[[Any], tuple[int, int]],
    ) -> Any:  # fmt: skip
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            self.children.check()
            state = read()
            self.report(words, *progress(state))
            if ended(state):
                return state
            time.sleep(POLL_SECONDS)
        raise DemoFailed(f"{words} did not end within {PATIENCE / 60:.0f} minutes")


def flat_row(row: dict[str, Any], board: dict[str, Any]) -> dict[str, Any]:
    """A row of a board's JSON as one flat object; its names are fixed (interfaces.md)."""
    own = {name: row[name] for name in ("system", "overall", "ci_low", "ci_high", "scored", "rank")}
    shared = {name: board[name] for name in ("track", "division", "contract_hash", "offline")}
    return {**own, **shared, "questions": row["asks"]}


def _sent(reply: httpx2.Response) -> dict[str, Any]:
    if reply.is_success:
        body: dict[str, Any] = reply.json()
        return body
    raise DemoFailed(
        f"{reply.request.method} {reply.request.url.path} answered {reply.status_code}: {reply.text[:500]}"
    )


def _units(run: dict[str, Any]) -> tuple[int, int]:
    stages = run["stages"]
    return sum(stage["done"] for stage in stages), sum(stage["total"] for stage in stages)
