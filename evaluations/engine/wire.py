"""What travels: pydantic models of Add and Search, published as JSON Schemas.

They describe; the replies a service really sends are judged by ``evaluations.engine.replies``, which
says more precisely what is wrong and is some ten times faster.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from aml.lib.ids import MAX_ID_LENGTH
from benchmarks.types import MAX_TIMESTAMP_MS

Text = Annotated[str, Field(min_length=1)]
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID_LENGTH)]


def _without_default(schema: dict[str, Any]) -> None:
    """What is left out has no default on the wire; ``null`` is never sent."""
    schema.pop("default", None)


class Sent(BaseModel):
    """What the platform sends: exactly these fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Received(BaseModel):
    """What a service answers: further fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class MediaUrl(Sent):
    url: Annotated[str, Field(pattern=r"^data:(image|audio|video)/[a-z0-9]+;base64,[A-Za-z0-9+/]+=*$")]


class TextPart(Sent):
    type: Literal["text"]
    text: Text


class ImagePart(Sent):
    type: Literal["image_url"]
    image_url: MediaUrl


class AudioPart(Sent):
    type: Literal["audio_url"]
    audio_url: MediaUrl


class VideoPart(Sent):
    type: Literal["video_url"]
    video_url: MediaUrl


Part = Annotated[TextPart | ImagePart | AudioPart | VideoPart, Field(discriminator="type")]
Content = Text | Annotated[list[Part], Field(min_length=1)]


class WireMessage(Sent):
    role: Literal["user", "assistant"]
    content: Content
    timestamp: Annotated[int, Field(le=MAX_TIMESTAMP_MS)] | SkipJsonSchema[None] = Field(
        default=None,
        description="Event time, Unix milliseconds; left out when unknown.",
        json_schema_extra=_without_default,
    )


class WireAdd(Sent):
    request_id: Id
    user_id: Id
    session_id: Id
    messages: Annotated[list[WireMessage], Field(min_length=1)]


class WireAddReply(Received):
    success: Literal[True]
    request_id: Text
    user_id: Text
    session_id: Text


class WireSearch(Sent):
    query: Content
    user_id: Id
    top_k: Annotated[int, Field(ge=1)]
    options: list[str] | SkipJsonSchema[None] = Field(
        default=None,
        description="Only for choice questions; else left out.",
        json_schema_extra=_without_default,
    )


class WireItem(Received):
    id: Text | Annotated[int, Field(description="Accepted, with a warning.")]
    content: Content
    score: float | None = None
    created_at: Annotated[str, Field(description="ISO 8601 date or date-time.")] | None = None


class WireSearchReply(Received):
    data: list[WireItem]


class WireAccepted(Received):
    """An Add's 202, where an Add-status URL is registered."""

    task_id: Annotated[str, Field(min_length=1, max_length=255)] | int


class WireStatus(Received):
    status: Literal["succeeded", "completed", "failed", "pending", "running"]
    error: Any = None


def schemas() -> dict[str, dict[str, Any]]:
    """JSON Schemas by name."""
    models: dict[str, type[BaseModel]] = {
        "add_request": WireAdd,
        "add_reply": WireAddReply,
        "add_accepted": WireAccepted,
        "add_status": WireStatus,
        "search_request": WireSearch,
        "search_reply": WireSearchReply,
    }
    return {name: model.model_json_schema() for name, model in models.items()}
