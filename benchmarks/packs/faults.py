"""What is wrong with a pack: where, in which field, and in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import ValidationError


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """``line`` counts from 1 and is None where a fault belongs to a whole file; ``field`` is a JSON path."""

    file: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file} line {self.line}"
        return f"{place}: {self.field}: {self.message}" if self.field else f"{place}: {self.message}"


class PackError(Exception):
    """The pack can't be used; ``faults`` holds every reason that was found."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = list(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


def schema_faults(error: ValidationError, *, file: str, line: int | None = None) -> Iterator[Fault]:
    """One fault for each problem pydantic found."""
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        field = ".".join(str(part) for part in problem["loc"])
        yield Fault(file, line, field, problem["msg"])
