from evaluations.models.checks import Check
from evaluations.models.contracts import Baseline, CycleTrack, EvaluationContract
from evaluations.models.ledger import Attempt, Lane, Result, Unit
from evaluations.models.quota import Cooldown, QuotaEntry, QuotaSlot
from evaluations.models.runs import Run, RunEvent, RunScore

__all__ = [
    "Attempt",
    "Baseline",
    "Check",
    "Cooldown",
    "CycleTrack",
    "EvaluationContract",
    "Lane",
    "QuotaEntry",
    "QuotaSlot",
    "Result",
    "Run",
    "RunEvent",
    "RunScore",
    "Unit",
]
