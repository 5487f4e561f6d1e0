"""Filling a story's slots: names, numbers and dates, with the forms a sentence needs.

A slot is filled by an expression:

    woman                 a word of that pool that this sample has not used yet
    one red | green       one of these
    int 12 40 [step]      a whole number
    day 2 -3              the date three days before the session of beat 2
    span d1 d2            whole days from one date slot to another
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from benchmarks.packs.textual.story import StoryError, pools

_CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_MONTHS = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_WEEKDAYS_ZH = "一二三四五六日"
PRONOUNS: Mapping[str, tuple[str, str, str]] = {
    "woman": ("she", "her", "her"),
    "man": ("he", "his", "him"),
}


class Value(str):
    """A word with further forms as attributes, for ``{p.he}`` in a story."""

    he: str
    his: str
    him: str
    pronoun: str
    weekday: str
    year: str
    day: date | None = None

    def __new__(cls, text: str, **forms: str) -> Value:
        value = super().__new__(cls, text)
        value.__dict__.update(forms)
        return value


def person(text: str, *, pool: str) -> Value:
    he, his, him = PRONOUNS[pool]
    return Value(text, he=he, his=his, him=him, pronoun="她" if pool == "woman" else "他")


def day_value(day: date, *, language: str) -> Value:
    """``14 March`` or ``3月14日``, with ``.weekday`` and ``.year`` (the date with its year)."""
    if language == "zh":
        text = f"{day.month}月{day.day}日"
        value = Value(text, weekday=f"星期{_WEEKDAYS_ZH[day.weekday()]}", year=f"{day.year}年{text}")
    else:
        text = f"{day.day} {_MONTHS[day.month - 1]}"
        value = Value(text, weekday=_WEEKDAYS[day.weekday()], year=f"{text} {day.year}")
    value.day = day
    return value


class Words:
    """The pools of one sample: a word is drawn once, so that names stay names of one thing."""

    def __init__(self, *, language: str, random: random.Random) -> None:
        self._random = random
        self._pools = pools(language)
        self._left: dict[str, list[str]] = {}

    def draw(self, pool: str) -> str:
        if not self._left.get(pool):
            fresh = list(self._pools[pool])
            self._random.shuffle(fresh)
            self._left[pool] = fresh
        return self._left[pool].pop()

    def any(self, pool: str) -> str:
        """A word that may come again."""
        return self._random.choice(self._pools[pool])

    def __contains__(self, pool: str) -> bool:
        return pool in self._pools


def fill_slots(
    slots: Mapping[str, str],
    *,
    words: Words,
    random: random.Random,
    dates: Sequence[date],
    language: str,
    fresh: bool,
) -> dict[str, Value]:
    """Values by slot name. ``dates`` are the sessions' dates by beat; ``fresh`` draws unused words."""
    values: dict[str, Value] = {}
    for name, how in slots.items():
        kind, _, rest = how.partition(" ")
        if kind == "one":
            values[name] = Value(random.choice([part.strip() for part in rest.split("|")]))
        elif kind == "int":
            low, high, *step = (int(part) for part in rest.split())
            values[name] = Value(str(random.randrange(low, high + 1, *step)))
        elif kind == "day":
            beat, offset = (int(part) for part in rest.split())
            values[name] = day_value(dates[beat - 1] + timedelta(days=offset), language=language)
        elif kind == "span":
            values[name] = _span(*rest.split(), values=values)
        elif how in words:
            values[name] = _word(how, words=words, fresh=fresh)
        else:
            raise StoryError(f"slot {name!r}: {how!r} is neither a pool nor an expression")
    return values


def _span(first: str, last: str, *, values: Mapping[str, Value]) -> Value:
    start, end = values[first].day, values[last].day
    if start is None or end is None:
        raise StoryError(f"span {first} {last}: both must be day slots")
    return Value(str((end - start).days))


def _word(pool: str, *, words: Words, fresh: bool) -> Value:
    text = words.draw(pool) if fresh else words.any(pool)
    return person(text, pool=pool) if pool in PRONOUNS else Value(text)


def render(text: str, *, values: Mapping[str, Value], random: random.Random) -> str:
    """The text with one wording of each ``[a|b]`` and its slots filled."""
    chosen = text
    while match := _CHOICE.search(chosen):
        chosen = chosen[: match.start()] + random.choice(match[1].split("|")) + chosen[match.end() :]
    filled = chosen.format_map(values)
    return filled[:1].upper() + filled[1:]
