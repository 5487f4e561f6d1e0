"""A yes or no with its reason: the same for page, API and admin."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from aml.web.errors import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """``next_allowed_at`` is the moment from which the same question is answered with yes, where only time
    stands between; None where something else must happen first."""

    allowed: bool
    code: str = ""
    reason: str = ""
    hint: str = ""
    next_allowed_at: datetime | None = None
    status: int = 409
    extra: dict[str, Any] = field(default_factory=dict)

    def refusal(self, *, now: datetime) -> Refusal:
        extra = dict(self.extra)
        if self.next_allowed_at is not None:
            extra["next_allowed_at"] = self.next_allowed_at.isoformat()
            if self.status == 429:
                extra["retry_after"] = max(1, math.ceil((self.next_allowed_at - now).total_seconds()))
        elif self.code in NAMES_NEXT:
            extra["next_allowed_at"] = None
        return Refusal(self.code, self.reason, hint=self.hint, status=self.status, **extra)


#: These always say when the next start is possible, if only by null.
NAMES_NEXT = frozenset({"cooldown", "quota_used", "starts_used", "smoke_limit", "check_limit"})

YES = Decision(allowed=True)


def no(code: str, reason: str, *, hint: str = "", status: int = 409, **extra: Any) -> Decision:
    """A refusal; ``next_allowed_at`` may be among ``extra``."""
    opens = extra.pop("next_allowed_at", None)
    return Decision(
        allowed=False, code=code, reason=reason, hint=hint, next_allowed_at=opens, status=status, extra=extra
    )


def first_no(decisions: Iterable[Decision]) -> Decision:
    """The first that refuses; those behind it are not asked for."""
    return next((decision for decision in decisions if not decision.allowed), YES)
