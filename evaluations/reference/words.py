"""Text into the words that the full-text index holds and that a query asks for.

Latin and other spaced scripts are left to SQLite's ``porter unicode61``; scripts written without spaces
become single characters and pairs of neighbours, because that tokenizer would take a sentence for one word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# Kana, Han, Hangul, Thai, Lao, Myanmar, Khmer.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_WORD = re.compile(r"\S+")
_LETTER = re.compile(r"^[A-Z][.)]\s+")
_EDGE = re.compile(r"^[^\w]+|[^\w]+$")

_STOP_WORDS = """
a about all also am an and any are as at be been but by can could did do does doing for from had has have he
her hers him his how i if in into is it its me my of on or our she should so some than that the their them
then there these they this those to was we were what when where which who whom whose why will with would
you your s t d ll re ve m don doesn didn isn wasn
"""
_STOP_CHARACTERS = (
    "的了吗是在我你他她它们呢吧什么哪谁怎有和与就都也这那个一不はがをにでとのもかへすま은는이가을를의"
)
_STOP = frozenset([*_STOP_WORDS.split(), *_STOP_CHARACTERS])

MAX_QUERY_TERMS = 200


def _pairs(match: re.Match[str]) -> str:
    run = match.group()
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return f" {' '.join([*run, *pairs])} "


def index_text(text: str) -> str:
    """What is indexed for ``text``: compatibility forms folded, unspaced scripts cut up."""
    return _UNSPACED.sub(_pairs, unicodedata.normalize("NFKC", text))


def query_terms(*texts: str) -> list[str]:
    """Distinct words to look for, in order, at most ``MAX_QUERY_TERMS``.

    Stop words go, unless nothing else is asked for.
    """
    words = list(dict.fromkeys(_words(texts)))
    telling = [word for word in words if word not in _STOP]
    return (telling or words)[:MAX_QUERY_TERMS]


def option_text(option: str) -> str:
    """A choice question's option without its letter."""
    return _LETTER.sub("", option)


def _words(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        for token in _WORD.findall(index_text(text).casefold()):
            # An apostrophe parts words in the index too: "Caroline's" asks for "caroline", not for a phrase.
            yield from (_EDGE.sub("", piece) or piece for piece in re.split(r"['’]", token) if piece)


def match_expression(terms: Iterable[str]) -> str:
    """An FTS5 expression that any of ``terms`` satisfies; a term is quoted, so nothing in it is syntax."""
    return " OR ".join('"' + term.replace('"', '""').replace("\0", " ") + '"' for term in terms)
