"""What may be told of private questions (product.md, rule 11)."""

from __future__ import annotations

#: A capability of a Full with fewer questions shows no score of its own: it would tell single answers.
SMALLEST_CELL = 5


def too_few(asks: int) -> bool:
    """Whether the score of a cell with so many questions stays hidden; one without any has none to hide."""
    return 0 < asks < SMALLEST_CELL
