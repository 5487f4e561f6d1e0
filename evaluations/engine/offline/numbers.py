"""Numbers in digits and words, English and Chinese."""

from __future__ import annotations

import re

_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ONES.split())},
    **{word: 20 + 10 * index for index, word in enumerate(_TENS.split())},
    "hundred": 100,
    "thousand": 1_000,
    "couple": 2,
    "dozen": 12,
}
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_ZH_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_DIGITS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


def number(text: str) -> float | None:
    """The value of one number: ``3``, ``3,500``, ``three``, ``a``, ``十二``; None for anything else."""
    text = text.lower()
    if text in ("a", "an"):
        return 1.0
    if text in NUMBER_WORDS or text in _TIMES:
        return float(NUMBER_WORDS.get(text, _TIMES.get(text, 0)))
    if _DIGITS.fullmatch(text):
        return float(text.replace(",", ""))
    return _chinese(text)


def _chinese(text: str) -> float | None:
    if not text or any(character not in _ZH_DIGITS and character != "十" for character in text):
        return None
    if "十" not in text:
        return float("".join(str(_ZH_DIGITS[character]) for character in text))
    tens, _, ones = text.partition("十")
    if len(tens) > 1 or len(ones) > 1 or "十" in ones:
        return None
    return float((_ZH_DIGITS[tens] if tens else 1) * 10 + (_ZH_DIGITS[ones] if ones else 0))


def as_text(value: float) -> str:
    """``3`` for 3.0, so that equal numbers are equal text."""
    return f"{value:.12g}"
