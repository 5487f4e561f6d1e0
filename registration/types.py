"""Words and rules of taking part, as data: the code, the admin, the rules page and the API read them here.

Source: product.md, rules 3 to 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Division(StrEnum):
    OPEN_SOURCE = "open-source"
    COMMERCIAL = "commercial"


class QuotaEffect(StrEnum):
    USED = "used"
    REFUNDED = "refunded"


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What one end of a Full does to the participant's quota and cooldown."""

    key: str
    quota: QuotaEffect
    cooldown: bool


DEFAULT_POLICY: tuple[PolicyRow, ...] = (
    PolicyRow("succeeded", QuotaEffect.USED, cooldown=True),
    PolicyRow("partial", QuotaEffect.USED, cooldown=True),
    PolicyRow("failed:participant", QuotaEffect.USED, cooldown=False),
    PolicyRow("failed:provider", QuotaEffect.REFUNDED, cooldown=False),
    PolicyRow("failed:platform", QuotaEffect.REFUNDED, cooldown=False),
    PolicyRow("cancelled:before-first-add", QuotaEffect.REFUNDED, cooldown=False),
    PolicyRow("cancelled:after-first-add", QuotaEffect.USED, cooldown=False),
    PolicyRow("cancelled:platform-stood-still", QuotaEffect.REFUNDED, cooldown=False),
)

FULLS_PER_CYCLE = 2
STARTS_PER_CYCLE = 6
SMOKES_PER_HOUR = 1
SMOKES_PER_TRACK = 30
CHECKS_PER_HOUR = 6
SMOKE_FRESH_HOURS = 72
COOLDOWN_HOURS = 30 * 24
START_DEADLINE_HOURS = 48
START_ALARM_HOURS = 36
OUTAGE_END_HOURS = 24
ZERO_SHARE_SUCCEEDED = 0.005
ZERO_SHARE_PARTIAL = 0.20

#: Fields of a version that only one division has, and that it requires (product.md, rule 1).
DIVISION_FIELDS: dict[Division, tuple[str, ...]] = {
    Division.OPEN_SOURCE: (
        "repository", "commit", "original_authors", "provenance", "changes", "licence",
        "implementation_notes",
    ),
    Division.COMMERCIAL: ("product_version", "capacity_statement"),
}  # fmt: skip

#: What every version must say.
REQUIRED_FIELDS = (
    "label", "add_url", "search_url", "auth_scheme", "runtime_environment", "documentation",
    "models_and_dependencies", "contact",
)  # fmt: skip

#: What a participant may choose to show; system, version, division and what the division requires of
#: everybody (repository and commit, or product version) are always shown.
PUBLISHABLE_FIELDS = (
    "organisation", "documentation", "models_and_dependencies", "runtime_environment", "contact",
)  # fmt: skip
