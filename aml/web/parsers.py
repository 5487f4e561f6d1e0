"""Bodies of API requests: strict JSON, so that what is wrong with one is said and never a fault of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import IO, Any

import orjson
from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

MAX_DEPTH = 16  # the deepest request that the API knows has 3


class StrictJSONParser(JSONParser):
    """RFC 8259 in UTF-8, at most DATA_UPLOAD_MAX_MEMORY_SIZE bytes and MAX_DEPTH deep, no name twice.

    Raises ``ParseError`` with a sentence.
    """

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        data = stream.read(most + 1)
        if len(data) > most:
            raise ParseError(_("The body is longer than %(most)s bytes.") % {"most": f"{most:,}"})
        try:
            # orjson refuses what the standard library lets through, such as NaN and lone surrogates, and
            # isn't led astray by depth; the standard library can tell names that come twice.
            _refuse_deep(orjson.loads(data))
            return json.loads(data, object_pairs_hook=_object)
        except ValueError as error:
            raise ParseError(_("The body is no JSON: %(problem)s.") % {"problem": error}) from error


def _refuse_deep(value: Any) -> None:
    """Level by level, as a recursion could itself go too deep."""
    level = [value]
    for _depth in range(MAX_DEPTH):
        children = [child for each in level for child in _children(each)]
        level = [child for child in children if isinstance(child, dict | list)]
        if not level:
            return
    raise ParseError(_("The body is nested deeper than %(most)s levels.") % {"most": MAX_DEPTH})


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ParseError(_("The body has the name “%(name)s” twice in one object.") % {"name": twice[:40]})
    return found
