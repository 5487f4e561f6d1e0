"""Working through many things, of which one's trouble must keep no other from its turn."""

from __future__ import annotations

import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


def guarded(step: Callable[[int], object], key: int) -> int:
    """1 if ``step(key)`` did something, 0 if not or if it raised; what it raised is logged.

    ``step`` keeps its own transaction, so that a failure leaves nothing half done.
    """
    try:
        return int(bool(step(key)))
    except Exception:
        log.exception("%s failed for %s", getattr(step, "__qualname__", step), key)
        return 0
