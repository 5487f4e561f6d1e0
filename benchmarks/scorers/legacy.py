"""Lexical measures that older boards print: diagnostics, never a score here (scoring.md, 1.1 and 1.2)."""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence

from benchmarks.scorers.lexical import normalise, overlap_f1, stem

_SENTENCE_MARKS = re.compile(r"[.,!?]")
_ROUGE_TOKEN = re.compile(r"[a-z0-9]+")
_SQUAD_ARTICLES = re.compile(r"\b(a|an|the)\b")
_SQUAD_LABELS = frozenset({"yes", "no", "noanswer"})
BLEU_EPSILON = 0.1  # NLTK's smoothing method1


def legacy_em_set(prediction: str, gold: str) -> float:
    """LoCoMo's "exact match": equal sets of normalised tokens."""
    return float(set(normalise(prediction).split()) == set(normalise(gold).split()))


def legacy_adversarial(prediction: str) -> float:
    """LoCoMo's category 5: either of two phrases."""
    lowered = prediction.lower()
    return float("no information available" in lowered or "not mentioned" in lowered)


def legacy_set_f1(prediction: str, gold: str) -> float:
    """mem0's F1 over sets of lower-case words."""
    given, wanted = (
        sorted(set(_SENTENCE_MARKS.sub(" ", text.lower()).split())) for text in (prediction, gold)
    )
    return overlap_f1(given, wanted)


def legacy_bleu1(prediction: str, gold: str) -> float:
    """BLEU-1 over white-space tokens in lower case, smoothed as NLTK's method1 does."""
    given, wanted = prediction.lower().split(), gold.lower().split()
    if not given:
        return 0.0
    matched = sum((Counter(given) & Counter(wanted)).values())
    if matched == 0:  # NLTK gives up before smoothing where no unigram matches
        return 0.0
    brevity = 1.0 if len(given) > len(wanted) else math.exp(1 - len(wanted) / len(given))
    return brevity * matched / len(given)


def legacy_rouge_l(prediction: str, gold: str) -> float:
    """ROUGE-L F-measure over stemmed tokens, as the ``rouge-score`` package counts it."""
    given, wanted = _rouge_tokens(prediction), _rouge_tokens(gold)
    common = _common_subsequence(given, wanted)
    if common == 0:
        return 0.0
    precision, recall = common / len(given), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def _rouge_tokens(text: str) -> list[str]:
    return [stem(word) if len(word) > 3 else word for word in _ROUGE_TOKEN.findall(text.lower())]


def _common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    row = [0] * (len(b) + 1)
    for left in a:
        previous = row
        row = [0]
        for index, right in enumerate(b):
            longest = previous[index] + 1 if left == right else max(previous[index + 1], row[index])
            row.append(longest)
    return row[-1]


def squad_normalise(text: str) -> str:
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(_SQUAD_ARTICLES.sub(" ", bare).split())


def legacy_squad_f1(prediction: str, gold: str) -> float:
    """HotpotQA's F1: yes, no and noanswer match only themselves."""
    given, wanted = squad_normalise(prediction), squad_normalise(gold)
    if given != wanted and (given in _SQUAD_LABELS or wanted in _SQUAD_LABELS):
        return 0.0
    return overlap_f1(given.split(), wanted.split())


def legacy_sub_em(prediction: str, gold: str) -> float:
    """1 if the normalised gold stands in the normalised prediction."""
    return float(squad_normalise(gold) in squad_normalise(prediction))
