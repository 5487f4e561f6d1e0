"""The evidence of a case, for its page. Nothing here is private: questions and memories have their own page."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from aml.web import formats
from evaluations.models import Run
from evaluations.services import progress
from registration.models import Version
from registration.services.rules import title_of
from registration.types import DIVISION_FIELDS, Division
from review.builder.evidence import check_before, smoke_before
from review.models import Case
from review.serializers.severities import finding_lines

VERSION_FIELDS = (
    "label", "runtime_environment", "documentation", "models_and_dependencies", "image_digest", "organisation",
    "contact", "maintenance_contact", "add_url", "search_url", "health_url", "status_url", "auth_scheme",
)  # fmt: skip

ANSWER = "current"
STATES = {"approve": "approved", "reject": "rejected", "needs_material": "needs_material"}

WORDS = {
    "approve": gettext_lazy("Approved"),
    "reject": gettext_lazy("Rejected"),
    "needs_material": gettext_lazy("Asked for material"),
}
ROLES = {
    "platform": gettext_lazy("platform"),
    "participant": gettext_lazy("participant"),
    "organiser": gettext_lazy("organiser"),
    "reviewer": gettext_lazy("reviewer"),
}
#: As reviewers speak of them; pages of participants say "your service".
FAULTS = {
    "participant": gettext_lazy("Memory service"),
    "provider": gettext_lazy("Model provider"),
    "platform": gettext_lazy("This platform"),
}
PERCENTILES = ("p50", "p95", "p99")

#: A finding's place on the page.
GATE = ("materials", "statements", "check_before", "smoke_before", "endpoint")


def evidence(case: Case) -> dict[str, Any]:
    run = case.run
    lines, reached = finding_lines(case), progress(run)
    return {
        "findings": [line for line in lines if line["badge"] != "pass"],
        "holding": [line for line in lines if line["badge"] == "pass" and line["kind"] not in GATE],
        "gate": [line for line in lines if line["kind"] in GATE],
        "materials": _materials(run.version, division=run.registration.division),
        "version_facts": _facts(run.version, VERSION_FIELDS),
        "run_facts": _run_facts(run),
        "stages": reached.stages,
        "errors": [{"count": one, "fault": FAULTS.get(one.fault, one.fault)} for one in reached.errors],
        "latencies": _latencies(run),
        "capabilities": _capabilities(run),
        "check": check_before(run),
        "smoke": smoke_before(run),
        "timeline": _timeline(run),
        "history": history(case),
    }


def _materials(version: Version, *, division: str) -> list[tuple[str, str]]:
    return _facts(version, DIVISION_FIELDS[Division(division)])


def _facts(version: Version, names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(title_of(name).capitalize(), str(getattr(version, name) or "")) for name in names]


def _run_facts(run: Run) -> list[tuple[str, Any]]:
    chosen = run.spec.get("concurrency", {})
    return [
        (_("Run"), run.public_id),
        (_("Accepted"), formats.utc(run.accepted_at)),
        (_("First Add"), formats.utc(run.first_add_at)),
        (_("Finished"), formats.utc(run.finished_at)),
        (_("At once"), _("%(add)s Adds, %(search)s Searches") % _at_once(chosen)),
        (_("Contract"), run.contract.hash[:12]),
        (_("Pack"), str(run.pack)),
        (_("Answer model"), run.contract.answer_model.get("name", "")),
        (_("Judge"), run.contract.judge_model.get("name", "")),
        (_("Rules version"), run.spec.get("rules_version", "")),
        (_("Code revision"), run.spec.get("code_revision", "")),
    ]


def _at_once(chosen: dict[str, Any]) -> dict[str, Any]:
    return {"add": chosen.get("add", formats.MISSING), "search": chosen.get("search", formats.MISSING)}


def _latencies(run: Run) -> list[dict[str, Any]]:
    measures = run.score.measures
    titles = {"add": "Add", "search": "Search"}
    return [
        {"title": title, "n": measures[name]["n"], "values": _milliseconds(measures[name])}
        for name, title in titles.items()
        if measures.get(name)
    ]


def _milliseconds(measured: dict[str, float | None]) -> list[float | None]:
    values = [measured.get(name) for name in PERCENTILES]
    return [None if value is None else value * 1000 for value in values]


def _capabilities(run: Run) -> list[dict[str, Any]]:
    """Every cell, small ones too: reviewers may see them."""
    manifest = run.pack.read_manifest()
    titles = {one.id: formats.in_language(one.title.model_dump()) for one in manifest.capabilities}
    return [
        {**one, "title": titles.get(one["capability"], one["capability"])} for one in run.score.capabilities
    ]


def _timeline(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "at": event.at,
            "title": _(event.sentence) if event.sentence else event.kind,
            "state": event.status_to or event.data.get("to") or "current",
            "who": ROLES.get(event.actor, event.actor),
        }
        for event in run.events.order_by("number")
    ]


def history(case: Case) -> list[dict[str, Any]]:
    """Decisions and answers in their order."""
    words = [
        {
            "at": one.at, "round": one.round, "title": WORDS[one.verdict], "text": one.reason,
            "who": str(one.reviewer), "state": STATES[one.verdict],
        }
        for one in case.decisions.select_related("reviewer")
    ]  # fmt: skip
    answers = [
        {
            "at": one.at, "round": one.round, "title": _("The participant's answer"), "text": one.text,
            "who": str(one.sent_by or ""), "state": ANSWER,
        }
        for one in case.materials.select_related("sent_by")
    ]  # fmt: skip
    return sorted(words + answers, key=lambda line: line["at"])


def asked_and_answered(case: Case) -> list[dict[str, Any]]:
    """For the participant: what was asked and answered; reviewers stay nameless."""
    lines = [line for line in history(case) if line["state"] in (STATES["needs_material"], ANSWER)]
    return [{**line, "who": _("Reviewer") if line["state"] != ANSWER else line["who"]} for line in lines]
