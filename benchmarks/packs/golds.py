"""The shape of the gold that each scorer reads (packs.md, "Scorers")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Check = Callable[[Any, frozenset[str]], str | None]

OPTION_SCORERS = frozenset({"choice", "choice_set", "ordering"})


def _filled(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _text(gold: Any, letters: frozenset[str]) -> str | None:
    return None if _filled(gold) else "expected a string that is not empty"


def _texts(gold: Any, letters: frozenset[str]) -> str | None:
    if isinstance(gold, list | tuple) and gold and all(map(_filled, gold)):
        return None
    return "expected a list of strings that are not empty"


def _text_or_texts(gold: Any, letters: frozenset[str]) -> str | None:
    if _text(gold, letters) is None or _texts(gold, letters) is None:
        return None
    return "expected a string or a list of accepted strings"


def _letter(gold: Any, letters: frozenset[str]) -> str | None:
    return None if gold in letters else "expected the letter of one option"


def _letters(gold: Any) -> Sequence[str] | None:
    """Letters as a list of one-letter strings or as one string (``"BAC"``)."""
    if isinstance(gold, str):
        return list(gold)
    if isinstance(gold, list | tuple) and all(isinstance(item, str) for item in gold):
        return list(gold)
    return None


def _letter_set(gold: Any, letters: frozenset[str]) -> str | None:
    found = _letters(gold)
    if found and len(set(found)) == len(found) and set(found) <= letters:
        return None
    return "expected a set of the options' letters, each once"


def _letter_order(gold: Any, letters: frozenset[str]) -> str | None:
    found = _letters(gold)
    if found and len(found) == len(letters) and set(found) == letters:
        return None
    return "expected every option's letter once, in order"


def _preference(gold: Any, letters: frozenset[str]) -> str | None:
    if _filled(gold):
        return None
    if isinstance(gold, Mapping) and _filled(gold.get("preference")):
        return None
    return "expected a preference, as a string or as an object with 'preference'"


def _tests(gold: Any, letters: frozenset[str]) -> str | None:
    return (
        None if isinstance(gold, Mapping) and gold else "expected an object with the test command and files"
    )


def _nothing(gold: Any, letters: frozenset[str]) -> str | None:
    return None if gold is None or isinstance(gold, str) else "expected no gold, or a note in words"


GOLD_SHAPES: Mapping[str, Check] = {
    "exact": _text_or_texts,
    "token_f1": _text_or_texts,
    "choice": _letter,
    "choice_set": _letter_set,
    "ordering": _letter_order,
    "judge_binary": _text_or_texts,
    "judge_rubric_all": _texts,
    "judge_rubric_mean": _texts,
    "event_order": _texts,
    "judge_preference": _preference,
    "abstain": _nothing,
    "code_tests": _tests,
}


def gold_problem(*, scorer: str, gold: Any, letters: frozenset[str]) -> str | None:
    """What is wrong with ``gold`` for ``scorer``, or None. The scorer must be a known one."""
    return GOLD_SHAPES[scorer](gold, letters)
