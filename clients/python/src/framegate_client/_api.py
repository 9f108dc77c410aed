"""The objects of the API, from clients/api.json."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from ._compat import NotRequired


class ApprovalAnswer(TypedDict):
    answers: NotRequired[list[str | list[str]]]
    """For each question that asks for choices or text: the chosen or written answers."""
    decision: Literal["approved", "approve", "allow", "rejected", "reject", "deny", "cancelled", "cancel"]
    """`cancelled` also ends the runner's current work, if its protocol can express that."""
    reason: NotRequired[str]
    """The reason, which the runner and its model can read."""
    scope: NotRequired[Literal["once", "session", "always"]]
    """How far an approval reaches; once by default."""


class ApprovalResult(TypedDict):
    approval_id: str
    by: str
    """The token that answered, as in the run's events."""
    decision: Literal["approved", "rejected", "cancelled"]
    run_id: str


class CatalogueContractsItemTypesItem(TypedDict):
    name: str
    schema: str


class CatalogueContractsItem(TypedDict):
    about: str
    cursor: str | None
    document: str | None
    log: bool
    media_types: list[str]
    name: str
    schema: str | None
    sse: Literal["bare", "named", "raw"]
    type_key: str
    types: list[CatalogueContractsItemTypesItem]
    version: str | None


class CatalogueRunnersItemSurfacesItem(TypedDict):
    name: str
    source: str


class CatalogueRunnersItem(TypedDict):
    about: str
    name: str
    provider: str
    surfaces: list[CatalogueRunnersItemSurfacesItem]


class Catalogue(TypedDict):
    contracts: list[CatalogueContractsItem]
    runners: list[CatalogueRunnersItem]


class IngestResult(TypedDict):
    invalid_records: int
    """Records that are not JSON, not UTF-8, or too large."""
    looks_like: NotRequired[str]
    """Another runner that the input looks like."""
    records: int
    repeated_runs: int
    """The number of runs that were already in the log."""
    runs: list[RunStatus]
    unknown_records: int
    """Records of an unknown type or with an unknown part."""


class InterruptAccepted(TypedDict):
    run_id: str


class MessageAccepted(TypedDict):
    session_id: str


class Problem(TypedDict):
    detail: str
    invalid_records: NotRequired[int]
    """Records that are not JSON, not UTF-8, or too large."""
    looks_like: NotRequired[str]
    """The runner that the input looks like."""
    records: NotRequired[int]
    """For an ingest: the number of records that were read."""
    status: int
    title: str
    type: str
    unknown_records: NotRequired[int]
    """Records of an unknown type or with an unknown part."""


class RawRecord(TypedDict):
    """One record of the runner."""

    data: dict[str, Any] | None
    """The record's JSON object, unchanged."""
    event_name: str | None
    """The `event:` value of a server-sent event."""
    raw: str | None
    """The record's text, if `data` alone does not preserve it."""
    record: int
    """The cursor: the record's number in the run."""
    status: Literal["event", "done", "invalid_json"]
    """The kind of record."""


class RunPage(TypedDict):
    data: list[RunStatus]
    next_skip: int | None
    object: Literal["list"]


class RunStatusApprovalsItem(TypedDict):
    approval_id: str
    reason: NotRequired[str]
    requested_at_ms: int
    """Unix epoch milliseconds."""
    seq: int
    tool_name: str


class RunStatusExit(TypedDict):
    """How the program ended: an exit status or a signal."""

    signal: NotRequired[int]
    status: NotRequired[int]


class RunStatusUsage(TypedDict):
    """Figures that no record reported are absent."""

    cache_creation_tokens: NotRequired[int]
    cache_read_tokens: NotRequired[int]
    cost_usd: NotRequired[float]
    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]


class RunStatus(TypedDict):
    approvals: list[RunStatusApprovalsItem]
    damaged: NotRequired[str]
    """The unreadable part of the run; its events end there."""
    drift: NotRequired[dict[str, int]]
    ended_at_ms: NotRequired[int]
    """Unix epoch milliseconds."""
    error_code: NotRequired[str]
    events_checked: NotRequired[dict[str, int]]
    events_withheld: NotRequired[dict[str, int]]
    exit: NotRequired[RunStatusExit]
    """How the program ended: an exit status or a signal."""
    final_text: NotRequired[str]
    frames: int
    invalid_records: int
    message: NotRequired[str]
    not_kept: NotRequired[Literal["log_full", "log_failed"]]
    """Why the latest frames are not stored. The run does not end before they are."""
    pending_approvals: list[str]
    pruned_frames: NotRequired[int]
    records: int
    records_with_errors: int
    response_id: NotRequired[str]
    run_id: str
    runner: Literal["claude-code", "codex", "opencode", "open-responses"]
    session_id: str
    session_name: NotRequired[str]
    started_at_ms: int
    """Unix epoch milliseconds."""
    state: Literal["running", "waiting_approval", "completed", "failed", "interrupted"]
    tool_calls: int
    updated_at_ms: int
    """Unix epoch milliseconds."""
    usage: RunStatusUsage
    """Figures that no record reported are absent."""
    validation_failures: dict[str, int]
    warnings: dict[str, int]


class StartRunFilesItem(TypedDict):
    data: NotRequired[str]
    """The content, as base64 with padding. Either this or `url`."""
    media_type: NotRequired[str]
    """The media type. A `data:` URL may have it instead."""
    name: NotRequired[str]
    """The file name."""
    url: NotRequired[str]
    """An `http`, `https` or `data:` URL of the content. The runner's model fetches it, not the proxy."""


class StartRun(TypedDict):
    cwd: NotRequired[str]
    """The working directory: one that the upstream allows, or a directory below it."""
    files: NotRequired[list[StartRunFilesItem]]
    """Images and files that belong to the prompt, if the runner takes them."""
    mode: NotRequired[str]
    """A mode of the upstream's runner, as in `GET /v1/upstreams`. Default: the upstream's, else the runner's own."""
    model: NotRequired[str]
    """The model. Default: the upstream's, else the runner's own."""
    prompt: str
    """The task for the runner."""
    session_id: NotRequired[str]
    """The session to continue: its id as in `GET /v1/runs`, or in the runner's spelling."""
    upstream: str
    """The name of a configured upstream."""


class UpstreamListUpstreamsItemModesItem(TypedDict):
    about: NotRequired[str]
    """What the runner does in this mode; absent if the proxy does not know it."""
    name: str
    """The name by which requests choose it."""
    title: str
    """A title for users."""


class UpstreamListUpstreamsItem(TypedDict):
    kind: Literal["command", "sse", "responses"]
    mode: NotRequired[str]
    """The mode of requests that choose none; absent if the runner chooses."""
    modes: list[UpstreamListUpstreamsItemModesItem]
    """The modes of the runner that requests may choose."""
    name: str
    path: NotRequired[str]
    """The path at which a POST starts a run; absent if runs only begin elsewhere."""
    reason: NotRequired[str]
    """Why the last connection attempt failed."""
    runner: str
    """The runner whose output it sends."""
    since_ms: NotRequired[int]
    """Unix epoch milliseconds of the last state change."""
    state: NotRequired[Literal["connecting", "connected", "lost"]]
    """The state of the connection to the feed; absent if there is no feed."""
    takes_images: bool
    """Whether prompts may have images."""
    takes_messages: bool
    """Whether runs accept answers and further prompts."""
    takes_prompts: bool
    """Whether `POST /v1/runs` starts a run with a prompt."""


class UpstreamList(TypedDict):
    upstreams: list[UpstreamListUpstreamsItem]


ApprovalDecision: TypeAlias = Literal["approved", "rejected", "cancelled"]


ApprovalScope: TypeAlias = Literal["once", "session", "always"]


RunState: TypeAlias = Literal["running", "waiting_approval", "completed", "failed", "interrupted"]


Runner: TypeAlias = Literal["claude-code", "codex", "opencode", "open-responses"]
