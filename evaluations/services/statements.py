"""What a participant confirms before a Full. The texts have a version, kept with the run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils import translation
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

VERSION = 1


@dataclass(frozen=True, slots=True)
class Statement:
    id: str
    text: StrOrPromise


STATEMENTS: tuple[Statement, ...] = (
    Statement("rules", _("We have read the rules of this cycle and keep to them.")),
    Statement(
        "frozen",
        _(
            "From now on this version stays as it is: code, image, endpoints, authentication and capacity. "
            "Any change is a new version."
        ),
    ),
    Statement(
        "service",
        _(
            "We keep the service and its memories running until the run page and a mail say that we may "
            "stop, and restore it if a reviewer asks."
        ),
    ),
    Statement(
        "isolation",
        _("Memories never cross users, tasks, teams or runs, and the service does not learn across them."),
    ),
    Statement(
        "memory_only",
        _(
            "The service returns memories. It does not recognise the benchmark, answer its questions, or "
            "carry instructions for the Answer model or the Judge."
        ),
    ),
    Statement(
        "data",
        _(
            "Evaluation data serves only this evaluation. We delete it within 30 days after the end and "
            "confirm it."
        ),
    ),
    Statement("cost", _("We know what this run does to our quota and cooldown, as told here.")),
)

IDS = tuple(statement.id for statement in STATEMENTS)


def missing(accepted: Collection[str]) -> list[str]:
    """Ids of statements that are not among ``accepted``, in their order."""
    return [name for name in IDS if name not in accepted]


def record(accepted: Collection[str]) -> dict[str, Any]:
    """What a run keeps: the version and the English texts, in force whatever language the page had."""
    with translation.override("en"):
        texts = {one.id: str(one.text) for one in STATEMENTS if one.id in accepted}
    return {"version": VERSION, "accepted": texts}
