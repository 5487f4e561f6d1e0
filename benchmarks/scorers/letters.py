"""Which option letters an answer gives (packs.md, ``choice``, ``choice_set``, ``ordering``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from benchmarks.types import Option, Question

_FINAL_LINE = re.compile(
    r"(?im)^\W*(?:final\s+)?answer\s*[:\uff1a]\s*(.+)$|^\W*答案\s*(?:是|为|[:\uff1a])\s*(.+)$"
)
_BARE = re.compile(r"^\W*(?:option|choice|选项|选择|选)?\W*([A-Za-z])\W*$", re.IGNORECASE)
_LEADING = re.compile(r"^\W*([A-Z])\s*[).:\u3001\uff0e\uff1a\uff09]\s*(\S.*)$", re.DOTALL)
_BRACKETED = re.compile(r"[(\[{\uff08\u3010]\s*([A-Z])\s*[.)\]}\uff09\u3011]")
_STANDALONE = re.compile(r"(?<![A-Za-z0-9'\u2019-])([A-Z])(?![A-Za-z0-9'\u2019-])")
_PROSE = re.compile(r"\b(?:A(?=\s+(?!(?:or|and|is|was|because|since|as)\b)[a-z])|I)\b")
_SEQUENCE = re.compile(
    r"^[\W_]*(?:options?|choices?)?[\W_]*[A-Za-z](?:(?:[\s,;/&>\u3001\uff0c\u2192|()\[\]-]|and|then|和|与)*[A-Za-z])*[\W_]*$"
)


def _final_part(answer: str) -> str:
    lines = [match.group(1) or match.group(2) for match in _FINAL_LINE.finditer(answer)]
    return (lines[-1] if lines else answer).strip()


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()


def _by_text(text: str, options: Sequence[Option]) -> list[str]:
    wanted = _plain(text)
    return [option.letter for option in options if wanted and _plain(option.text) == wanted]


def single_letters(question: Question, answer: str) -> tuple[str, ...]:
    """The distinct letters a single-choice answer names: one when it is well formed.

    In order: a bare letter, an option's whole text, a leading letter (``B. The door``), letters in
    brackets, letters that stand alone. A letter that is no option counts as none.
    """
    options = question.options or ()
    text = _final_part(answer)
    bare = _BARE.match(text)
    if bare:
        return _offered([bare.group(1).upper()], options)
    same = _by_text(text, options)
    if len(same) == 1:
        return tuple(same)
    bracketed = _BRACKETED.findall(text)
    leading = _LEADING.match(text)
    if leading and set(bracketed) <= {leading.group(1)}:
        return _offered([leading.group(1)], options)
    return _offered(bracketed or _alone(text), options)


def _alone(text: str) -> list[str]:
    # "A" and "I" are words of English prose: before a noun or a verb they name no option.
    return _STANDALONE.findall(_PROSE.sub("", text))


def _offered(letters: Sequence[str], options: Sequence[Option]) -> tuple[str, ...]:
    offered = {option.letter for option in options}
    return tuple(dict.fromkeys(letter for letter in letters if not offered or letter in offered))


def letter_list(question: Question, answer: str) -> tuple[str, ...]:
    """Every letter of a list answer in the order given, repeats kept; empty when it is no list.

    Reads ``A, C, D``, ``ACD``, ``(C) -> (A)``, ``A and C``, and lists of bracketed letters in prose.
    """
    text = _final_part(answer)
    compact = re.sub(r"[\s()\[\].]", "", text)
    if re.fullmatch(r"[A-Z]+", compact):
        found = list(compact)
    elif _SEQUENCE.match(text):
        found = [letter.upper() for letter in re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", text)]
    else:
        found = _BRACKETED.findall(text) or _STANDALONE.findall(text)
    offered = {option.letter for option in question.options or ()}
    return tuple(found) if all(letter in offered or not offered for letter in found) else ()


def gold_letters(gold: Any) -> tuple[str, ...]:
    """Gold letters from ``"BAC"`` or ``["B", "A", "C"]``."""
    return tuple(gold)
