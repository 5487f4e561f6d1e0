"""Findings: what stored evidence says about a finished run. Pure functions, no database.

A finding never alters a score. ``blocker`` keeps a run from being published; ``warning`` asks the reviewer to
look; ``note`` is worth knowing; ``ok`` says what was looked at and holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

EMPTY_SEARCHES_FROM = 0.30
ABSTENTIONS_FROM = 0.60
ERRORS_NOTED_FROM = 0.01
ERRORS_WARNED_FROM = 0.10
DRIFT_FROM = 3.0  # ratio of the Search medians of a run's beginning and end
TAIL_FROM = 20.0  # 95th percentile of Search over its median
FEWEST_FOR_LATENCY = 20  # timed Searches below which no ratio is read

OPEN_SOURCE = "open-source"
OPEN_SOURCE_MATERIALS = (
    "repository", "commit", "licence", "provenance", "original_authors", "implementation_notes",
)  # fmt: skip
COMMERCIAL_MATERIALS = ("product_version", "capacity_statement")


def gettext_noop(text: str) -> str:
    """Marks a sentence for translation; Django's own of this name is out of reach here."""
    return text


class Severity(StrEnum):
    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    BLOCKER = "blocker"


@dataclass(frozen=True, slots=True)
class Finding:
    """``sentence`` is English with ``%(name)s`` places that ``data`` fills, after translation."""

    kind: str
    severity: Severity
    sentence: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        return self.sentence % self.data


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Asks: ``planned`` by the pack, ``asked`` in the ledger; ``open_units`` are calls without an end."""

    planned: int
    asked: int
    scored: int
    unscored: int
    zero_by_failure: int
    open_units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Attempts at the memory service; ``repeated`` were sent again after a crash of ours."""

    total: int
    failed: int
    repeated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """``searches`` answered and ``empty`` ones; ``answers`` to answerable questions and ``declined`` ones."""

    searches: int
    empty: int
    answers: int
    declined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """Of successful Searches, seconds: over all, and medians of the first and the last third of the run."""

    n: int
    p50: float | None = None
    p95: float | None = None
    early: float | None = None
    late: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligibility:
    """``materials`` hold a version's texts by field; the rest is what came before the run was accepted."""

    division: str
    materials: Mapping[str, str]
    statements_missing: Sequence[str]
    check_passed: bool
    smoke_passed: bool
    endpoint_changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a published row says, as plain JSON values."""

    overall: float | None
    low: float | None
    high: float | None
    capabilities: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything the findings of one run read. The two shares are the cycle's limits."""

    counts: Counts
    zeros_succeeded_up_to: float
    zeros_partial_up_to: float
    calls: Calls
    replies: Replies
    latencies: Latencies
    eligibility: Eligibility
    stored: Figures
    recomputed: Figures


def findings_of(evidence: Evidence) -> list[Finding]:
    """One finding of each kind, the gravest first."""
    found = [look(evidence) for look in LOOKS]
    return sorted(found, key=lambda finding: -ORDER.index(finding.severity))


def counts(evidence: Evidence) -> Finding:
    it = evidence.counts
    ended = it.scored + it.unscored + it.zero_by_failure
    data = {
        "planned": it.planned, "asked": it.asked, "ended": ended, "unscored": it.unscored, "open": it.open_units,
    }  # fmt: skip
    if it.open_units or it.unscored:
        sentence = gettext_noop(
            "Open still: %(open)s calls without an end, %(unscored)s questions without a score."
        )
        return Finding("counts", Severity.BLOCKER, sentence, data)
    if not it.planned == it.asked == ended:
        sentence = gettext_noop(
            "The counts disagree: the pack plans %(planned)s questions, the ledger holds %(asked)s, and %(ended)s "
            "have an end."
        )
        return Finding("counts", Severity.BLOCKER, sentence, data)
    sentence = gettext_noop("All %(planned)s planned questions have an end, and nothing is open.")
    return Finding("counts", Severity.OK, sentence, data)


def recomputed(evidence: Evidence) -> Finding:
    stored, again = evidence.stored, evidence.recomputed
    data = {"stored": stored.overall, "recomputed": again.overall}
    if stored.overall is None:
        return Finding("recomputed", Severity.BLOCKER, gettext_noop("The run has no score to publish."), data)
    if stored == again:
        sentence = gettext_noop(
            "Score, interval and every capability come out the same from the stored results."
        )
        return Finding("recomputed", Severity.OK, sentence, data)
    sentence = gettext_noop(
        "The figures differ from what the stored results give: %(stored)s is stored, %(recomputed)s comes out, or a "
        "capability or an interval differs."
    )
    return Finding("recomputed", Severity.BLOCKER, sentence, data)


def zeros_by_failure(evidence: Evidence) -> Finding:
    share = _share(evidence.counts.zero_by_failure, evidence.counts.asked)
    data = {
        "count": evidence.counts.zero_by_failure, "total": evidence.counts.asked, "percent": _percent(share),
        "succeeded": _percent(evidence.zeros_succeeded_up_to), "partial": _percent(evidence.zeros_partial_up_to),
    }  # fmt: skip
    if share > evidence.zeros_partial_up_to:
        sentence = gettext_noop(
            "%(count)s of %(total)s questions (%(percent)s %%) are 0 because calls failed; a run with more than "
            "%(partial)s %% of them has failed."
        )
        return Finding("zeros_by_failure", Severity.BLOCKER, sentence, data)
    if share > evidence.zeros_succeeded_up_to:
        sentence = gettext_noop(
            "%(count)s of %(total)s questions (%(percent)s %%) are 0 because calls failed: above %(succeeded)s %% the "
            "run is listed, not ranked."
        )
        return Finding("zeros_by_failure", Severity.WARNING, sentence, data)
    sentence = gettext_noop("%(count)s of %(total)s questions (%(percent)s %%) are 0 because calls failed.")
    return Finding("zeros_by_failure", Severity.OK, sentence, data)


def error_rate(evidence: Evidence) -> Finding:
    share = _share(evidence.calls.failed, evidence.calls.total)
    data = {"count": evidence.calls.failed, "total": evidence.calls.total, "percent": _percent(share)}
    severity = _grade(share, note=ERRORS_NOTED_FROM, warning=ERRORS_WARNED_FROM)
    sentence = gettext_noop("%(count)s of %(total)s calls to the memory service failed (%(percent)s %%).")
    return Finding("error_rate", severity, sentence, data)


def repeated_calls(evidence: Evidence) -> Finding:
    data = {"count": evidence.calls.repeated}
    if not evidence.calls.repeated:
        sentence = gettext_noop("No call was sent twice because of us.")
        return Finding("repeated_calls", Severity.OK, sentence, data)
    sentence = gettext_noop(
        "%(count)s calls were sent again after a crash of ours; the service may have stored or counted them twice."
    )
    return Finding("repeated_calls", Severity.NOTE, sentence, data)


def empty_searches(evidence: Evidence) -> Finding:
    share = _share(evidence.replies.empty, evidence.replies.searches)
    data = {"count": evidence.replies.empty, "total": evidence.replies.searches, "percent": _percent(share)}
    severity = Severity.WARNING if share >= EMPTY_SEARCHES_FROM else Severity.OK
    sentence = gettext_noop("%(count)s of %(total)s Searches brought no memory (%(percent)s %%).")
    return Finding("empty_searches", severity, sentence, data)


def abstentions(evidence: Evidence) -> Finding:
    share = _share(evidence.replies.declined, evidence.replies.answers)
    data = {"count": evidence.replies.declined, "total": evidence.replies.answers, "percent": _percent(share)}
    severity = Severity.WARNING if share >= ABSTENTIONS_FROM else Severity.OK
    sentence = gettext_noop(
        "The Answer model declined %(count)s of %(total)s answerable questions (%(percent)s %%) for want of memories."
    )
    return Finding("abstentions", severity, sentence, data)


def latency(evidence: Evidence) -> Finding:
    it = evidence.latencies
    if it.n < FEWEST_FOR_LATENCY or not it.p50 or it.p95 is None or not it.early or not it.late:
        sentence = gettext_noop("Too few timed Searches (%(n)s) to compare their latencies.")
        return Finding("latency", Severity.OK, sentence, {"n": it.n})
    data = {
        "n": it.n, "p50": _ms(it.p50), "p95": _ms(it.p95), "early": _ms(it.early), "late": _ms(it.late),
    }  # fmt: skip
    if max(it.early, it.late) >= DRIFT_FROM * min(it.early, it.late):
        sentence = gettext_noop(
            "Search changed during the run: a median of %(early)s ms in its first third, %(late)s ms in its last. The "
            "service may not have stayed the same."
        )
        return Finding("latency", Severity.WARNING, sentence, data)
    if it.p95 >= TAIL_FROM * it.p50:
        sentence = gettext_noop(
            "Search is uneven: a median of %(p50)s ms, but one in twenty takes %(p95)s ms or more."
        )
        return Finding("latency", Severity.NOTE, sentence, data)
    sentence = gettext_noop("Search stayed even: a median of %(p50)s ms, 95 of 100 within %(p95)s ms.")
    return Finding("latency", Severity.OK, sentence, data)


def materials(evidence: Evidence) -> Finding:
    it = evidence.eligibility
    required = OPEN_SOURCE_MATERIALS if it.division == OPEN_SOURCE else COMMERCIAL_MATERIALS
    missing = [name for name in required if not it.materials.get(name, "").strip()]
    data = {"required": list(required), "missing": ", ".join(missing), "count": len(required)}
    if missing:
        sentence = gettext_noop("Materials that the division requires are missing: %(missing)s.")
        return Finding("materials", Severity.BLOCKER, sentence, data)
    sentence = gettext_noop("All %(count)s materials that the division requires are there.")
    return Finding("materials", Severity.OK, sentence, data)


def statements(evidence: Evidence) -> Finding:
    missing = evidence.eligibility.statements_missing
    data = {"missing": ", ".join(missing)}
    if missing:
        sentence = gettext_noop("Statements that a Full requires were not confirmed: %(missing)s.")
        return Finding("statements", Severity.BLOCKER, sentence, data)
    return Finding(
        "statements", Severity.OK, gettext_noop("Every statement was confirmed at the start."), data
    )


def check_before(evidence: Evidence) -> Finding:
    if evidence.eligibility.check_passed:
        sentence = gettext_noop("A conformance check of this version passed before the run was accepted.")
        return Finding("check_before", Severity.OK, sentence)
    sentence = gettext_noop("No conformance check of this version had passed when the run was accepted.")
    return Finding("check_before", Severity.BLOCKER, sentence)


def smoke_before(evidence: Evidence) -> Finding:
    if evidence.eligibility.smoke_passed:
        sentence = gettext_noop("A Smoke of this version passed before the run was accepted.")
        return Finding("smoke_before", Severity.OK, sentence)
    sentence = gettext_noop("No Smoke of this version had passed when the run was accepted.")
    return Finding("smoke_before", Severity.BLOCKER, sentence)


def endpoint(evidence: Evidence) -> Finding:
    if evidence.eligibility.endpoint_changed:
        sentence = gettext_noop("The version's endpoints are not those that the run was accepted with.")
        return Finding("endpoint", Severity.BLOCKER, sentence)
    sentence = gettext_noop("The version's endpoints are those that the run was accepted with.")
    return Finding("endpoint", Severity.OK, sentence)


Look = Callable[[Evidence], Finding]
LOOKS: tuple[Look, ...] = (
    materials, statements, check_before, smoke_before, endpoint, counts, recomputed, zeros_by_failure, error_rate,
    repeated_calls, empty_searches, abstentions, latency,
)  # fmt: skip
ORDER = (Severity.OK, Severity.NOTE, Severity.WARNING, Severity.BLOCKER)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _percent(share: float) -> float:
    return round(100 * share, 2)


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 1)


def _grade(share: float, *, note: float, warning: float) -> Severity:
    if share >= warning:
        return Severity.WARNING
    return Severity.NOTE if share >= note else Severity.OK
