"""What a reviewer confirms to have looked at before approving (product.md, rule 10)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    text: StrOrPromise


CHECKLIST: tuple[Item, ...] = (
    Item("materials", _("Materials: I opened what the division requires, and it is what the version says.")),
    Item("version", _("Version: what ran is the pinned one, and nothing was changed during the run.")),
    Item(
        "results",
        _(
            "Results: counts, errors and scores are plausible, and every warning among the findings is explained."
        ),
    ),
    Item(
        "compliance",
        _(
            "Compliance: nothing speaks for leaks between users, built-in answers, or instructions to the models."
        ),
    ),
)

IDS = tuple(item.id for item in CHECKLIST)


def missing(ticked: Collection[str]) -> list[str]:
    """Ids that are not among ``ticked``, in their order."""
    return [name for name in IDS if name not in ticked]
