"""Text normalisation and token overlap that several scorers share (scoring.md, 1.1 and 1.2)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES_AND = re.compile(r"\b(a|an|the|and)\b")
_CJK = re.compile(r"([\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
_CJK_PUNCTUATION = re.compile(
    r"[\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff01\uff1f\uff08\uff09\u300a\u300b\u300c\u300d]"
)


@lru_cache(maxsize=1)
def _stemmer() -> PorterStemmer:
    # Imported on first use: nltk takes a second to import, and most processes never stem.
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Porter's stem in NLTK's default form; other Porter packages differ on 158 of LoCoMo's words."""
    stemmed: str = _stemmer().stem(word)
    return stemmed


def normalise(text: str) -> str:
    """LoCoMo's normal form: no commas, lower case, no ASCII punctuation, no a/an/the/and.

    CJK text, which the reference never met, is spaced by character so that tokens exist.
    """
    lowered = text.replace(",", "").lower().translate(_PUNCTUATION)
    spaced = _CJK.sub(r" \1 ", _CJK_PUNCTUATION.sub(" ", lowered))
    return " ".join(_ARTICLES_AND.sub(" ", spaced).split())


def stems(text: str) -> list[str]:
    return [stem(word) for word in normalise(text).split()]


def overlap_f1(predicted: Sequence[str], gold: Sequence[str]) -> float:
    """F1 of two bags of tokens; 0 where they share none."""
    common = sum((Counter(predicted) & Counter(gold)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(predicted), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def stemmed_f1(prediction: str, gold: str) -> float:
    return overlap_f1(stems(prediction), stems(gold))
