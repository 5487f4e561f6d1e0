"""The pack format ``aml-pack/1`` as Pydantic models, and what a scorer returns.

Pure Python: no Django. JSON Schemas are generated from these models.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from aml.lib.tracks import Track

PACK_FORMAT: Final = "aml-pack/1"

Id = Annotated[str, Field(min_length=1, max_length=200)]
NonEmpty = Annotated[str, Field(min_length=1)]


class Visibility(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"


class Strict(BaseModel):
    """Refuses unknown fields, so that a typing error in a pack is found at import."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Url(Strict):
    url: NonEmpty


class TextPart(Strict):
    type: Literal["text"]
    text: NonEmpty


class ImagePart(Strict):
    type: Literal["image_url"]
    image_url: Url


class AudioPart(Strict):
    type: Literal["audio_url"]
    audio_url: Url


class VideoPart(Strict):
    type: Literal["video_url"]
    video_url: Url


Part = Annotated[TextPart | ImagePart | AudioPart | VideoPart, Field(discriminator="type")]
Content = NonEmpty | Annotated[tuple[Part, ...], Field(min_length=1)]

#: What the memory contract promises of the messages sent; packs are checked against it.
MAX_TIMESTAMP_MS: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
MAX_CHARACTERS: Final[Mapping[Track, int]] = {
    Track.TEXTUAL: 8_000, Track.MULTIMODAL: 8_000, Track.CODING: 100_000,
}  # fmt: skip
CHUNK_MESSAGES: Final = 20
CHUNK_WORDS: Final = 2_000


class Message(Strict):
    """One message of a history; ``timestamp`` is event time in Unix milliseconds."""

    role: Literal["user", "assistant"]
    content: Content
    timestamp: Annotated[int, Field(le=MAX_TIMESTAMP_MS)] | None = None


class Add(Strict):
    session: Id
    messages: Annotated[tuple[Message, ...], Field(min_length=1)]


class Ask(Strict):
    """One asking of a question; ``gold`` replaces the question's own at this moment."""

    id: Id
    question: Id
    gold: Any = None


class Event(Strict):
    """Exactly one of ``add`` and ``ask``."""

    add: Add | None = None
    ask: Ask | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Event:
        if (self.add is None) == (self.ask is None):
            raise ValueError("an event holds exactly one of 'add' and 'ask'")
        return self


class Sample(Strict):
    """One isolated history: one ``user_id`` of a run."""

    id: Id
    dataset: Id
    events: Annotated[tuple[Event, ...], Field(min_length=1)]


class Option(Strict):
    letter: Annotated[str, Field(pattern=r"^[A-Z]$")]
    text: NonEmpty


class Question(Strict):
    """One question with its gold. ``query`` is what Search receives, unchanged."""

    id: Id
    sample: Id
    dataset: Id
    capability: Id
    leaf: str | None = None
    query: Content
    options: tuple[Option, ...] | None = None
    scorer: Id
    gold: Any = None
    evidence: tuple[str, ...] | None = None
    condition: str | None = None

    def option_texts(self) -> list[str] | None:
        """The options as Search sends them: ``"A. text"``, in the pack's fixed order."""
        if self.options is None:
            return None
        return [f"{option.letter}. {option.text}" for option in self.options]


class Title(Strict):
    en: NonEmpty
    zh: NonEmpty


class Capability(Strict):
    """A column of the board; ``weight`` counts in Overall, ``rubric`` says what it asks."""

    id: Id
    title: Title
    rubric: Title
    weight: Annotated[float, Field(gt=0, le=1)]
    leaves: tuple[str, ...] = ()


class Dataset(Strict):
    id: Id
    title: NonEmpty
    licence: NonEmpty


class ModelUse(Strict):
    """How a model role is used: prompt file, role, and its limits in tokens."""

    prompt: NonEmpty
    role: Literal["answer", "judge"]
    max_output_tokens: Annotated[int, Field(ge=1, le=32_768)]
    input_budget_tokens: Annotated[int, Field(ge=256)] = 117_760


class Chunking(Strict):
    max_messages: Annotated[int, Field(ge=1)] = CHUNK_MESSAGES
    max_words: Annotated[int, Field(ge=1)] = CHUNK_WORDS


class Counts(Strict):
    samples: int
    adds: int
    asks: int
    questions: int


class Manifest(Strict):
    """``pack.json``; the pack hash is SHA-256 over its canonical JSON (RFC 8785)."""

    format: Literal["aml-pack/1"] = PACK_FORMAT
    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{1,62}$")]
    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    title: NonEmpty
    track: Track
    visibility: Visibility
    licence: NonEmpty
    attribution: NonEmpty
    source: NonEmpty
    language: NonEmpty
    capabilities: Annotated[tuple[Capability, ...], Field(min_length=1)]
    datasets: Annotated[tuple[Dataset, ...], Field(min_length=1)]
    answer: ModelUse
    judge: ModelUse
    chunking: Chunking = Chunking()
    counts: Counts
    files: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]

    @model_validator(mode="after")
    def _weights_sum_to_one(self) -> Manifest:
        total = sum(capability.weight for capability in self.capabilities)
        if abs(total - 1) > 1e-9:
            raise ValueError(f"capability weights sum to {total}, expected 1")
        return self


class Score(Strict):
    """A value in [0, 1], or a reason why there is none: unscored is not wrong."""

    value: Annotated[float, Field(ge=0, le=1)] | None = None
    reason: str | None = None
    details: dict[str, Any] = {}

    @model_validator(mode="after")
    def _value_or_reason(self) -> Score:
        if (self.value is None) == (self.reason is None):
            raise ValueError("a score has either a value or a reason")
        return self


class Verdict(Strict):
    """What the judge said: one grade per criterion (a single one for binary scorers)."""

    grades: tuple[str, ...]
    reason: str = ""
