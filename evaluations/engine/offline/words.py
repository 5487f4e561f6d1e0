"""Words, light stems and sentences, in English and Chinese, for the offline models."""

from __future__ import annotations

import re
from functools import lru_cache

CJK = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[a-z0-9\u00c0-\u024f]+(?:['\u2019._:/@-][a-z0-9\u00c0-\u024f]+)*|[{CJK}]+")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|(?<=[。！？；])|\n+")
_HAS_CJK = re.compile(rf"[{CJK}]")

_STOP = """
a an the and or but if of in on at to from by for with about as into than then so that this these those
it its it's is are was were be been being am do does did done have has had having will would can could
should shall may might must what when where who whom whose which why how i me my mine you your yours he
him his she her hers we us our ours they them their theirs there here not no nor too very just also any
some much many more most such own same both each i'm i've i'd i'll you're we're they're that's what's
don't didn't doesn't s t ll re ve d m get got let
"""
_STOP_CHINESE = """
什么 么时 时候 哪里 哪个 哪些 哪天 多少 为什 怎么 如何 是否 的是 了吗 是什 是谁 在哪
吗 的 了 是 在 我 你 他 她 它 们 和 与 就 都 也
我们 你们 他们 这个 那个 一个 有没 没有 什 么 谁 呢 吧 啊 请问 可以
"""
STOP = frozenset(_STOP.split())
_STOP_ZH = frozenset(_STOP_CHINESE.split())
_FORMS = """
go: went gone goes going | buy: bought | make: made | take: took taken | see: saw seen | give: gave given
meet: met | write: wrote written | run: ran running | win: won winning | lose: lost losing | find: found
begin: began begun | become: became | come: came | know: knew known | think: thought | teach: taught
feel: felt | keep: kept | leave: left | say: said | tell: told | speak: spoke spoken | send: sent
spend: spent | build: built | sell: sold | drive: drove driven | eat: ate eaten | fall: fell fallen
grow: grew grown | hold: held | learn: learnt | sing: sang sung | sit: sat | sleep: slept
swim: swam swum swimming | choose: chose chosen | break: broke broken | bring: brought | catch: caught
draw: drew drawn | hear: heard | pay: paid | wear: wore worn | child: children kid kids | person: people
life: lives | wife: wives | foot: feet | mom: mother mum | dad: father
"""
_IRREGULAR = {
    form: base.strip()
    for entry in _FORMS.replace("\n", "|").split("|")
    if entry.strip()
    for base, _, forms in [entry.partition(":")]
    for form in forms.split()
}


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light stem: irregular verbs, plurals, -ing, -ed, -ly; good enough to match, not to print."""
    word = word.replace("\u2019", "'").removesuffix("'s").removesuffix("'")
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or not word.isalpha():
        return word
    for ending, kept, put in (
        ("ies", 4, "y"),
        ("sses", 5, "ss"),
        ("ing", 5, ""),
        ("ied", 4, "y"),
        ("ed", 4, ""),
    ):
        if word.endswith(ending) and len(word) > kept:
            return _undouble(word[: -len(ending)] + put)
    if word.endswith("ly") and len(word) > 5:
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word


def _undouble(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word


def is_chinese(text: str) -> bool:
    return _HAS_CJK.search(text) is not None


def raw_tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def terms(text: str) -> list[str]:
    """Stems of the content words; Chinese runs as bigrams (a run of one as itself)."""
    found: list[str] = []
    for token in raw_tokens(text):
        if is_chinese(token):
            found += _bigrams(token)
        elif token not in STOP:
            found.append(stem(token))
            if "-" in token or "/" in token:
                found += [stem(part) for part in re.split(r"[-/]", token) if part and part not in STOP]
    return found


def _bigrams(run: str) -> list[str]:
    grams = [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return [gram for gram in grams if gram not in _STOP_ZH]


@lru_cache(maxsize=32_768)
def term_set(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]
