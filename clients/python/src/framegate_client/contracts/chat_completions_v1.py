"""The events of chat-completions.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class ChatCompletionChunkEventChoicesItemDelta(TypedDict):
    """What is added; empty at the end."""

    role: NotRequired[Literal["assistant"]]
    """In the first chunk."""
    content: NotRequired[str]
    """A piece of the answer."""
    reasoning_content: NotRequired[str]
    """A piece of the reasoning, or a line about a tool or a question. Not part of the API; many servers send it under this name."""


class ChatCompletionChunkEventChoicesItem(TypedDict):
    index: int
    """The only choice."""
    delta: ChatCompletionChunkEventChoicesItemDelta
    """What is added; empty at the end."""
    finish_reason: Literal["stop", "length", "content_filter", None]
    """Why the answer ended; null before its end."""


class ChatCompletionChunkEventUsagePromptTokensDetails(TypedDict):
    """Absent if unknown."""

    cached_tokens: int
    """Tokens read from the cache."""


class ChatCompletionChunkEventUsageCompletionTokensDetails(TypedDict):
    """Absent if unknown."""

    reasoning_tokens: int
    """The part that was reasoning."""


class ChatCompletionChunkEventUsage(TypedDict):
    """The usage of the whole run, in the last chunk, whose `choices` are empty."""

    prompt_tokens: int
    """Tokens read, including cached ones."""
    completion_tokens: int
    """Tokens written, including reasoning."""
    total_tokens: int
    """Their sum."""
    prompt_tokens_details: NotRequired[ChatCompletionChunkEventUsagePromptTokensDetails]
    """Absent if unknown."""
    completion_tokens_details: NotRequired[ChatCompletionChunkEventUsageCompletionTokensDetails]
    """Absent if unknown."""
    cost: NotRequired[float]
    """US dollars; absent if unknown. Not part of the API."""


class ChatCompletionChunkEvent(TypedDict):
    """A piece of the answer, its end, or its usage."""

    id: str
    """`chatcmpl-` and the run's id; the same in all chunks."""
    object: Literal["chat.completion.chunk"]
    """The event's type."""
    created: int
    """When the run began, in Unix epoch seconds; the same in all chunks."""
    model: str
    """The model, or the runner if it does not name one; the same in all chunks."""
    choices: list[ChatCompletionChunkEventChoicesItem]
    """One choice, or none in the chunk with the usage."""
    usage: NotRequired[ChatCompletionChunkEventUsage]
    """The usage of the whole run, in the last chunk, whose `choices` are empty."""


class ErrorEventError(TypedDict):
    """The error."""

    message: str
    """What happened."""
    type: Literal["run_error"]
    """The kind of error."""
    param: None
    """Always null."""
    code: str
    """A stable code."""


class ErrorEvent(TypedDict):
    """Why the answer is incomplete: the last event of a run that failed or was interrupted."""

    id: str
    """The id of the chunks."""
    object: Literal["error"]
    """The event's type. Not part of the API, whose clients look for `error`."""
    error: ErrorEventError
    """The error."""


ChatCompletionsV1Event: TypeAlias = (
    ChatCompletionChunkEvent
    | ErrorEvent
)
"""Any event of chat-completions.v1."""
