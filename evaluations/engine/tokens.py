"""Counting and cutting text in tokens of ``o200k_base``.

The vocabulary comes with the ``bpe-openai`` package: nothing is downloaded. For a model with
another vocabulary the count is an estimate, and pages say so.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any

VOCABULARY = "o200k_base"
PACKAGE = "bpe-openai"
MODULE = "bpe_openai"
_LONGEST_TOKEN = 128
_CACHED_CHARACTERS = 4_096  # longer texts are hardly ever counted twice


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    return _bindings().tokenizer_for_encoding(VOCABULARY)


def _bindings() -> Any:
    """The package's compiled part alone: its ``__init__`` reads three vocabularies into Python tables
    that we never use, which costs every process half a second and 60 MB."""
    package = find_spec(MODULE)
    spec = PathFinder.find_spec("_bindings", package.submodule_search_locations if package else None)
    if spec is None or spec.loader is None:
        raise ImportError(f"the package {PACKAGE} is not installed")
    bindings = module_from_spec(spec)
    spec.loader.exec_module(bindings)
    return bindings


@lru_cache(maxsize=16_384)
def _count_short(text: str) -> int:
    return int(_tokenizer().count(text))


def count(text: str) -> int:
    """Tokens in ``text``; special tokens' names count as the plain text they are. Linear in time."""
    safe = _safe(text)
    return _count_short(safe) if len(safe) <= _CACHED_CHARACTERS else int(_tokenizer().count(safe))


def _safe(text: str) -> str:
    """``text`` without lone surrogates, which UTF-8 can't hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def at_most(text: str) -> int:
    """An upper bound of ``count`` that costs nothing: no token is shorter than one byte."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def truncate(text: str, tokens: int) -> str:
    """The longest prefix that ends at a token boundary and counts at most ``tokens``.

    A character of several tokens is never cut in two.
    """
    # No token has more than 128 bytes, so this head holds more than ``tokens`` of them if it is cut.
    head = _safe(text)[: (max(tokens, 0) + 1) * _LONGEST_TOKEN]
    ids = _tokenizer().encode(head)
    if len(ids) <= tokens:
        return head
    return next(
        prefix
        for end in range(max(tokens, 0), -1, -1)
        if (prefix := _decode(ids[:end])) is not None and count(prefix) <= max(tokens, 0)
    )


def _decode(ids: list[int]) -> str | None:
    try:
        return str(_tokenizer().decode(ids))
    except ValueError:  # the last token ends inside a character
        return None
