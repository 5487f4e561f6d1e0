"""Numbers, times and places on a scale as text. Pure: the same input gives the same text.

Scores arrive as fractions from 0 to 1 and are shown as points from 0 to 100, always with the same
decimals, so that a column can be read downwards. A missing value is an en dash, never a zero.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.utils import formats
from django.utils.translation import get_language, gettext, ngettext, pgettext

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MISSING = "–"
HEAT_BUCKETS = 5
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def _is_missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


def score(value: float | None, *, decimals: int = 1) -> str:
    """``0.4506`` → ``45.1``."""
    if value is None or math.isnan(value):
        return MISSING
    return f"{value * 100:.{decimals}f}"


def percent(value: float | None, *, decimals: int = 1) -> str:
    """``0.0049`` → ``0.5 %``."""
    return MISSING if _is_missing(value) else f"{score(value, decimals=decimals)} %"


def interval(low: float | None, high: float | None, *, decimals: int = 1) -> str:
    """``(0.419, 0.482)`` → ``41.9–48.2``."""
    if _is_missing(low) or _is_missing(high):
        return MISSING
    return f"{score(low, decimals=decimals)}–{score(high, decimals=decimals)}"


def rank_range(low: int | None, high: int | None) -> str:
    """``(3, 6)`` → ``3–6``; one number where both are equal."""
    if low is None or high is None:
        return MISSING
    return str(low) if low == high else f"{low}–{high}"


def count(value: int | None) -> str:
    """``1986`` → ``1,986``."""
    return MISSING if value is None else f"{value:,}"


def rate(value: float | None) -> str:
    """Something a second, with two significant figures below ten: ``0.42``, ``7.5``, ``184``."""
    if value is None or math.isnan(value):
        return MISSING
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}"


def milliseconds(value: float | None) -> str:
    """``44`` → ``44 ms``, ``1234`` → ``1.23 s``, ``75000`` → ``1 min 15 s``."""
    if value is None or math.isnan(value):
        return MISSING
    if value < 1_000:
        return f"{value:.0f} ms"
    return f"{value / 1_000:.2f} s" if value < 60_000 else duration(value / 1_000)


def duration(value: float | timedelta | None) -> str:
    """The two largest units that are not zero: ``2 d 4 h``, ``4 min 10 s``, ``0 s``."""
    if value is None:
        return MISSING
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    left = max(0, round(seconds))
    parts: list[str] = []
    for size, unit in _UNITS:
        amount, left = divmod(left, size)
        if amount or parts:
            parts.append(f"{amount} {_unit_word(unit)}" if amount else "")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if part) or f"0 {_unit_word('s')}"


def _unit_word(unit: str) -> str:
    words = {
        "d": pgettext("unit of time, short", "d"),
        "h": pgettext("unit of time, short", "h"),
        "min": pgettext("unit of time, short", "min"),
        "s": pgettext("unit of time, short", "s"),
    }
    return words[unit]


def utc(when: datetime | None) -> str:
    """``2 Dec 2026, 14:05 UTC``, in the reader's language."""
    if when is None:
        return MISSING
    pattern = pgettext("date and time format", "j M Y, H:i")
    return f"{formats.date_format(as_utc(when), pattern)} UTC"


def utc_date(when: datetime | None) -> str:
    """``2 Dec 2026``, the day in UTC."""
    if when is None:
        return MISSING
    return formats.date_format(as_utc(when), pgettext("date format", "j M Y"))


def as_utc(when: datetime) -> datetime:
    """The same moment in UTC; raises ``ValueError`` for a time without a zone."""
    if when.tzinfo is None:
        raise ValueError("a time without a zone can't be shown as UTC")
    return when.astimezone(UTC)


def in_language(texts: Mapping[str, str]) -> str:
    """The text of the reader's language out of ``en`` and ``zh``; English where there is none."""
    return texts.get(reader_language()) or texts["en"]


def reader_language() -> str:
    """``en`` or ``zh``."""
    return "zh" if (get_language() or "").startswith("zh") else "en"


def done_of_total(done: int | None, total: int | None) -> str:
    """``1,204 of 5,000``; the total is left out while it is unknown."""
    if total is None:
        return count(done)
    return gettext("%(done)s of %(total)s") % {"done": count(done), "total": count(total)}


def questions(number: int) -> str:
    """``1 question``, ``300 questions``."""
    text = ngettext("%(count)s question", "%(count)s questions", number)
    return text % {"count": count(number)}


def position(value: float, *, low: float, high: float) -> str:
    """Where a value stands on a scale, as an SVG percentage, kept within the picture."""
    if high <= low:
        return "50.00%"
    share = (value - low) / (high - low)
    return f"{min(1.0, max(0.0, share)) * 100:.2f}%"


def scale_for(values: Iterable[float | None], *, step: float = 0.05) -> tuple[float, float]:
    """A common scale for a picture: the values' range, opened to whole steps, within 0 and 1.

    With nothing to show the scale is (0, 1).
    """
    known = [value for value in values if value is not None and not math.isnan(value)]
    if not known:
        return 0.0, 1.0
    # Rounded before floor and ceil: 0.3 / 0.05 is 5.999999999999999 in binary.
    low = math.floor(round(min(known) / step, 9)) * step
    high = math.ceil(round(max(known) / step, 9)) * step
    if high - low < step:
        high = min(1.0, low + step)
        low = min(low, high - step)
    return max(0.0, round(low, 9)), min(1.0, round(high, 9))


def heat_bucket(value: float | None, column: Sequence[float | None]) -> int:
    """0 to 4: where a value stands between the lowest and highest of ``column``; 0 if there is no spread.

    The column is that of the ranked rows: a baseline far below them would flatten every difference.
    """
    known = [each for each in column if each is not None and not math.isnan(each)]
    if value is None or math.isnan(value) or not known or max(known) == min(known):
        return 0
    share = (value - min(known)) / (max(known) - min(known))
    return max(0, min(HEAT_BUCKETS - 1, math.floor(share * HEAT_BUCKETS)))
