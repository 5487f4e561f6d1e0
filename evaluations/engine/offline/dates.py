"""Dates in text, absolute or relative to the day of the memory that holds them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from evaluations.engine.offline.numbers import NUMBER_WORDS, number

MONTHS = {name.lower(): index for index, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.lower(): index for index, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
WEEKDAYS = {name.lower(): index for index, name in enumerate(calendar.day_name)}
_ZH_WEEKDAYS = {day: index for index, day in enumerate("一二三四五六日")} | {"天": 6}
_MONTH = "(" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = "(" + "|".join(WEEKDAYS) + ")"
_N_ZH = "([\\d一二两三四五六七八九十]+)"
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_N = r"(\d+|a|an|" + "|".join(NUMBER_WORDS) + ")"


@dataclass(frozen=True, slots=True)
class When:
    """A day, a month or a year; ``week_before`` marks "last week", which is no single day."""

    year: int
    month: int | None = None
    day: int | None = None
    before: str | None = None  # "week" or "weekend" before this day

    def text(self, *, chinese: bool = False) -> str:
        if chinese:
            return self._chinese()
        if self.month is None:
            return str(self.year)
        month = f"{calendar.month_name[self.month]} {self.year}"
        day = month if self.day is None else f"{self.day} {month}"
        return f"the {self.before} before {day}" if self.before else day

    def _chinese(self) -> str:
        parts = f"{self.year}年"
        parts += f"{self.month}月" if self.month else ""
        parts += f"{self.day}日" if self.day else ""
        return f"{parts}的前一周" if self.before else parts

    def key(self) -> str:
        parts = [self.year, self.month, self.day]
        return "-".join(f"{part:02d}" for part in parts if part is not None) + (self.before or "")


def _day(value: date) -> When:
    return When(value.year, value.month, value.day)


def _months_from(base: date, months: int) -> When:
    index = base.year * 12 + base.month - 1 + months
    return When(index // 12, index % 12 + 1)


def iso_date(text: str) -> date | None:
    """The date at the start of an ISO 8601 text, None where there is none that exists."""
    match = re.match(r"\s*(\d{4})-(\d{2})-(\d{2})", text)
    return _real(int(match[1]), int(match[2]), int(match[3])) if match else None


def _real(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_Resolver = Callable[[re.Match[str], "date | None"], "When | None"]


def _full(year: str, month: int, day: str) -> When | None:
    found = _real(int(year), month, int(day))
    return _day(found) if found else None


def _without_year(month: int, day: str, base: date | None) -> When | None:
    return _full(str(base.year), month, day) if base else None


def _ago(amount: str, unit: str, base: date | None, *, sign: int = -1) -> When | None:
    count = number(amount)
    if base is None or count is None or count > 3_000:
        return None
    steps = sign * int(count)
    if unit.startswith(("day", "天", "日")):
        return _day(base + timedelta(days=steps))
    if unit.startswith(("week", "周", "星期", "个星期")):
        return _day(base + timedelta(weeks=steps))
    if unit.startswith(("month", "个月")):
        return _months_from(base, steps)
    return When(base.year + steps) if 0 < base.year + steps < 9_999 else None


def _shift(days: int) -> _Resolver:
    return lambda match, base: _day(base + timedelta(days=days)) if base else None


def _weekday(which: str, name: str, base: date | None) -> When | None:
    if base is None:
        return None
    target = WEEKDAYS[name.lower()] if name.lower() in WEEKDAYS else _ZH_WEEKDAYS[name]
    if which in ("last", "past", "on", "上"):
        back = (base.weekday() - target) % 7 or 7
        return _day(base - timedelta(days=back))
    ahead = (target - base.weekday()) % 7
    return _day(base + timedelta(days=ahead or (7 if which in ("next", "下") else 0)))


def _period(which: str, unit: str, base: date | None) -> When | None:
    if base is None:
        return None
    step = {"last": -1, "past": -1, "上": -1, "next": 1, "下": 1}.get(which, 0)
    if unit in ("year", "年"):
        return When(base.year + step)
    if unit in ("month", "个月", "月"):
        return _months_from(base, step)
    if step == -1:
        return When(base.year, base.month, base.day, before="weekend" if unit == "weekend" else "week")
    return _day(base + timedelta(weeks=step))


def _year_shift(step: int) -> _Resolver:
    return lambda match, base: When(base.year + step) if base else None


_RULES: tuple[tuple[str, _Resolver], ...] = (
    (r"\b(\d{4})-(\d{2})-(\d{2})\b", lambda m, b: _full(m[1], int(m[2]), m[3])),
    (rf"\b{_NTH}(?: of)? {_MONTH},? (\d{{4}})\b", lambda m, b: _full(m[3], MONTHS[m[2]], m[1])),
    (rf"\b{_MONTH} {_NTH},? (\d{{4}})\b", lambda m, b: _full(m[3], MONTHS[m[1]], m[2])),
    (rf"\b{_MONTH},? (\d{{4}})\b", lambda m, b: When(int(m[2]), MONTHS[m[1]])),
    (rf"\b{_NTH}(?: of)? {_MONTH}\b", lambda m, b: _without_year(MONTHS[m[2]], m[1], b)),
    (rf"\b{_MONTH} {_NTH}\b(?!:)", lambda m, b: _without_year(MONTHS[m[1]], m[2], b)),
    (r"(\d{4})年(\d{1,2})月(\d{1,2})[日号]", lambda m, b: _full(m[1], int(m[2]), m[3])),
    (r"(\d{4})年(\d{1,2})月", lambda m, b: When(int(m[1]), int(m[2])) if 1 <= int(m[2]) <= 12 else None),
    (r"(?<!\d)(\d{1,2})月(\d{1,2})[日号]", lambda m, b: _without_year(int(m[1]), m[2], b)),
    (r"\bday before yesterday\b|前天", _shift(-2)),
    (r"\byesterday\b|\blast night\b|昨天|昨晚", _shift(-1)),
    (r"\bday after tomorrow\b|后天", _shift(2)),
    (r"\btomorrow\b|明天|明晚", _shift(1)),
    (r"\btoday\b|\btonight\b|\bthis (?:morning|afternoon|evening)\b|今天|今晚|今早", _shift(0)),
    (r"\b" + _N + r" (days?|weeks?|months?|years?) (?:ago|back|earlier)\b", lambda m, b: _ago(m[1], m[2], b)),
    (r"\bin " + _N + r" (days?|weeks?|months?|years?)\b", lambda m, b: _ago(m[1], m[2], b, sign=1)),
    (rf"{_N_ZH}(天|日|周|个星期|个月|年)(?:以)?前", lambda m, b: _ago(m[1], m[2], b)),
    (rf"{_N_ZH}(天|日|周|个星期|个月|年)(?:以)?后", lambda m, b: _ago(m[1], m[2], b, sign=1)),
    (r"\b(last|past|next|this|on) " + _DAY + r"\b", lambda m, b: _weekday(m[1], m[2], b)),
    (r"(上|下|这)(?:个)?(?:周|星期)([一二三四五六日天])", lambda m, b: _weekday(m[1], m[2], b)),
    (r"\b(last|past|next|this) (weekend|week|month|year)\b", lambda m, b: _period(m[1], m[2], b)),
    (r"(上|下|这)(?:个)?(周|星期|个月|月)", lambda m, b: _period(m[1], m[2], b)),
    (r"去年", _year_shift(-1)),
    (r"前年", _year_shift(-2)),
    (r"今年", _year_shift(0)),
    (r"明年", _year_shift(1)),
    (r"\b(?:in|since|of|year|from|by|during) ((?:19|20)\d{2})\b|(?<!\d)((?:19|20)\d{2})年",
     lambda m, b: When(int(m[1] or m[2]))),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern), resolve) for pattern, resolve in _RULES)
# One look says whether any rule can match: most sentences hold no date at all.
_ANY = re.compile(
    r"\d{4}|\d月|day|night|morning|afternoon|evening|tomorrow|week|month|year|天|晚|周|星期|月|年|"
    + _MONTH[:-3]
    + r"\b"
)


def find_dates(text: str, base: date | None) -> list[When]:
    """Dates in ``text``, explicit ones first, then by rule; each stretch of text is read once."""
    lowered = text.lower()
    if not _ANY.search(lowered):
        return []
    found: list[When] = []
    for pattern, resolve in _COMPILED:
        for match in pattern.finditer(lowered):
            when = _resolved(resolve, match, base)
            if when is not None:
                found.append(when)
        lowered = pattern.sub(lambda match: "\x00" * len(match.group()), lowered)
    return found


def _resolved(resolve: _Resolver, match: re.Match[str], base: date | None) -> When | None:
    try:
        return resolve(match, base)
    except (OverflowError, ValueError):  # a year outside the calendar
        return None
