"""The events of open-responses.v1, from its JSON Schemas."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from .._compat import NotRequired


class ErrorEventError(TypedDict):
    """The error."""

    type: Literal["run_error"]
    """The kind of error."""
    code: str
    """A stable code."""
    message: str
    """The message for a person."""
    param: None
    """Always null."""


class ErrorEvent(TypedDict):
    """The run is no longer kept: no more events follow."""

    type: Literal["error"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    error: ErrorEventError
    """The error."""


class ResponseCompletedEventResponseOutputItemContentItem(TypedDict):
    """A text."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseCompletedEventResponseOutputItemSummaryItem(TypedDict):
    """A text."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseCompletedEventResponseOutputItemErrorContentItem(TypedDict):
    """A text."""

    type: Literal["text"]
    """The kind of part."""
    text: str
    """The message."""


class ResponseCompletedEventResponseOutputItemError(TypedDict):
    """Of a call: what went wrong; null if nothing did."""

    type: Literal["mcp_tool_execution_error"]
    """The kind of error."""
    content: list[ResponseCompletedEventResponseOutputItemErrorContentItem]
    """The message, one part."""


class ResponseCompletedEventResponseOutputItem(TypedDict):
    """An item."""

    id: str
    """The item's id, the same in all events."""
    type: Literal["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"]
    """The kind of item: text, reasoning, a call that the runner executes, a question, or its answer."""
    status: NotRequired[Literal["in_progress", "completed", "failed"]]
    """How far it is. Approval items have none: they are complete at once."""
    role: NotRequired[Literal["assistant"]]
    """Of a message: always the assistant."""
    content: NotRequired[list[ResponseCompletedEventResponseOutputItemContentItem]]
    """Of a message: its text, one part. Empty while it is open."""
    summary: NotRequired[list[ResponseCompletedEventResponseOutputItemSummaryItem]]
    """Of reasoning: its text, one part. Empty while it is open."""
    server_label: NotRequired[str]
    """Of a call or a question: the runner, which executes the tool."""
    name: NotRequired[str]
    """Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none."""
    arguments: NotRequired[str]
    """Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete."""
    output: NotRequired[str | None]
    """Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran."""
    error: NotRequired[ResponseCompletedEventResponseOutputItemError | None]
    """Of a call: what went wrong; null if nothing did."""
    approval_request_id: NotRequired[str | None]
    """Of a call: the question about it, null if there is none. Of an answer: the question."""
    approve: NotRequired[bool]
    """Of an answer: whether the call may run."""
    reason: NotRequired[str | None]
    """Of an answer: why; null if unknown."""
    call_id: NotRequired[str]
    """Of a call: the runner's own id for it; absent if it has none. framegate adds it."""
    approval_id: NotRequired[str]
    """Of a question: the runner's own id for it, which a decision names. framegate adds it."""
    parent_item_id: NotRequired[str]
    """Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it."""


class ResponseCompletedEventResponseUsageInputTokensDetails(TypedDict):
    """What they consist of."""

    cached_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    cache_write_tokens: NotRequired[int]
    """Tokens written to the cache; absent if unknown."""


class ResponseCompletedEventResponseUsageOutputTokensDetails(TypedDict):
    """What they consist of."""

    reasoning_tokens: int
    """The part that was reasoning; 0 if unknown."""


class ResponseCompletedEventResponseUsage(TypedDict):
    """The usage of the whole run; null before its end, and if the runner gave none."""

    input_tokens: int
    """Tokens read, including cached ones."""
    input_tokens_details: ResponseCompletedEventResponseUsageInputTokensDetails
    """What they consist of."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: ResponseCompletedEventResponseUsageOutputTokensDetails
    """What they consist of."""
    total_tokens: int
    """The sum of both."""
    cost: NotRequired[float]
    """US dollars; absent if unknown. Not part of the API."""


class ResponseCompletedEventResponseMetadata(TypedDict):
    """Where the response comes from."""

    run_id: str
    """The run."""
    session_id: str
    """Its session."""
    runner: str
    """The runner."""
    error_code: NotRequired[str]
    """The run's code for a failure or a limit. Absent if it has none."""
    omitted_items: NotRequired[str]
    """How many of the first items are left out of the output because it is too long. Absent if none are."""


class ResponseCompletedEventResponseTextFormat(TypedDict):
    """The form of the text."""

    type: Literal["text"]
    """Plain text."""


class ResponseCompletedEventResponseText(TypedDict):
    """The API's default."""

    format: ResponseCompletedEventResponseTextFormat
    """The form of the text."""


class ResponseCompletedEventResponse(TypedDict):
    """The whole response."""

    id: str
    """`resp_` and the run's id."""
    object: Literal["response"]
    """Always `response`."""
    created_at: int
    """When the run began, in Unix epoch seconds."""
    completed_at: int
    """When the run ended, in Unix epoch seconds."""
    status: Literal["completed"]
    """How far the response is."""
    incomplete_details: None
    """Null: it is not incomplete."""
    error: None
    """Null: it has not failed."""
    model: str
    """The model, or the runner if it does not name one; the same in all events."""
    output: list[ResponseCompletedEventResponseOutputItem]
    """The items in their order; empty at the beginning. Long texts are cut, and say so."""
    usage: ResponseCompletedEventResponseUsage | None
    """The usage of the whole run; null before its end, and if the runner gave none."""
    metadata: ResponseCompletedEventResponseMetadata
    """Where the response comes from."""
    previous_response_id: None
    """Always null."""
    instructions: None
    """Always null: the runner has its own."""
    tools: list[Any]
    """Always empty: the client has no tools."""
    tool_choice: Literal["auto"]
    """The API's default."""
    truncation: Literal["disabled"]
    """The API's default."""
    parallel_tool_calls: bool
    """The API's default."""
    text: ResponseCompletedEventResponseText
    """The API's default."""
    temperature: float
    """The API's default."""
    top_p: float
    """The API's default."""
    presence_penalty: float
    """The API's default."""
    frequency_penalty: float
    """The API's default."""
    top_logprobs: int
    """The API's default."""
    reasoning: None
    """Always null."""
    max_output_tokens: None
    """Always null."""
    max_tool_calls: None
    """Always null."""
    store: bool
    """Always false: the API cannot retrieve the response. framegate has the run."""
    background: bool
    """Always false."""
    service_tier: Literal["default"]
    """The API's default."""
    safety_identifier: None
    """Always null."""
    prompt_cache_key: None
    """Always null."""


class ResponseCompletedEvent(TypedDict):
    """The run went well: the last event."""

    type: Literal["response.completed"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    response: ResponseCompletedEventResponse
    """The whole response."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseContentPartAddedEventPart(TypedDict):
    """The part, without text."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseContentPartAddedEvent(TypedDict):
    """The text of a message begins."""

    type: Literal["response.content_part.added"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    content_index: int
    """The part of the item: it has only one."""
    part: ResponseContentPartAddedEventPart
    """The part, without text."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseContentPartDoneEventPart(TypedDict):
    """The whole part."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseContentPartDoneEvent(TypedDict):
    """The text of a message is complete."""

    type: Literal["response.content_part.done"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    content_index: int
    """The part of the item: it has only one."""
    part: ResponseContentPartDoneEventPart
    """The whole part."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseCreatedEventResponseOutputItemContentItem(TypedDict):
    """A text."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseCreatedEventResponseOutputItemSummaryItem(TypedDict):
    """A text."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseCreatedEventResponseOutputItemErrorContentItem(TypedDict):
    """A text."""

    type: Literal["text"]
    """The kind of part."""
    text: str
    """The message."""


class ResponseCreatedEventResponseOutputItemError(TypedDict):
    """Of a call: what went wrong; null if nothing did."""

    type: Literal["mcp_tool_execution_error"]
    """The kind of error."""
    content: list[ResponseCreatedEventResponseOutputItemErrorContentItem]
    """The message, one part."""


class ResponseCreatedEventResponseOutputItem(TypedDict):
    """An item."""

    id: str
    """The item's id, the same in all events."""
    type: Literal["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"]
    """The kind of item: text, reasoning, a call that the runner executes, a question, or its answer."""
    status: NotRequired[Literal["in_progress", "completed", "failed"]]
    """How far it is. Approval items have none: they are complete at once."""
    role: NotRequired[Literal["assistant"]]
    """Of a message: always the assistant."""
    content: NotRequired[list[ResponseCreatedEventResponseOutputItemContentItem]]
    """Of a message: its text, one part. Empty while it is open."""
    summary: NotRequired[list[ResponseCreatedEventResponseOutputItemSummaryItem]]
    """Of reasoning: its text, one part. Empty while it is open."""
    server_label: NotRequired[str]
    """Of a call or a question: the runner, which executes the tool."""
    name: NotRequired[str]
    """Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none."""
    arguments: NotRequired[str]
    """Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete."""
    output: NotRequired[str | None]
    """Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran."""
    error: NotRequired[ResponseCreatedEventResponseOutputItemError | None]
    """Of a call: what went wrong; null if nothing did."""
    approval_request_id: NotRequired[str | None]
    """Of a call: the question about it, null if there is none. Of an answer: the question."""
    approve: NotRequired[bool]
    """Of an answer: whether the call may run."""
    reason: NotRequired[str | None]
    """Of an answer: why; null if unknown."""
    call_id: NotRequired[str]
    """Of a call: the runner's own id for it; absent if it has none. framegate adds it."""
    approval_id: NotRequired[str]
    """Of a question: the runner's own id for it, which a decision names. framegate adds it."""
    parent_item_id: NotRequired[str]
    """Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it."""


class ResponseCreatedEventResponseUsageInputTokensDetails(TypedDict):
    """What they consist of."""

    cached_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    cache_write_tokens: NotRequired[int]
    """Tokens written to the cache; absent if unknown."""


class ResponseCreatedEventResponseUsageOutputTokensDetails(TypedDict):
    """What they consist of."""

    reasoning_tokens: int
    """The part that was reasoning; 0 if unknown."""


class ResponseCreatedEventResponseUsage(TypedDict):
    """The usage of the whole run; null before its end, and if the runner gave none."""

    input_tokens: int
    """Tokens read, including cached ones."""
    input_tokens_details: ResponseCreatedEventResponseUsageInputTokensDetails
    """What they consist of."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: ResponseCreatedEventResponseUsageOutputTokensDetails
    """What they consist of."""
    total_tokens: int
    """The sum of both."""
    cost: NotRequired[float]
    """US dollars; absent if unknown. Not part of the API."""


class ResponseCreatedEventResponseMetadata(TypedDict):
    """Where the response comes from."""

    run_id: str
    """The run."""
    session_id: str
    """Its session."""
    runner: str
    """The runner."""
    error_code: NotRequired[str]
    """The run's code for a failure or a limit. Absent if it has none."""
    omitted_items: NotRequired[str]
    """How many of the first items are left out of the output because it is too long. Absent if none are."""


class ResponseCreatedEventResponseTextFormat(TypedDict):
    """The form of the text."""

    type: Literal["text"]
    """Plain text."""


class ResponseCreatedEventResponseText(TypedDict):
    """The API's default."""

    format: ResponseCreatedEventResponseTextFormat
    """The form of the text."""


class ResponseCreatedEventResponse(TypedDict):
    """The response, without items."""

    id: str
    """`resp_` and the run's id."""
    object: Literal["response"]
    """Always `response`."""
    created_at: int
    """When the run began, in Unix epoch seconds."""
    completed_at: None
    """Null: the response is not completed."""
    status: Literal["in_progress"]
    """How far the response is."""
    incomplete_details: None
    """Null: it is not incomplete."""
    error: None
    """Null: it has not failed."""
    model: str
    """The model, or the runner if it does not name one; the same in all events."""
    output: list[ResponseCreatedEventResponseOutputItem]
    """The items in their order; empty at the beginning. Long texts are cut, and say so."""
    usage: ResponseCreatedEventResponseUsage | None
    """The usage of the whole run; null before its end, and if the runner gave none."""
    metadata: ResponseCreatedEventResponseMetadata
    """Where the response comes from."""
    previous_response_id: None
    """Always null."""
    instructions: None
    """Always null: the runner has its own."""
    tools: list[Any]
    """Always empty: the client has no tools."""
    tool_choice: Literal["auto"]
    """The API's default."""
    truncation: Literal["disabled"]
    """The API's default."""
    parallel_tool_calls: bool
    """The API's default."""
    text: ResponseCreatedEventResponseText
    """The API's default."""
    temperature: float
    """The API's default."""
    top_p: float
    """The API's default."""
    presence_penalty: float
    """The API's default."""
    frequency_penalty: float
    """The API's default."""
    top_logprobs: int
    """The API's default."""
    reasoning: None
    """Always null."""
    max_output_tokens: None
    """Always null."""
    max_tool_calls: None
    """Always null."""
    store: bool
    """Always false: the API cannot retrieve the response. framegate has the run."""
    background: bool
    """Always false."""
    service_tier: Literal["default"]
    """The API's default."""
    safety_identifier: None
    """Always null."""
    prompt_cache_key: None
    """Always null."""


class ResponseCreatedEvent(TypedDict):
    """The response begins: the first event."""

    type: Literal["response.created"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    response: ResponseCreatedEventResponse
    """The response, without items."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseFailedEventResponseError(TypedDict):
    """Why the run failed."""

    code: str
    """A stable code."""
    message: str
    """The message for a person."""


class ResponseFailedEventResponseOutputItemContentItem(TypedDict):
    """A text."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseFailedEventResponseOutputItemSummaryItem(TypedDict):
    """A text."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseFailedEventResponseOutputItemErrorContentItem(TypedDict):
    """A text."""

    type: Literal["text"]
    """The kind of part."""
    text: str
    """The message."""


class ResponseFailedEventResponseOutputItemError(TypedDict):
    """Of a call: what went wrong; null if nothing did."""

    type: Literal["mcp_tool_execution_error"]
    """The kind of error."""
    content: list[ResponseFailedEventResponseOutputItemErrorContentItem]
    """The message, one part."""


class ResponseFailedEventResponseOutputItem(TypedDict):
    """An item."""

    id: str
    """The item's id, the same in all events."""
    type: Literal["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"]
    """The kind of item: text, reasoning, a call that the runner executes, a question, or its answer."""
    status: NotRequired[Literal["in_progress", "completed", "failed"]]
    """How far it is. Approval items have none: they are complete at once."""
    role: NotRequired[Literal["assistant"]]
    """Of a message: always the assistant."""
    content: NotRequired[list[ResponseFailedEventResponseOutputItemContentItem]]
    """Of a message: its text, one part. Empty while it is open."""
    summary: NotRequired[list[ResponseFailedEventResponseOutputItemSummaryItem]]
    """Of reasoning: its text, one part. Empty while it is open."""
    server_label: NotRequired[str]
    """Of a call or a question: the runner, which executes the tool."""
    name: NotRequired[str]
    """Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none."""
    arguments: NotRequired[str]
    """Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete."""
    output: NotRequired[str | None]
    """Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran."""
    error: NotRequired[ResponseFailedEventResponseOutputItemError | None]
    """Of a call: what went wrong; null if nothing did."""
    approval_request_id: NotRequired[str | None]
    """Of a call: the question about it, null if there is none. Of an answer: the question."""
    approve: NotRequired[bool]
    """Of an answer: whether the call may run."""
    reason: NotRequired[str | None]
    """Of an answer: why; null if unknown."""
    call_id: NotRequired[str]
    """Of a call: the runner's own id for it; absent if it has none. framegate adds it."""
    approval_id: NotRequired[str]
    """Of a question: the runner's own id for it, which a decision names. framegate adds it."""
    parent_item_id: NotRequired[str]
    """Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it."""


class ResponseFailedEventResponseUsageInputTokensDetails(TypedDict):
    """What they consist of."""

    cached_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    cache_write_tokens: NotRequired[int]
    """Tokens written to the cache; absent if unknown."""


class ResponseFailedEventResponseUsageOutputTokensDetails(TypedDict):
    """What they consist of."""

    reasoning_tokens: int
    """The part that was reasoning; 0 if unknown."""


class ResponseFailedEventResponseUsage(TypedDict):
    """The usage of the whole run; null before its end, and if the runner gave none."""

    input_tokens: int
    """Tokens read, including cached ones."""
    input_tokens_details: ResponseFailedEventResponseUsageInputTokensDetails
    """What they consist of."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: ResponseFailedEventResponseUsageOutputTokensDetails
    """What they consist of."""
    total_tokens: int
    """The sum of both."""
    cost: NotRequired[float]
    """US dollars; absent if unknown. Not part of the API."""


class ResponseFailedEventResponseMetadata(TypedDict):
    """Where the response comes from."""

    run_id: str
    """The run."""
    session_id: str
    """Its session."""
    runner: str
    """The runner."""
    error_code: NotRequired[str]
    """The run's code for a failure or a limit. Absent if it has none."""
    omitted_items: NotRequired[str]
    """How many of the first items are left out of the output because it is too long. Absent if none are."""


class ResponseFailedEventResponseTextFormat(TypedDict):
    """The form of the text."""

    type: Literal["text"]
    """Plain text."""


class ResponseFailedEventResponseText(TypedDict):
    """The API's default."""

    format: ResponseFailedEventResponseTextFormat
    """The form of the text."""


class ResponseFailedEventResponse(TypedDict):
    """The whole response."""

    id: str
    """`resp_` and the run's id."""
    object: Literal["response"]
    """Always `response`."""
    created_at: int
    """When the run began, in Unix epoch seconds."""
    completed_at: None
    """Null: the response is not completed."""
    status: Literal["failed"]
    """How far the response is."""
    incomplete_details: None
    """Null: it is not incomplete."""
    error: ResponseFailedEventResponseError
    """Why the run failed."""
    model: str
    """The model, or the runner if it does not name one; the same in all events."""
    output: list[ResponseFailedEventResponseOutputItem]
    """The items in their order; empty at the beginning. Long texts are cut, and say so."""
    usage: ResponseFailedEventResponseUsage | None
    """The usage of the whole run; null before its end, and if the runner gave none."""
    metadata: ResponseFailedEventResponseMetadata
    """Where the response comes from."""
    previous_response_id: None
    """Always null."""
    instructions: None
    """Always null: the runner has its own."""
    tools: list[Any]
    """Always empty: the client has no tools."""
    tool_choice: Literal["auto"]
    """The API's default."""
    truncation: Literal["disabled"]
    """The API's default."""
    parallel_tool_calls: bool
    """The API's default."""
    text: ResponseFailedEventResponseText
    """The API's default."""
    temperature: float
    """The API's default."""
    top_p: float
    """The API's default."""
    presence_penalty: float
    """The API's default."""
    frequency_penalty: float
    """The API's default."""
    top_logprobs: int
    """The API's default."""
    reasoning: None
    """Always null."""
    max_output_tokens: None
    """Always null."""
    max_tool_calls: None
    """Always null."""
    store: bool
    """Always false: the API cannot retrieve the response. framegate has the run."""
    background: bool
    """Always false."""
    service_tier: Literal["default"]
    """The API's default."""
    safety_identifier: None
    """Always null."""
    prompt_cache_key: None
    """Always null."""


class ResponseFailedEvent(TypedDict):
    """The run failed: the last event."""

    type: Literal["response.failed"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    response: ResponseFailedEventResponse
    """The whole response."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseInProgressEventResponseOutputItemContentItem(TypedDict):
    """A text."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseInProgressEventResponseOutputItemSummaryItem(TypedDict):
    """A text."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseInProgressEventResponseOutputItemErrorContentItem(TypedDict):
    """A text."""

    type: Literal["text"]
    """The kind of part."""
    text: str
    """The message."""


class ResponseInProgressEventResponseOutputItemError(TypedDict):
    """Of a call: what went wrong; null if nothing did."""

    type: Literal["mcp_tool_execution_error"]
    """The kind of error."""
    content: list[ResponseInProgressEventResponseOutputItemErrorContentItem]
    """The message, one part."""


class ResponseInProgressEventResponseOutputItem(TypedDict):
    """An item."""

    id: str
    """The item's id, the same in all events."""
    type: Literal["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"]
    """The kind of item: text, reasoning, a call that the runner executes, a question, or its answer."""
    status: NotRequired[Literal["in_progress", "completed", "failed"]]
    """How far it is. Approval items have none: they are complete at once."""
    role: NotRequired[Literal["assistant"]]
    """Of a message: always the assistant."""
    content: NotRequired[list[ResponseInProgressEventResponseOutputItemContentItem]]
    """Of a message: its text, one part. Empty while it is open."""
    summary: NotRequired[list[ResponseInProgressEventResponseOutputItemSummaryItem]]
    """Of reasoning: its text, one part. Empty while it is open."""
    server_label: NotRequired[str]
    """Of a call or a question: the runner, which executes the tool."""
    name: NotRequired[str]
    """Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none."""
    arguments: NotRequired[str]
    """Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete."""
    output: NotRequired[str | None]
    """Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran."""
    error: NotRequired[ResponseInProgressEventResponseOutputItemError | None]
    """Of a call: what went wrong; null if nothing did."""
    approval_request_id: NotRequired[str | None]
    """Of a call: the question about it, null if there is none. Of an answer: the question."""
    approve: NotRequired[bool]
    """Of an answer: whether the call may run."""
    reason: NotRequired[str | None]
    """Of an answer: why; null if unknown."""
    call_id: NotRequired[str]
    """Of a call: the runner's own id for it; absent if it has none. framegate adds it."""
    approval_id: NotRequired[str]
    """Of a question: the runner's own id for it, which a decision names. framegate adds it."""
    parent_item_id: NotRequired[str]
    """Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it."""


class ResponseInProgressEventResponseUsageInputTokensDetails(TypedDict):
    """What they consist of."""

    cached_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    cache_write_tokens: NotRequired[int]
    """Tokens written to the cache; absent if unknown."""


class ResponseInProgressEventResponseUsageOutputTokensDetails(TypedDict):
    """What they consist of."""

    reasoning_tokens: int
    """The part that was reasoning; 0 if unknown."""


class ResponseInProgressEventResponseUsage(TypedDict):
    """The usage of the whole run; null before its end, and if the runner gave none."""

    input_tokens: int
    """Tokens read, including cached ones."""
    input_tokens_details: ResponseInProgressEventResponseUsageInputTokensDetails
    """What they consist of."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: ResponseInProgressEventResponseUsageOutputTokensDetails
    """What they consist of."""
    total_tokens: int
    """The sum of both."""
    cost: NotRequired[float]
    """US dollars; absent if unknown. Not part of the API."""


class ResponseInProgressEventResponseMetadata(TypedDict):
    """Where the response comes from."""

    run_id: str
    """The run."""
    session_id: str
    """Its session."""
    runner: str
    """The runner."""
    error_code: NotRequired[str]
    """The run's code for a failure or a limit. Absent if it has none."""
    omitted_items: NotRequired[str]
    """How many of the first items are left out of the output because it is too long. Absent if none are."""


class ResponseInProgressEventResponseTextFormat(TypedDict):
    """The form of the text."""

    type: Literal["text"]
    """Plain text."""


class ResponseInProgressEventResponseText(TypedDict):
    """The API's default."""

    format: ResponseInProgressEventResponseTextFormat
    """The form of the text."""


class ResponseInProgressEventResponse(TypedDict):
    """The response, without items."""

    id: str
    """`resp_` and the run's id."""
    object: Literal["response"]
    """Always `response`."""
    created_at: int
    """When the run began, in Unix epoch seconds."""
    completed_at: None
    """Null: the response is not completed."""
    status: Literal["in_progress"]
    """How far the response is."""
    incomplete_details: None
    """Null: it is not incomplete."""
    error: None
    """Null: it has not failed."""
    model: str
    """The model, or the runner if it does not name one; the same in all events."""
    output: list[ResponseInProgressEventResponseOutputItem]
    """The items in their order; empty at the beginning. Long texts are cut, and say so."""
    usage: ResponseInProgressEventResponseUsage | None
    """The usage of the whole run; null before its end, and if the runner gave none."""
    metadata: ResponseInProgressEventResponseMetadata
    """Where the response comes from."""
    previous_response_id: None
    """Always null."""
    instructions: None
    """Always null: the runner has its own."""
    tools: list[Any]
    """Always empty: the client has no tools."""
    tool_choice: Literal["auto"]
    """The API's default."""
    truncation: Literal["disabled"]
    """The API's default."""
    parallel_tool_calls: bool
    """The API's default."""
    text: ResponseInProgressEventResponseText
    """The API's default."""
    temperature: float
    """The API's default."""
    top_p: float
    """The API's default."""
    presence_penalty: float
    """The API's default."""
    frequency_penalty: float
    """The API's default."""
    top_logprobs: int
    """The API's default."""
    reasoning: None
    """Always null."""
    max_output_tokens: None
    """Always null."""
    max_tool_calls: None
    """Always null."""
    store: bool
    """Always false: the API cannot retrieve the response. framegate has the run."""
    background: bool
    """Always false."""
    service_tier: Literal["default"]
    """The API's default."""
    safety_identifier: None
    """Always null."""
    prompt_cache_key: None
    """Always null."""


class ResponseInProgressEvent(TypedDict):
    """The runner works on the response: the second event."""

    type: Literal["response.in_progress"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    response: ResponseInProgressEventResponse
    """The response, without items."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseIncompleteEventResponseIncompleteDetails(TypedDict):
    """Why the answer is incomplete."""

    reason: str
    """`max_output_tokens`, `content_filter`, or `interrupted`."""
    message: NotRequired[str]
    """The message for a person; absent if there is none. framegate adds it."""


class ResponseIncompleteEventResponseOutputItemContentItem(TypedDict):
    """A text."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseIncompleteEventResponseOutputItemSummaryItem(TypedDict):
    """A text."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseIncompleteEventResponseOutputItemErrorContentItem(TypedDict):
    """A text."""

    type: Literal["text"]
    """The kind of part."""
    text: str
    """The message."""


class ResponseIncompleteEventResponseOutputItemError(TypedDict):
    """Of a call: what went wrong; null if nothing did."""

    type: Literal["mcp_tool_execution_error"]
    """The kind of error."""
    content: list[ResponseIncompleteEventResponseOutputItemErrorContentItem]
    """The message, one part."""


class ResponseIncompleteEventResponseOutputItem(TypedDict):
    """An item."""

    id: str
    """The item's id, the same in all events."""
    type: Literal["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"]
    """The kind of item: text, reasoning, a call that the runner executes, a question, or its answer."""
    status: NotRequired[Literal["in_progress", "completed", "failed"]]
    """How far it is. Approval items have none: they are complete at once."""
    role: NotRequired[Literal["assistant"]]
    """Of a message: always the assistant."""
    content: NotRequired[list[ResponseIncompleteEventResponseOutputItemContentItem]]
    """Of a message: its text, one part. Empty while it is open."""
    summary: NotRequired[list[ResponseIncompleteEventResponseOutputItemSummaryItem]]
    """Of reasoning: its text, one part. Empty while it is open."""
    server_label: NotRequired[str]
    """Of a call or a question: the runner, which executes the tool."""
    name: NotRequired[str]
    """Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none."""
    arguments: NotRequired[str]
    """Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete."""
    output: NotRequired[str | None]
    """Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran."""
    error: NotRequired[ResponseIncompleteEventResponseOutputItemError | None]
    """Of a call: what went wrong; null if nothing did."""
    approval_request_id: NotRequired[str | None]
    """Of a call: the question about it, null if there is none. Of an answer: the question."""
    approve: NotRequired[bool]
    """Of an answer: whether the call may run."""
    reason: NotRequired[str | None]
    """Of an answer: why; null if unknown."""
    call_id: NotRequired[str]
    """Of a call: the runner's own id for it; absent if it has none. framegate adds it."""
    approval_id: NotRequired[str]
    """Of a question: the runner's own id for it, which a decision names. framegate adds it."""
    parent_item_id: NotRequired[str]
    """Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it."""


class ResponseIncompleteEventResponseUsageInputTokensDetails(TypedDict):
    """What they consist of."""

    cached_tokens: int
    """Tokens read from the cache; 0 if unknown."""
    cache_write_tokens: NotRequired[int]
    """Tokens written to the cache; absent if unknown."""


class ResponseIncompleteEventResponseUsageOutputTokensDetails(TypedDict):
    """What they consist of."""

    reasoning_tokens: int
    """The part that was reasoning; 0 if unknown."""


class ResponseIncompleteEventResponseUsage(TypedDict):
    """The usage of the whole run; null before its end, and if the runner gave none."""

    input_tokens: int
    """Tokens read, including cached ones."""
    input_tokens_details: ResponseIncompleteEventResponseUsageInputTokensDetails
    """What they consist of."""
    output_tokens: int
    """Tokens written, including reasoning."""
    output_tokens_details: ResponseIncompleteEventResponseUsageOutputTokensDetails
    """What they consist of."""
    total_tokens: int
    """The sum of both."""
    cost: NotRequired[float]
    """US dollars; absent if unknown. Not part of the API."""


class ResponseIncompleteEventResponseMetadata(TypedDict):
    """Where the response comes from."""

    run_id: str
    """The run."""
    session_id: str
    """Its session."""
    runner: str
    """The runner."""
    error_code: NotRequired[str]
    """The run's code for a failure or a limit. Absent if it has none."""
    omitted_items: NotRequired[str]
    """How many of the first items are left out of the output because it is too long. Absent if none are."""


class ResponseIncompleteEventResponseTextFormat(TypedDict):
    """The form of the text."""

    type: Literal["text"]
    """Plain text."""


class ResponseIncompleteEventResponseText(TypedDict):
    """The API's default."""

    format: ResponseIncompleteEventResponseTextFormat
    """The form of the text."""


class ResponseIncompleteEventResponse(TypedDict):
    """The whole response."""

    id: str
    """`resp_` and the run's id."""
    object: Literal["response"]
    """Always `response`."""
    created_at: int
    """When the run began, in Unix epoch seconds."""
    completed_at: None
    """Null: the response is not completed."""
    status: Literal["incomplete"]
    """How far the response is."""
    incomplete_details: ResponseIncompleteEventResponseIncompleteDetails
    """Why the answer is incomplete."""
    error: None
    """Null: it has not failed."""
    model: str
    """The model, or the runner if it does not name one; the same in all events."""
    output: list[ResponseIncompleteEventResponseOutputItem]
    """The items in their order; empty at the beginning. Long texts are cut, and say so."""
    usage: ResponseIncompleteEventResponseUsage | None
    """The usage of the whole run; null before its end, and if the runner gave none."""
    metadata: ResponseIncompleteEventResponseMetadata
    """Where the response comes from."""
    previous_response_id: None
    """Always null."""
    instructions: None
    """Always null: the runner has its own."""
    tools: list[Any]
    """Always empty: the client has no tools."""
    tool_choice: Literal["auto"]
    """The API's default."""
    truncation: Literal["disabled"]
    """The API's default."""
    parallel_tool_calls: bool
    """The API's default."""
    text: ResponseIncompleteEventResponseText
    """The API's default."""
    temperature: float
    """The API's default."""
    top_p: float
    """The API's default."""
    presence_penalty: float
    """The API's default."""
    frequency_penalty: float
    """The API's default."""
    top_logprobs: int
    """The API's default."""
    reasoning: None
    """Always null."""
    max_output_tokens: None
    """Always null."""
    max_tool_calls: None
    """Always null."""
    store: bool
    """Always false: the API cannot retrieve the response. framegate has the run."""
    background: bool
    """Always false."""
    service_tier: Literal["default"]
    """The API's default."""
    safety_identifier: None
    """Always null."""
    prompt_cache_key: None
    """Always null."""


class ResponseIncompleteEvent(TypedDict):
    """The answer was cut off, or the run was interrupted: the last event."""

    type: Literal["response.incomplete"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    response: ResponseIncompleteEventResponse
    """The whole response."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseMcpCallCompletedEvent(TypedDict):
    """A call has succeeded."""

    type: Literal["response.mcp_call.completed"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseMcpCallFailedEvent(TypedDict):
    """A call has failed, was refused, or never ran."""

    type: Literal["response.mcp_call.failed"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseMcpCallInProgressEvent(TypedDict):
    """A call begins."""

    type: Literal["response.mcp_call.in_progress"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseMcpCallArgumentsDeltaEvent(TypedDict):
    """A piece of a call's arguments."""

    type: Literal["response.mcp_call_arguments.delta"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    delta: str
    """The piece of JSON text."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseMcpCallArgumentsDoneEvent(TypedDict):
    """A call's arguments."""

    type: Literal["response.mcp_call_arguments.done"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    arguments: str
    """The arguments as JSON text."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseOutputItemAddedEventItemContentItem(TypedDict):
    """A text."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseOutputItemAddedEventItemSummaryItem(TypedDict):
    """A text."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseOutputItemAddedEventItemErrorContentItem(TypedDict):
    """A text."""

    type: Literal["text"]
    """The kind of part."""
    text: str
    """The message."""


class ResponseOutputItemAddedEventItemError(TypedDict):
    """Of a call: what went wrong; null if nothing did."""

    type: Literal["mcp_tool_execution_error"]
    """The kind of error."""
    content: list[ResponseOutputItemAddedEventItemErrorContentItem]
    """The message, one part."""


class ResponseOutputItemAddedEventItem(TypedDict):
    """The item so far."""

    id: str
    """The item's id, the same in all events."""
    type: Literal["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"]
    """The kind of item: text, reasoning, a call that the runner executes, a question, or its answer."""
    status: NotRequired[Literal["in_progress", "completed", "failed"]]
    """How far it is. Approval items have none: they are complete at once."""
    role: NotRequired[Literal["assistant"]]
    """Of a message: always the assistant."""
    content: NotRequired[list[ResponseOutputItemAddedEventItemContentItem]]
    """Of a message: its text, one part. Empty while it is open."""
    summary: NotRequired[list[ResponseOutputItemAddedEventItemSummaryItem]]
    """Of reasoning: its text, one part. Empty while it is open."""
    server_label: NotRequired[str]
    """Of a call or a question: the runner, which executes the tool."""
    name: NotRequired[str]
    """Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none."""
    arguments: NotRequired[str]
    """Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete."""
    output: NotRequired[str | None]
    """Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran."""
    error: NotRequired[ResponseOutputItemAddedEventItemError | None]
    """Of a call: what went wrong; null if nothing did."""
    approval_request_id: NotRequired[str | None]
    """Of a call: the question about it, null if there is none. Of an answer: the question."""
    approve: NotRequired[bool]
    """Of an answer: whether the call may run."""
    reason: NotRequired[str | None]
    """Of an answer: why; null if unknown."""
    call_id: NotRequired[str]
    """Of a call: the runner's own id for it; absent if it has none. framegate adds it."""
    approval_id: NotRequired[str]
    """Of a question: the runner's own id for it, which a decision names. framegate adds it."""
    parent_item_id: NotRequired[str]
    """Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it."""


class ResponseOutputItemAddedEvent(TypedDict):
    """An item begins."""

    type: Literal["response.output_item.added"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    output_index: int
    """The item's place in the output."""
    item: ResponseOutputItemAddedEventItem
    """The item so far."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseOutputItemDoneEventItemContentItem(TypedDict):
    """A text."""

    type: Literal["output_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""
    annotations: list[Any]
    """Always empty."""
    logprobs: list[Any]
    """Always empty."""


class ResponseOutputItemDoneEventItemSummaryItem(TypedDict):
    """A text."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseOutputItemDoneEventItemErrorContentItem(TypedDict):
    """A text."""

    type: Literal["text"]
    """The kind of part."""
    text: str
    """The message."""


class ResponseOutputItemDoneEventItemError(TypedDict):
    """Of a call: what went wrong; null if nothing did."""

    type: Literal["mcp_tool_execution_error"]
    """The kind of error."""
    content: list[ResponseOutputItemDoneEventItemErrorContentItem]
    """The message, one part."""


class ResponseOutputItemDoneEventItem(TypedDict):
    """The whole item."""

    id: str
    """The item's id, the same in all events."""
    type: Literal["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"]
    """The kind of item: text, reasoning, a call that the runner executes, a question, or its answer."""
    status: NotRequired[Literal["in_progress", "completed", "failed"]]
    """How far it is. Approval items have none: they are complete at once."""
    role: NotRequired[Literal["assistant"]]
    """Of a message: always the assistant."""
    content: NotRequired[list[ResponseOutputItemDoneEventItemContentItem]]
    """Of a message: its text, one part. Empty while it is open."""
    summary: NotRequired[list[ResponseOutputItemDoneEventItemSummaryItem]]
    """Of reasoning: its text, one part. Empty while it is open."""
    server_label: NotRequired[str]
    """Of a call or a question: the runner, which executes the tool."""
    name: NotRequired[str]
    """Of a call or a question: the tool's name as the runner spells it; empty if the runner gave none."""
    arguments: NotRequired[str]
    """Of a call or a question: the arguments as JSON text. Of a call: empty until they are complete."""
    output: NotRequired[str | None]
    """Of a call: standard output, then standard error, or the result of a tool without separate streams. Null while the tool runs, and if it never ran."""
    error: NotRequired[ResponseOutputItemDoneEventItemError | None]
    """Of a call: what went wrong; null if nothing did."""
    approval_request_id: NotRequired[str | None]
    """Of a call: the question about it, null if there is none. Of an answer: the question."""
    approve: NotRequired[bool]
    """Of an answer: whether the call may run."""
    reason: NotRequired[str | None]
    """Of an answer: why; null if unknown."""
    call_id: NotRequired[str]
    """Of a call: the runner's own id for it; absent if it has none. framegate adds it."""
    approval_id: NotRequired[str]
    """Of a question: the runner's own id for it, which a decision names. framegate adds it."""
    parent_item_id: NotRequired[str]
    """Of a call or a question of a subagent: the call that started the subagent; absent if unknown. framegate adds it."""


class ResponseOutputItemDoneEvent(TypedDict):
    """An item is complete."""

    type: Literal["response.output_item.done"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    output_index: int
    """The item's place in the output."""
    item: ResponseOutputItemDoneEventItem
    """The whole item."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseOutputTextDeltaEvent(TypedDict):
    """A piece of text."""

    type: Literal["response.output_text.delta"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    content_index: int
    """The part of the item: it has only one."""
    delta: str
    """The piece."""
    logprobs: list[Any]
    """Always empty."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseOutputTextDoneEvent(TypedDict):
    """The whole text."""

    type: Literal["response.output_text.done"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    content_index: int
    """The part of the item: it has only one."""
    text: str
    """The text: all pieces, joined."""
    logprobs: list[Any]
    """Always empty."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseReasoningSummaryPartAddedEventPart(TypedDict):
    """The part, without text."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseReasoningSummaryPartAddedEvent(TypedDict):
    """Reasoning begins."""

    type: Literal["response.reasoning_summary_part.added"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    summary_index: int
    """The part of the item: it has only one."""
    part: ResponseReasoningSummaryPartAddedEventPart
    """The part, without text."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseReasoningSummaryPartDoneEventPart(TypedDict):
    """The whole part."""

    type: Literal["summary_text"]
    """The kind of part."""
    text: str
    """The text; empty while the part is open."""


class ResponseReasoningSummaryPartDoneEvent(TypedDict):
    """Reasoning is complete."""

    type: Literal["response.reasoning_summary_part.done"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    summary_index: int
    """The part of the item: it has only one."""
    part: ResponseReasoningSummaryPartDoneEventPart
    """The whole part."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseReasoningSummaryTextDeltaEvent(TypedDict):
    """A piece of reasoning."""

    type: Literal["response.reasoning_summary_text.delta"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    summary_index: int
    """The part of the item: it has only one."""
    delta: str
    """The piece."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


class ResponseReasoningSummaryTextDoneEvent(TypedDict):
    """The whole reasoning."""

    type: Literal["response.reasoning_summary_text.done"]
    """The event's type."""
    sequence_number: int
    """The event's number, from 0 without gaps."""
    response_id: str
    """The response: `resp_` and the run's id. framegate adds it to each event."""
    item_id: str
    """The item."""
    output_index: int
    """The item's place in the output."""
    summary_index: int
    """The part of the item: it has only one."""
    text: str
    """The text: all pieces, joined."""
    notice: NotRequired[str]
    """Why the content is missing: the event was withheld, because it breaks its schema. Absent otherwise."""


OpenResponsesV1Event: TypeAlias = (
    ErrorEvent
    | ResponseCompletedEvent
    | ResponseContentPartAddedEvent
    | ResponseContentPartDoneEvent
    | ResponseCreatedEvent
    | ResponseFailedEvent
    | ResponseInProgressEvent
    | ResponseIncompleteEvent
    | ResponseMcpCallCompletedEvent
    | ResponseMcpCallFailedEvent
    | ResponseMcpCallInProgressEvent
    | ResponseMcpCallArgumentsDeltaEvent
    | ResponseMcpCallArgumentsDoneEvent
    | ResponseOutputItemAddedEvent
    | ResponseOutputItemDoneEvent
    | ResponseOutputTextDeltaEvent
    | ResponseOutputTextDoneEvent
    | ResponseReasoningSummaryPartAddedEvent
    | ResponseReasoningSummaryPartDoneEvent
    | ResponseReasoningSummaryTextDeltaEvent
    | ResponseReasoningSummaryTextDoneEvent
)
"""Any event of open-responses.v1."""
