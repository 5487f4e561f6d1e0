"""Patches for coding questions: a diff quoted in the memories, or a replacement they ask for."""

from __future__ import annotations

import difflib
import re

from evaluations.engine.offline.prompt import AnswerPrompt, Memory
from evaluations.engine.offline.words import term_set

_DIFF = re.compile(r"(?m)^(--- \S.*\n\+\+\+ \S.*\n(?:@@.*\n?|[ +\-\\].*\n?|\n)+)")
_FILE = re.compile(
    r"(?m)^(?:#+ |File:? |\*\*)?`?([\w./-]+\.\w{1,6})`?(?:\*\*)?:?\s*\n```\w*\n(.*?)\n```", re.DOTALL
)
_REPLACE = (
    re.compile(r"(?:replace|change|rename) `([^`\n]+)` (?:with|by|to|into) `([^`\n]+)`", re.IGNORECASE),
    re.compile(
        r"(?:use|write|call) `(?P<new>[^`\n]+)` (?:instead of|rather than|and not|, not) `(?P<old>[^`\n]+)`",
        re.IGNORECASE,
    ),
)


def patch_for(asked: AnswerPrompt) -> str:
    """The quoted diff that shares most words with the question, else replacements made in its files."""
    wanted = term_set(asked.question)
    ranked = sorted(asked.memories, key=lambda memory: -len(wanted & memory.terms))
    quoted = next(
        (found[1] for memory in ranked for found in [_DIFF.search(memory.text + "\n")] if found), None
    )
    if quoted:
        return quoted.strip("\n") + "\n"
    return _replaced(asked.question, ranked)


def _replaced(question: str, memories: list[Memory]) -> str:
    pairs = [pair for memory in memories for pair in _pairs(memory.text)]
    patches = [_diff(path, body, pairs=pairs) for path, body in _FILE.findall(question)]
    return "".join(patch for patch in patches if patch)


def _pairs(text: str) -> list[tuple[str, str]]:
    direct, instead = _REPLACE
    return [(found[1], found[2]) for found in direct.finditer(text)] + [
        (found["old"], found["new"]) for found in instead.finditer(text)
    ]


def _diff(path: str, body: str, *, pairs: list[tuple[str, str]]) -> str:
    changed = body
    for old, new in pairs:
        changed = changed.replace(old, new)
    lines = difflib.unified_diff(
        body.splitlines(keepends=True), changed.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
