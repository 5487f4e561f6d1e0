"""Settings from environment variables: typed, checked together, and listed for ``.env.example``.

    env = Env(os.environ)
    env.section("What runs")
    MODE = env.choice("AML_MODE", choices=("embedded", "production"), default="embedded", help="…")
    env.require("DATABASE_URL", when=MODE == "production", reason="AML_MODE=production")
    env.finish()

Every variable may come from a file instead, named in ``NAME_FILE`` (container secrets). An empty value or an
empty file counts as unset, because compose files pass one for what nobody set. A bad value never stops
half-way: the default stands in, the problem is noted, and ``finish`` raises one ``ConfigurationError`` naming
all of them. Values of secrets, and of URLs with a log-in in them, are in no message.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit

PREFIX = "AML_"
FILE_SUFFIX = "_FILE"
TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})

# Env's methods are named after the types they return, which hides those types inside the class body.
_Str: TypeAlias = str
_Int: TypeAlias = int
_Float: TypeAlias = float
_Bool: TypeAlias = bool
_List: TypeAlias = list[str]
T = TypeVar("T")
N = TypeVar("N", int, float)


class ConfigurationError(Exception):
    """The environment can't be used; the message has one line per variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One declared variable, as ``.env.example`` shows it.

    ``shown`` is the default as one would write it, or empty; ``note`` says it where it depends on something.
    """

    name: str
    section: str
    help: str
    expected: str
    shown: str
    secret: bool
    note: str = ""


class Env:
    def __init__(self, source: Mapping[str, str], *, read_file: Callable[[str], str] | None = None) -> None:
        self._source = source
        self._read_file = read_file or _read_text
        self._section = ""
        self._variables: dict[str, Variable] = {}
        self._problems: list[str] = []
        self._set: set[str] = set()

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Everything declared so far, in order."""
        return tuple(self._variables.values())

    def section(self, title: _Str) -> None:
        """Head the variables that follow in ``.env.example``."""
        self._section = title

    def str(self, name: _Str, *, help: _Str, default: _Str = "", shown: _Str | None = None) -> _Str:
        self._declare(name, help=help, expected="text", shown=default if shown is None else shown)
        return self._parsed(name, parse=_text, default=default)

    def secret(self, name: _Str, *, help: _Str, default: _Str = "", min_length: _Int = 1) -> _Str:
        """A value that is never shown, nor is its default; at least ``min_length`` characters where set."""
        expected = f"at least {min_length} characters" if min_length > 1 else "a secret"
        self._declare(name, help=help, expected=expected, shown="", secret=True)
        return self._parsed(name, parse=lambda text: _long_enough(text, min_length), default=default)

    def choice(self, name: _Str, *, choices: Sequence[_Str], default: _Str, help: _Str) -> _Str:
        self._declare(name, help=help, expected="one of " + ", ".join(choices), shown=default)
        return self._parsed(name, parse=lambda text: _chosen(text, choices), default=default)

    def bool(self, name: _Str, *, help: _Str, default: _Bool, shown: _Str = "") -> _Bool:
        """``shown`` says the default in words where it depends on another setting; so it does for ``int``."""
        written = "yes" if default else "no"
        self._declare(name, help=help, expected="yes or no", shown="" if shown else written, note=shown)
        return self._parsed(name, parse=_yes_or_no, default=default)

    def int(
        self,
        name: _Str,
        *,
        help: _Str,
        default: _Int,
        minimum: _Int = 0,
        maximum: _Int | None = None,
        shown: _Str = "",
    ) -> _Int:
        expected = "a whole number" + _range_text(minimum, maximum)
        self._declare(name, help=help, expected=expected, shown="" if shown else f"{default}", note=shown)
        return self._parsed(name, parse=lambda text: _within(int(text), minimum, maximum), default=default)

    def float(
        self,
        name: _Str,
        *,
        help: _Str,
        default: _Float,
        minimum: _Float = 0.0,
        maximum: _Float | None = None,
    ) -> _Float:
        self._declare(
            name, help=help, expected="a number" + _range_text(minimum, maximum), shown=f"{default:g}"
        )
        return self._parsed(name, parse=lambda text: _within(float(text), minimum, maximum), default=default)

    def url(
        self,
        name: _Str,
        *,
        help: _Str,
        default: _Str = "",
        schemes: Sequence[_Str] = ("http", "https"),
        secret: _Bool = False,
        shown: _Str | None = None,
    ) -> _Str:
        """A URL with one of ``schemes`` and a host or a path; ``secret`` where it holds a password."""
        expected = "a URL starting with " + " or ".join(f"{scheme}://" for scheme in schemes)
        self._declare(
            name,
            help=help,
            expected=expected,
            shown=default if shown is None else shown,
            secret=secret,
        )
        return self._parsed(name, parse=lambda text: _url(text, schemes), default=default)

    def list(self, name: _Str, *, help: _Str, default: Sequence[_Str] = ()) -> _List:
        """Comma-separated; blanks around and between are dropped."""
        self._declare(name, help=help, expected="values separated by commas", shown=",".join(default))
        return self._parsed(name, parse=_split, default=[*default])

    def require(self, *names: _Str, reason: _Str, when: _Bool = True) -> None:
        """Note a problem for each of ``names`` (declared before) that isn't set, if ``when``."""
        if not when:
            return
        for name in names:
            variable = self._variables[name]
            if not self.is_set(name):
                self.problem(name, f"not set, but {reason} needs it (expected {variable.expected})")

    def is_set(self, name: _Str) -> _Bool:
        """Whether the environment has a value for ``name``, declared before."""
        return name in self._set

    def problem(self, name: _Str, message: _Str) -> None:
        """Note a problem that only the caller can see, such as two values that don't go together."""
        self._problems.append(f"{name}: {message}")

    def finish(self, *, elsewhere: Iterable[_Str] | None = None) -> None:
        """Raise ``ConfigurationError`` if anything is wrong.

        With ``elsewhere`` (names, or prefixes ending in ``_``, that other programs read), every other
        ``AML_`` variable nobody declared is a problem too: a misspelt one would be ignored in silence.
        """
        problems = [*self._problems]
        if elsewhere is not None:
            problems += self._unknown([*elsewhere])
        if problems:
            raise ConfigurationError("The environment can't be used:\n  " + "\n  ".join(problems))

    def _unknown(self, elsewhere: Sequence[_Str]) -> _List:
        known = {*self._variables, *(name + FILE_SUFFIX for name in self._variables)}
        prefixes = tuple(name for name in elsewhere if name.endswith("_"))
        strays = (name for name in self._source if name.startswith(PREFIX) and name not in known)
        return [
            f"{name}: no such setting{_nearest(name, self._variables)}"
            for name in sorted(strays)
            if name not in elsewhere and not (prefixes and name.startswith(prefixes))
        ]

    def _declare(
        self,
        name: _Str,
        *,
        help: _Str,
        expected: _Str,
        shown: _Str,
        secret: _Bool = False,
        note: _Str = "",
    ) -> None:
        if name in self._variables:
            raise ValueError(f"{name} is declared twice")
        section = self._section
        self._variables[name] = Variable(
            name=name, section=section, help=help, expected=expected, shown=shown, secret=secret, note=note
        )

    def _parsed(self, name: _Str, *, parse: Callable[[_Str], T], default: T) -> T:
        text = self._raw(name)
        if not text:
            return default
        self._set.add(name)
        try:
            return parse(text)
        except ValueError:
            variable = self._variables[name]
            got = "a value that is not shown" if variable.secret or "@" in text else repr(text)
            self.problem(name, f"got {got}, expected {variable.expected}")
            return default

    def _raw(self, name: _Str) -> _Str:
        direct, path = self._source.get(name, ""), self._source.get(name + FILE_SUFFIX, "")
        if not path:
            return direct.strip()
        if direct:
            self.problem(name, f"set twice, here and in {name}{FILE_SUFFIX}; expected one of them")
            return ""
        return self._from_file(name + FILE_SUFFIX, path)

    def _from_file(self, name: _Str, path: _Str) -> _Str:
        try:
            return self._read_file(path).strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text"
            self.problem(name, f"got {path!r}, expected a readable file ({reason})")
            return ""


def render_example(variables: Iterable[Variable]) -> str:
    """The text of ``.env.example``: every variable with its meaning, what it takes and its default."""
    lines = [
        "# Every setting with its default. Each can also be read from a file: NAME_FILE=/path/of/the/file.",
        "# Made by `make env-example`; edit the declarations in aml/settings.py, not this file.",
    ]
    section = None
    for variable in variables:
        if variable.section != section:
            section = variable.section
            lines += ["", f"## {section}"]
        note = f" Default: {variable.note}." if variable.note else ""
        lines += ["", f"# {variable.help}", f"# Takes {variable.expected}.{note}"]
        lines.append(f"#{variable.name}={'' if variable.secret else variable.shown}")
    return "\n".join(lines) + "\n"


def _read_text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def _text(text: str) -> str:
    return text


def _long_enough(text: str, length: int) -> str:
    if len(text) < length:
        raise ValueError("too short")
    return text


def _chosen(text: str, choices: Sequence[str]) -> str:
    if text not in choices:
        raise ValueError("not offered")
    return text


def _yes_or_no(text: str) -> bool:
    if text.lower() not in TRUE | FALSE:
        raise ValueError("neither yes nor no")
    return text.lower() in TRUE


def _within(value: N, minimum: float, maximum: float | None) -> N:
    if not math.isfinite(value) or value < minimum or (maximum is not None and value > maximum):
        raise ValueError("out of range")
    return value


def _range_text(minimum: float, maximum: float | None) -> str:
    return f" from {minimum} to {maximum}" if maximum is not None else f" of at least {minimum}"


def _url(text: str, schemes: Sequence[str]) -> str:
    parts = urlsplit(text)
    has_target = bool(parts.netloc) or bool(parts.path.strip("/"))
    if parts.scheme not in schemes or "://" not in text or not has_target or any(map(str.isspace, text)):
        raise ValueError("not such a URL")
    _ = parts.port  # raises ValueError when it is not a number within range
    return text


def _split(text: str) -> list[str]:
    return [part for part in map(str.strip, text.split(",")) if part]


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, [*known], n=1)
    return f"; did you mean {close[0]}?" if close else ""
