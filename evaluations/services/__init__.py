"""What a person asks for of an evaluation. Each service guards, changes in one transaction, and records."""

from evaluations.services.bundles import bundle_of, is_unofficial, platform_key_id
from evaluations.services.cancelling import (
    CancelCost,
    cancel_cost,
    cancel_for_platform,
    cancel_run,
    pause_run,
    resume_run,
)
from evaluations.services.checks import may_check, request_check
from evaluations.services.decisions import Decision
from evaluations.services.eligibility import may_start
from evaluations.services.facts import Facts
from evaluations.services.progress import Progress, progress
from evaluations.services.quotas import QuotaView, grant, quota_view, what_if
from evaluations.services.results import Results, results
from evaluations.services.starting import Order, start_run
from evaluations.services.traces import Trace, failing_exchanges
from evaluations.services.tracks import save_track

__all__ = [
    "CancelCost",
    "Decision",
    "Facts",
    "Order",
    "Progress",
    "QuotaView",
    "Results",
    "Trace",
    "bundle_of",
    "cancel_cost",
    "cancel_for_platform",
    "cancel_run",
    "failing_exchanges",
    "grant",
    "is_unofficial",
    "may_check",
    "may_start",
    "pause_run",
    "platform_key_id",
    "progress",
    "quota_view",
    "request_check",
    "results",
    "resume_run",
    "save_track",
    "start_run",
    "what_if",
]
