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


class ComputedCost(TypedDict):
    """What the run's tokens cost by the price table of the proxy: an amount, or the reason why there is none."""

    approximate: NotRequired[list[Literal["models_not_reported", "call_sizes_not_reported"]]]
    """Why the amount is not exact; absent if it is."""
    message: NotRequired[str]
    """The same for people."""
    models: NotRequired[list[str]]
    """The models without a price."""
    unpriced: NotRequired[Literal["no_usage", "no_model", "no_price"]]
    """Why there is no amount."""
    usd: NotRequired[float]
    """US dollars."""


class IngestResult(TypedDict):
    invalid_records: int
    """Records that are not JSON, not UTF-8, or too large."""
    looks_like: NotRequired[str]
    """Another runner that the input looks like."""
    records: int
    repeated_runs: int
    """The number of runs that were already in the log."""
    replaced_runs: NotRequired[int]
    """The number of runs that replaced shorter ones in the log."""
    runs: list[RunStatus]
    unknown_records: int
    """Records of an unknown type or with an unknown part."""


class InterruptAccepted(TypedDict):
    run_id: str


class MessageAccepted(TypedDict):
    session_id: str


class ModelFigures(TypedDict):
    """Calls of a model whose inputs have a size between the same limits."""

    above_input_tokens: NotRequired[int]
    """The size that the whole input of each of these calls exceeds, in tokens: 32000, 100000, 128000, 200000, 256000, 272000. Absent for smaller calls."""
    cache_creation_1h_tokens: NotRequired[int]
    """The part of `cache_creation_tokens` that was written to entries which live for one hour; absent if there is none."""
    cache_creation_tokens: NotRequired[int]
    """Input tokens written to the cache; absent if there are none."""
    cache_read_tokens: NotRequired[int]
    """Input tokens read from the cache; absent if there are none."""
    calls: int
    """Calls that the runner reported one by one."""
    input_tokens: int
    """Input tokens read outside the cache."""
    model: NotRequired[str]
    """The model as the runner spells it; absent if the runner does not name it."""
    output_tokens: int
    """Output tokens, including reasoning."""
    reasoning_tokens: NotRequired[int]
    """The part of `output_tokens` that was reasoning; absent if there are none."""
    rest: NotRequired[bool]
    """True in the last entry if it sums what is beyond the first 32 entries of a run; its model is `other`."""


class ModelTotal(TypedDict):
    """The part of a run's total that belongs to one model."""

    cache_creation_1h_tokens: NotRequired[int]
    """The part of `cache_creation_tokens` that was written to entries which live for one hour; absent if there is none."""
    cache_creation_tokens: int
    """Input tokens written to the cache."""
    cache_read_tokens: int
    """Input tokens read from the cache."""
    input_tokens: int
    """Input tokens read outside the cache."""
    model: str
    """The model as the runner spells it."""
    output_tokens: int
    """Output tokens, including reasoning."""
    reasoning_tokens: int
    """The part of `output_tokens` that was reasoning."""


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
    """Tokens, and the cost that the runner reported. Figures that no record reported are absent."""

    by_model: NotRequired[list[ModelTotal]]
    """The part of each model, if the runner's own total has several and gives their parts."""
    cache_creation_1h_tokens: NotRequired[int]
    """The part of `cache_creation_tokens` that was written to entries which live for one hour."""
    cache_creation_tokens: NotRequired[int]
    cache_read_tokens: NotRequired[int]
    cost_usd: NotRequired[float]
    """US dollars, as the runner reported them."""
    input_tokens: NotRequired[int]
    model: NotRequired[str]
    """The model of all these tokens, if the runner's own total names one."""
    output_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]


class RunStatusWorkspace(TypedDict):
    """Where the run works, as far as its runner reported it."""

    branch: NotRequired[str]
    """The branch."""
    directory: NotRequired[str]
    """The working directory, as the runner spells it."""
    repository: NotRequired[str]
    """The repository as `host/path`, without scheme, user and `.git`."""


class RunStatus(TypedDict):
    approvals: list[RunStatusApprovalsItem]
    computed_cost: NotRequired[ComputedCost]
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
    failed_tool_calls: NotRequired[int]
    """Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0; absent if an older version stored the status."""
    final_text: NotRequired[str]
    frames: int
    invalid_records: int
    labels: NotRequired[dict[str, str]]
    """What the client that sent or started the run said about it. At most 16; a key has 1 to 64 of the characters `a-z A-Z 0-9 . _ - /` and begins with a letter or digit, a value has 1 to 256 bytes."""
    message: NotRequired[str]
    model: NotRequired[str]
    """The model that the run named last."""
    models: NotRequired[list[ModelFigures]]
    """The model calls that the runner reported one by one, by model; absent if an older version stored the status."""
    not_kept: NotRequired[Literal["log_full", "log_failed"]]
    """Why the latest frames are not stored. The run does not end before they are."""
    pending_approvals: list[str]
    pruned_frames: NotRequired[int]
    records: int
    records_with_errors: int
    response_id: NotRequired[str]
    run_id: str
    runner: Literal["claude-code", "codex", "opencode", "open-responses", "gemini-cli", "qwen-code", "pi", "copilot", "acp", "frames"]
    session_id: str
    session_name: NotRequired[str]
    started_at_ms: int
    """Unix epoch milliseconds."""
    state: Literal["running", "waiting_approval", "completed", "failed", "interrupted"]
    title: NotRequired[str]
    """The first prompt, on one line."""
    tool_calls: int
    """Tool calls that began, including those of subagents."""
    tools: NotRequired[list[ToolFigures]]
    """The tool calls by tool, in the order of the first calls; absent if an older version stored the status."""
    turns: NotRequired[int]
    """Model calls of the main thread; absent if an older version stored the status."""
    updated_at_ms: int
    """Unix epoch milliseconds."""
    usage: RunStatusUsage
    """Tokens, and the cost that the runner reported. Figures that no record reported are absent."""
    validation_failures: dict[str, int]
    warnings: dict[str, int]
    workspace: NotRequired[RunStatusWorkspace]
    """Where the run works, as far as its runner reported it."""


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
    labels: NotRequired[dict[str, str]]
    """What the client says about the run. At most 16; a key has 1 to 64 of the characters `a-z A-Z 0-9 . _ - /` and begins with a letter or digit, a value has 1 to 256 bytes."""
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


class StatsUnpricedItem(TypedDict):
    model: NotRequired[str]
    """The model without a price; absent with the other reasons."""
    reason: Literal["no_usage", "no_model", "no_price"]
    rest: NotRequired[bool]
    """True in the last entry if it sums the models beyond the first 100."""
    runs: int
    """A run with several models without a price is in the entry of each."""


class Stats(TypedDict):
    by: list[Literal["day", "runner", "model", "session", "label", "directory", "repository", "branch", "tool"]]
    data: list[StatsRow]
    object: Literal["list"]
    runs_without_tools: NotRequired[int]
    """Runs whose tools are not known, because an older version stored their status; absent if there are none."""
    tools: list[ToolFigures]
    total: StatsFigures
    unpriced: NotRequired[list[StatsUnpricedItem]]
    """The runs without a computed cost by the reason, the most frequent first."""


class StatsFigures(TypedDict):
    """Sums over a group of runs. A figure that no run of the group reported is absent."""

    cache_creation_tokens: NotRequired[int]
    """Input tokens written to the cache."""
    cache_read_tokens: NotRequired[int]
    """Input tokens read from the cache."""
    completed: int
    """Runs that succeeded."""
    computed_cost_usd: NotRequired[float]
    """The cost in US dollars, computed from tokens and prices."""
    cost_usd: NotRequired[float]
    """The cost in US dollars that runners reported."""
    duration_ms: NotRequired[int]
    """The time from the first to the last frame of the runs that have ended, in milliseconds."""
    failed: int
    """Runs that failed."""
    failed_tool_calls: NotRequired[int]
    """Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0."""
    input_tokens: NotRequired[int]
    """Input tokens read outside the cache."""
    interrupted: int
    """Runs that were stopped, or whose stream broke off."""
    open: int
    """Runs that have not ended yet."""
    output_tokens: NotRequired[int]
    """Output tokens, including reasoning."""
    reasoning_tokens: NotRequired[int]
    """The part of `output_tokens` that was reasoning."""
    runs: int
    """The runs of the group."""
    runs_with_approximate_cost: NotRequired[int]
    """Those of them whose computed cost is not exact."""
    runs_with_computed_cost: NotRequired[int]
    """The runs with a computed cost."""
    runs_with_cost: NotRequired[int]
    """The runs that reported a cost."""
    runs_with_usage: NotRequired[int]
    """The runs that reported tokens."""
    tool_calls: int
    """Tool calls that began."""
    tool_duration_ms: NotRequired[int]
    """The time of the tool calls that ran to their end, in milliseconds. Calls at the same time count separately."""
    turns: NotRequired[int]
    """Model calls of the main threads."""
    unpriced_runs: NotRequired[int]
    """The runs without a computed cost."""
    warnings: NotRequired[int]
    """Warnings about the runs."""


class StatsRow(TypedDict):
    """One group. What its runs do not have, and what none of them reported, is absent."""

    branch: NotRequired[str]
    """Their branch."""
    cache_creation_tokens: NotRequired[int]
    """Input tokens written to the cache."""
    cache_read_tokens: NotRequired[int]
    """Input tokens read from the cache."""
    completed: int
    """Runs that succeeded."""
    computed_cost_usd: NotRequired[float]
    """The cost in US dollars, computed from tokens and prices."""
    cost_usd: NotRequired[float]
    """The cost in US dollars that runners reported."""
    day: NotRequired[str]
    """The day on which the runs began, as YYYY-MM-DD."""
    directory: NotRequired[str]
    """Their working directory."""
    duration_ms: NotRequired[int]
    """The time from the first to the last frame of the runs that have ended, in milliseconds."""
    failed: int
    """Runs that failed."""
    failed_tool_calls: NotRequired[int]
    """Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0."""
    input_tokens: NotRequired[int]
    """Input tokens read outside the cache."""
    interrupted: int
    """Runs that were stopped, or whose stream broke off."""
    label: NotRequired[str]
    """A label of theirs, as `key:value`. A run is in the group of each of its labels."""
    model: NotRequired[str]
    """The last model that they named."""
    open: int
    """Runs that have not ended yet."""
    output_tokens: NotRequired[int]
    """Output tokens, including reasoning."""
    reasoning_tokens: NotRequired[int]
    """The part of `output_tokens` that was reasoning."""
    repository: NotRequired[str]
    """Their repository, as `host/path`."""
    rest: NotRequired[bool]
    """True in a row that sums what is beyond a limit: without keys, the groups beyond the first 10000; with keys, the tools beyond the first 64 of a run."""
    runner: NotRequired[str]
    """Their runner."""
    runs: int
    """The runs of the group."""
    runs_with_approximate_cost: NotRequired[int]
    """Those of them whose computed cost is not exact."""
    runs_with_computed_cost: NotRequired[int]
    """The runs with a computed cost."""
    runs_with_cost: NotRequired[int]
    """The runs that reported a cost."""
    runs_with_usage: NotRequired[int]
    """The runs that reported tokens."""
    session: NotRequired[str]
    """The id of their session."""
    tool: NotRequired[str]
    """A tool that they called. Its calls are the only ones in the row, which has no figures of whole runs."""
    tool_calls: int
    """Tool calls that began."""
    tool_duration_ms: NotRequired[int]
    """The time of the tool calls that ran to their end, in milliseconds. Calls at the same time count separately."""
    turns: NotRequired[int]
    """Model calls of the main threads."""
    unpriced_runs: NotRequired[int]
    """The runs without a computed cost."""
    warnings: NotRequired[int]
    """Warnings about the runs."""


class ToolFigures(TypedDict):
    """The calls of a tool."""

    calls: int
    """Calls that began."""
    duration_ms: NotRequired[int]
    """The sum of the durations of `timed_calls`, in milliseconds; absent if there are none."""
    failed: int
    """Calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0."""
    kind: Literal["shell", "read", "write", "edit", "search", "fetch", "mcp", "plan", "subagent", "other"]
    name: str
    """The tool's name as the runner spells it, cut after 120 characters."""
    rest: NotRequired[bool]
    """True in the last entry if it sums the tools beyond the first 64 of a run, or beyond 500 of an answer; its name is `other`."""
    timed_calls: int
    """Calls that ran to their end, successfully or not, and whose duration is known."""


class UpstreamListUpstreamsItemModesItem(TypedDict):
    about: NotRequired[str]
    """What the runner does in this mode; absent if the proxy does not know it."""
    name: str
    """The name by which requests choose it."""
    title: str
    """A title for users."""


class UpstreamListUpstreamsItem(TypedDict):
    kind: Literal["command", "acp", "sse", "responses"]
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


Runner: TypeAlias = Literal["claude-code", "codex", "opencode", "open-responses", "gemini-cli", "qwen-code", "pi", "copilot", "acp", "frames"]


StatsGroup: TypeAlias = Literal["day", "runner", "model", "session", "label", "directory", "repository", "branch", "tool"]
