"""A pack's samples on disk: every event to be had by itself, every lane's size known beforehand.

"Longest remaining lane first" needs every lane's length before the first call, and memory must not
grow with the pack: so samples are read once, in a stream, and kept in a temporary file.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, NamedTuple

from benchmarks.types import Event, Sample
from evaluations.engine.plan import LaneSize, lane_size


class AskRef(NamedTuple):
    ask: str
    question: str
    event: int


@dataclass(frozen=True, slots=True)
class LaneInfo:
    sample: str
    dataset: str
    order: int  # in the pack
    size: LaneSize
    asks: tuple[AskRef, ...]  # in order
    offsets: array[int]  # of each event, and of the end


class SampleSpool:
    """``lanes`` in the pack's order. Close it to free the disk."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="aml-samples-")  # noqa: SIM115 - lives until close
        self._end = 0
        self.lanes: dict[str, LaneInfo] = {}
        for order, sample in enumerate(samples):
            offsets = array("Q", [self._write(event) for event in sample.events])
            offsets.append(self._end)
            self.lanes[sample.id] = LaneInfo(
                sample.id, sample.dataset, order, lane_size(sample), tuple(_asks(sample)), offsets
            )

    def event(self, sample: str, index: int) -> Event:
        offsets = self.lanes[sample].offsets
        self._file.seek(offsets[index])
        return Event.model_validate_json(self._file.read(offsets[index + 1] - offsets[index]))

    def load(self, sample: str) -> Sample:
        """The whole sample; hold it no longer than needed."""
        info = self.lanes[sample]
        events = tuple(self.event(sample, index) for index in range(len(info.offsets) - 1))
        return Sample(id=sample, dataset=info.dataset, events=events)

    @property
    def adds(self) -> int:
        return sum(lane.size.adds for lane in self.lanes.values())

    @property
    def asks(self) -> int:
        return sum(lane.size.asks for lane in self.lanes.values())

    def close(self) -> None:
        self._file.close()

    def _write(self, event: Event) -> int:
        start = self._end
        self._end += self._file.write(event.model_dump_json().encode())
        return start


def _asks(sample: Sample) -> Iterator[AskRef]:
    for index, event in enumerate(sample.events):
        if event.ask is not None:
            yield AskRef(event.ask.id, event.ask.question, index)
