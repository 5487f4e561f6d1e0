"""Short answers cut out of a sentence, by what the question asks for."""

from __future__ import annotations

import re
from collections.abc import Callable

from evaluations.engine.offline.dates import When, find_dates
from evaluations.engine.offline.numbers import NUMBER_WORDS, as_text, number
from evaluations.engine.offline.retrieval import Hit
from evaluations.engine.offline.words import CJK, STOP, is_chinese, stem, term_set, terms

_UNITS = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|decades?)"
_COUNT = (
    r"(?:\d[\d,.]*\d|\d|" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + "|a few|several|a|an)"
)
_DURATION = re.compile(rf"\b{_COUNT}(?: (?:and a half|more))? {_UNITS}\b", re.IGNORECASE)
_ZH_DURATION = re.compile(r"[\d一二两三四五六七八九十半]+(?:个)?(?:分钟|小时|天|周|星期|月|年)")
_NUMBER = re.compile(
    r"[$€£¥]?\d+(?:,\d{3})*(?:\.\d+)?%?|\b(?:"
    + "|".join(NUMBER_WORDS)
    + r"|once|twice)\b|[一二两三四五六七八九十]+(?=[个只次位名本条])",
    re.IGNORECASE,
)
_PROPER = re.compile(r"\b[A-Z][\w'&-]*(?:(?: of| de| the)? [A-Z][\w'&-]*)*")
_PLACE = re.compile(
    r"\b(?:in|at|to|from|near|on) ((?:the |a |my |our )?[A-Z][\w'-]*(?:,? (?:of )?[A-Z][\w'-]*)*)"
)
_OPENERS = "i i'm i've i'd i'll hey hi wow thanks yeah yes no oh the a an my it it's so and but we they"
_STARTERS = frozenset(_OPENERS.split())
_SPEAKER = re.compile(rf"^\s*([A-Z][\w .'-]{{0,30}}|[{CJK}]{{1,8}}|user|assistant)[:：]\s*")
_BREAK = re.compile(
    r"[,;:()—–\"“”]|\s-\s|\.\s|[，；：。！？、]|\b(?:but|because|so|when|which|who|while|since)\b"
)
_HEAD = re.compile(r"(?:what|which) (?:(?:kind|type|sort) of )?(\w{3,})\b", re.IGNORECASE)
MAX_WORDS = 9
MAX_CHINESE = 16
_WORD = re.compile(r"[\w'-]+")


def without_speaker(text: str) -> str:
    return _SPEAKER.sub("", text, count=1)


def speaker(text: str) -> str | None:
    found = _SPEAKER.match(text)
    return found[1] if found else None


def date_span(hit: Hit, question: str) -> str:
    """The date in the sentence, else in its memory, else the memory's own day."""
    chinese = is_chinese(question)
    dates = find_dates(hit.sentence.text, hit.memory.day) or find_dates(hit.memory.text, hit.memory.day)
    if dates:
        return _as_fine_as(dates[0], question).text(chinese=chinese)
    day = hit.memory.day
    return When(day.year, day.month, day.day).text(chinese=chinese) if day else ""


def _as_fine_as(when: When, question: str) -> When:
    lowered = question.lower()
    if re.search(r"\b(?:what|which) year\b|哪一?年", lowered):
        return When(when.year)
    if re.search(r"\b(?:what|which) month\b|哪个?月", lowered) and when.month:
        return When(when.year, when.month)
    return when


def duration_span(hit: Hit, question: str) -> str:
    text = without_speaker(hit.sentence.text)
    pattern = _ZH_DURATION if is_chinese(question) else _DURATION
    found = pattern.search(text) or pattern.search(hit.memory.text)
    return found[0] if found else ""


def number_span(hit: Hit, question: str) -> str:
    """The number nearest to a word of the question."""
    text = without_speaker(hit.sentence.text)
    found = [match for match in _NUMBER.finditer(text) if not re.fullmatch(r"(?:19|20)\d\d", match[0])]
    if not found:
        return ""
    best = min(found, key=lambda match: _distance(match, text, hit))
    value = number(best[0])
    return best[0] if value is None or best[0][0].isdigit() else as_text(value)


def name_span(hit: Hit, question: str) -> str:
    """Proper names that the question does not hold already."""
    known = set(terms(question))
    text = without_speaker(hit.sentence.text)
    found = [(match, _without_openers(match[0])) for match in _PROPER.finditer(text)]
    fresh = [(match, name) for match, name in found if name and not known & set(terms(name))]
    return min(fresh, key=lambda pair: _distance(pair[0], text, hit), default=(None, ""))[1]


def _distance(match: re.Match[str], text: str, hit: Hit) -> int:
    """Characters between ``match`` and the nearest word of the question."""
    anchors = [word for word in _WORD.finditer(text) if stem(word[0].lower()) in hit.matched]
    gaps = (max(match.start() - word.end(), word.start() - match.end(), 0) for word in anchors)
    return min(gaps, default=0)


def _without_openers(name: str) -> str:
    """``Hey Caroline`` without the ``Hey``: a capital at the start of a sentence makes no name."""
    words = re.split(r"(?<=,) | ", name)
    while words and words[0].lower().strip(",") in _STARTERS:
        words = words[1:]
    return " ".join(words)


def person_span(hit: Hit, question: str) -> str:
    name = name_span(hit, question)
    said_by = speaker(hit.sentence.text) or speaker(hit.memory.text)
    if name or not said_by or stem(said_by.lower()) in set(terms(question)):
        return name
    return said_by


def place_span(hit: Hit, question: str) -> str:
    known = set(terms(question))
    for found in _PLACE.finditer(without_speaker(hit.sentence.text)):
        if not known & set(terms(found[1])):
            return found[1]
    return name_span(hit, question) or phrase_span(hit, question)


def phrase_span(hit: Hit, question: str) -> str:
    """The stretch of the sentence next to the question's words that says something new."""
    text = without_speaker(hit.sentence.text).strip()
    if is_chinese(text):
        return _chinese_phrase(text, question)
    wanted = set(terms(question))
    described = _described(text, question, wanted)
    if described:
        return described
    pieces = [piece.strip() for piece in _BREAK.split(text) if piece and piece.strip()]
    best = max(range(len(pieces)), key=lambda index: _known(pieces[index], wanted), default=None)
    if best is None:
        return ""
    near = [_after(pieces[best], wanted), *pieces[best + 1 : best + 2], _before(pieces[best], wanted)]
    found = next((phrase for phrase in map(_shortened, near) if _adds(phrase, wanted)), "")
    return found.strip(" .!?'\"")


def _described(text: str, question: str, wanted: set[str]) -> str:
    """For "which N …": what the sentence puts before N, as in "an electrical engineering project"."""
    asked = _HEAD.match(question)
    if asked is None:
        return ""
    words = text.split()
    head = stem(asked[1].lower())
    place = next((i for i, word in enumerate(words) if stem(word.lower().strip(".,!?;:")) == head), 0)
    start = place
    while start and words[start - 1].lower() not in STOP and words[start - 1][-1] not in ".,!?;:":
        start -= 1
    before = words[start:place]
    return " ".join(before) if _adds(" ".join(before), wanted) else ""


def _known(piece: str, wanted: set[str]) -> int:
    return len(wanted & term_set(piece))


def _adds(phrase: str, wanted: set[str]) -> bool:
    return bool(term_set(phrase) - wanted)


def _places(words: list[str], wanted: set[str]) -> list[int]:
    return [index for index, word in enumerate(words) if term_set(word) & wanted]


def _after(piece: str, wanted: set[str]) -> str:
    """What follows the last word of the question; the whole piece where it holds none."""
    words = piece.split()
    places = _places(words, wanted)
    return " ".join(words[places[-1] + 1 :]) if places else piece


def _before(piece: str, wanted: set[str]) -> str:
    """What precedes the last word of the question, its subject and verb left out as they are stop words."""
    words = piece.split()
    places = _places(words, wanted)
    return " ".join(words[: places[-1]]) if places else piece


def _shortened(phrase: str) -> str:
    return " ".join(_trim(phrase.split())[:MAX_WORDS])


def _trim(words: list[str]) -> list[str]:
    start = 0
    while start < len(words) and words[start].lower().strip(".,!?") in STOP:
        start += 1
    end = len(words)
    while end > start and words[end - 1].lower().strip(".,!?") in STOP:
        end -= 1
    return words[start:end]


def _chinese_phrase(text: str, question: str) -> str:
    known = set(question)
    pieces = [piece for piece in re.split(r"[，。！？；：、,.!?;:]", text) if piece]
    linked = [part for piece in pieces for part in [_after_link(piece)] if part and not set(part) <= known]
    best = max(linked or pieces, key=lambda piece: len(set(piece) - known), default="")
    return best.strip()[:MAX_CHINESE]


def _after_link(piece: str) -> str:
    found = list(re.finditer(r"是|叫做?|为|在|喜欢|改成了?|换成了?|住在?", piece))
    return piece[found[-1].end() :] if found else ""


Span = Callable[[Hit, str], str]
_WHEN = r"^(?:so )?when\b|\b(?:what|which) (?:date|day|month|year)\b|^on what\b"
_WHEN_ZH = r"什么时候|何时|哪一?[天年月日]|几[月号日]|哪个月"
_HOW_LONG = rf"\bhow long\b|\bhow many {_UNITS}\b|多久|多长时间|几(?:天|周|个月|年)"
_HOW_MANY = r"\bhow (?:many|much|old|often|far|tall|big)\b|\bwhat (?:number|percentage|price|age)\b"
_HOW_MANY_ZH = r"多少|几[个只次位名本条岁]"
_KINDS: tuple[tuple[str, Span], ...] = (
    (f"{_WHEN}|{_WHEN_ZH}", date_span),
    (_HOW_LONG, duration_span),
    (f"{_HOW_MANY}|{_HOW_MANY_ZH}", number_span),
    (r"^(?:who|whose|whom)\b|\bwith whom\b|谁", person_span),
    (r"^where\b|\b(?:what|which) (?:city|country|place|town|state|location)\b", place_span),
)
_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), span) for pattern, span in _KINDS)


def span_for(question: str) -> Span:
    """The extractor for the kind of answer that ``question`` asks for."""
    return next((span for pattern, span in _COMPILED if pattern.search(question)), phrase_span)


def extract(hit: Hit, question: str) -> str:
    """A short answer from ``hit``, never empty: at worst the sentence."""
    found = span_for(question)(hit, question) or phrase_span(hit, question)
    return found.strip() or without_speaker(hit.sentence.text)
