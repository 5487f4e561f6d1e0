"""What can be wrong inside one sample: its messages, chunks, asks and evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from aml.lib.tracks import Track
from benchmarks.packs.chunking import message_words
from benchmarks.packs.golds import GOLD_SHAPES, gold_problem
from benchmarks.types import MAX_CHARACTERS, Add, Ask, Manifest, Message, Question, Sample

Problem = tuple[str, str]


class SampleCheck:
    """The problems of one sample, as pairs of a field and a sentence."""

    def __init__(
        self,
        *,
        sample: Sample,
        manifest: Manifest,
        questions: Mapping[str, Question],
        files: frozenset[str],
    ) -> None:
        self._sample = sample
        self._manifest = manifest
        self._questions = questions
        self._files = files
        self._limit = MAX_CHARACTERS[manifest.track]
        self.asks: list[Ask] = [event.ask for event in sample.events if event.ask]
        self.adds = sum(1 for event in sample.events if event.add)
        self._lengths: dict[str, int] = defaultdict(int)
        for event in sample.events:
            if event.add:
                self._lengths[event.add.session] += len(event.add.messages)

    def problems(self) -> Iterator[Problem]:
        if self._sample.dataset not in {dataset.id for dataset in self._manifest.datasets}:
            yield "dataset", f"the manifest has no data set {self._sample.dataset!r}"
        for index, event in enumerate(self._sample.events):
            if event.add:
                yield from self._add_problems(event.add, where=f"events.{index}.add")
            if event.ask:
                yield from self._ask_problems(event.ask, where=f"events.{index}.ask")

    def _add_problems(self, add: Add, *, where: str) -> Iterator[Problem]:
        chunking = self._manifest.chunking
        if len(add.messages) > chunking.max_messages:
            yield (
                f"{where}.messages",
                f"{len(add.messages)} messages, at most {chunking.max_messages}",
            )
        words = sum(message_words(message) for message in add.messages)
        if words > chunking.max_words:
            yield f"{where}.messages", f"{words} words, at most {chunking.max_words}"
        for index, message in enumerate(add.messages):
            for problem in self._message_problems(message):
                yield f"{where}.messages.{index}.content", problem

    def _message_problems(self, message: Message) -> Iterator[str]:
        if isinstance(message.content, str):
            if not message.content.strip():
                yield "is empty after trimming"
            if len(message.content) > self._limit:
                yield f"{len(message.content)} characters, at most {self._limit}"
            return
        if self._manifest.track is not Track.MULTIMODAL:
            yield "parts belong to the Multimodal track; expected a string"
        for part in message.content:
            if part.type == "text":
                if not part.text.strip():
                    yield "a text part is empty after trimming"
                continue
            url = getattr(part, part.type).url
            if not url.startswith("data:") and url not in self._files:
                yield f"{url[:80]!r} is neither a data URI nor a file of the pack"

    def _ask_problems(self, ask: Ask, *, where: str) -> Iterator[Problem]:
        question = self._questions.get(ask.question)
        if question is None:
            yield f"{where}.question", f"there is no question {ask.question!r}"
            return
        if question.sample != self._sample.id:
            yield (
                f"{where}.question",
                f"{ask.question!r} belongs to sample {question.sample!r}",
            )
        if question.dataset != self._sample.dataset:
            yield (
                f"{where}.question",
                f"{ask.question!r} belongs to data set {question.dataset!r}",
            )
        if question.scorer in GOLD_SHAPES:
            gold = question.gold if ask.gold is None else ask.gold
            letters = frozenset(option.letter for option in question.options or ())
            problem = gold_problem(scorer=question.scorer, gold=gold, letters=letters)
            if problem:
                yield f"{where}.gold", f"{question.scorer}: {problem}"

    def own_questions(self) -> Iterator[Question]:
        """Each question asked here that belongs here, once."""
        for name in dict.fromkeys(ask.question for ask in self.asks):
            question = self._questions.get(name)
            if question is not None and question.sample == self._sample.id:
                yield question

    def evidence_problems(self, question: Question) -> Iterator[Problem]:
        """``session:n`` must name the n-th message, from 1, of one of the sample's sessions."""
        for index, reference in enumerate(question.evidence or ()):
            session, _, position = reference.rpartition(":")
            if not position.isdecimal() or session not in self._lengths:
                yield (
                    f"evidence.{index}",
                    f"{reference!r} is no 'session:number' of this sample",
                )
            elif not 1 <= int(position) <= self._lengths[session]:
                yield (
                    f"evidence.{index}",
                    f"session {session!r} has no message {position}",
                )
