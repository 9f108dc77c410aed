"""What both clients share, without input and output: requests, what is sent again and when, and the state of a stream.

A request is repeated if that cannot do anything twice: it only reads, it has an `Idempotency-Key`, or the proxy says that it did
nothing and when to come back (429 and 503 with `Retry-After`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import quote

import httpx
from httpx_sse import ServerSentEvent, SSEError

from ._errors import ApiError, FramegateConnectionError, FramegateError, FramegateTimeoutError, api_error, transport_error

FIRST_BACKOFF = 0.5
# A longer `Retry-After` is left to the caller.
LONGEST_RETRY_AFTER = 60.0
# How many texts of events, and of which length in total, are kept to recognise repetitions.
REMEMBERED_EVENTS = 4_096
REMEMBERED_LENGTH = 1_000_000
# The pause before the first attempt to reconnect, until the proxy names one.
RETRY = 1.0
# A connection that lasted this long was a good one, even if it gave nothing.
GOOD_CONNECTION = 10.0
# Starting a runner takes up to a minute.
START_TIMEOUT = 90.0
# How often the status of a run is read while its end is awaited: at first, and at most.
FIRST_POLL, LONGEST_POLL = 0.05, 1.0
ENDED = ("completed", "failed", "interrupted")

_JSON = {"accept": "application/json"}


@dataclass(frozen=True)
class Options:
    """Settings of a client; times in seconds."""

    base_url: str
    token: str | Callable[[], str] | None
    headers: Mapping[str, str]
    timeout: float | None
    max_retries: int
    heartbeat_timeout: float | None
    max_reconnects: int
    max_backoff: float

    def backoff(self, failures: int, first: float = FIRST_BACKOFF) -> float:
        """The pause after that many failures in a row: twice as long for each, and up to a fifth shorter by chance."""
        full: float = min(first * 2.0 ** min(failures - 1, 16), self.max_backoff)
        return full * (1 - random.random() / 5)


@dataclass(frozen=True)
class Call:
    """A request."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=lambda: _JSON)
    content: Any = None
    # Whether doing it twice is the same as doing it once.
    is_repeatable: bool = False
    # None: that of the client.
    timeout: httpx.Timeout | None = None

    @property
    def what(self) -> str:
        return f"{self.method} {self.path}"


def build(call: Call, options: Options, http: httpx.Client | httpx.AsyncClient) -> httpx.Request:
    headers = {**options.headers, **call.headers}
    if options.token is not None:
        token = options.token if isinstance(options.token, str) else options.token()
        headers["authorization"] = f"Bearer {token}"
    # A list becomes a parameter for each of its items.
    query = {name: value if isinstance(value, list) else _text(value) for name, value in call.query.items() if value is not None}
    timeout = call.timeout or httpx.Timeout(options.timeout)
    url = options.base_url.rstrip("/") + call.path
    return http.build_request(call.method, url, params=query, headers=headers, content=call.content, timeout=timeout)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def pause_before(call: Call, error: FramegateError, failures: int, options: Options) -> float | None:
    """The pause before the request is sent again; `None` if it is not."""
    if failures > options.max_retries:
        return None
    if isinstance(error, (FramegateConnectionError, FramegateTimeoutError)):
        return options.backoff(failures) if call.is_repeatable else None
    if not isinstance(error, ApiError):
        return None
    if error.status in (429, 503):
        may_repeat = call.is_repeatable or error.retry_after is not None
    elif error.status == 409:
        # Another request with the same key is being answered.
        may_repeat = call.is_repeatable and call.method == "POST" and error.retry_after is not None
    else:
        may_repeat = error.status >= 500 and call.method == "GET"
    if not may_repeat or (error.retry_after or 0.0) > LONGEST_RETRY_AFTER:
        return None
    return options.backoff(failures) if error.retry_after is None else error.retry_after


def decoded(response: httpx.Response) -> Any:
    """The JSON of a successful answer that has been read."""
    if not response.is_success:
        raise api_error(response)
    try:
        return response.json()
    except ValueError as error:
        raise FramegateError(f"the answer is not JSON: {response.text[:200]}") from error


def segment(text: str) -> str:
    return quote(text, safe="")


def post_json(path: str, body: Mapping[str, Any] | None, **more: Any) -> Call:
    """A POST with the fields that are given."""
    headers = {**_JSON, **more.pop("headers", {})}
    if body is None:
        return Call("POST", path, headers=headers, **more)
    headers["content-type"] = "application/json"
    content = json.dumps({name: value for name, value in body.items() if value is not None})
    return Call("POST", path, headers=headers, content=content.encode(), **more)


def label_list(labels: Mapping[str, str] | None) -> list[str]:
    """Labels as a query has them."""
    return [f"{key}:{value}" for key, value in (labels or {}).items()]


def unix_ms(time: datetime | int | None) -> int | None:
    """A time as a query has it. A `datetime` without a zone is in local time."""
    return round(time.timestamp() * 1000) if isinstance(time, datetime) else time


def get(path: str, **query: Any) -> Call:
    return Call("GET", path, query=query, is_repeatable=True)


def run_call(run_id: str, contract: str, experimental: bool, user_messages: bool) -> Call:
    return feed_call(f"/v1/runs/{segment(run_id)}/events", contract, experimental, user_messages, None, None)


def feed_call(
    path: str,
    contract: str,
    experimental: bool,
    user_messages: bool,
    event_type: Sequence[str] | None,
    session_id: str | None,
) -> Call:
    types = None if event_type is None else ",".join(event_type)
    return get(
        path,
        contract=contract,
        experimental=experimental or None,
        user_messages=user_messages or None,
        event_type=types,
        session_id=session_id,
    )


@dataclass(frozen=True)
class Reconnect:
    """A stream is about to be opened again."""

    cursor: str | None
    failures: int
    error: FramegateError | None
    """`None` if the stream ended properly."""


OnReconnect = Callable[[Reconnect], None]


class StreamState:
    """Where a stream is, and what is to be done next.

    In: what a connection gives. Out: each event once. The proxy answers 204 if a run has nothing more: that is the end, in every
    contract. What the proxy sends again is known by its text: an event without an `id:` (an open question, or what a contract
    only shows live) begins a resumed connection with the bytes that it had before.
    """

    def __init__(self, call: Call, after: str | int | None, on_reconnect: OnReconnect | None, options: Options) -> None:
        self.cursor = None if after is None or str(after) == "-1" else str(after)
        self._call = call
        self._on_reconnect = on_reconnect
        self._options = options
        self._seen = Seen()
        self._retry = RETRY
        self._failures = 0
        self._was_open = False
        self._block_id = ""

    def call(self) -> Call:
        """The request that continues after the cursor."""
        headers = {"accept": "text/event-stream", "cache-control": "no-store"}
        query = dict(self._call.query)
        if self.cursor == "latest":
            query["after"] = "latest"
        elif self.cursor is not None:
            headers["last-event-id"] = self.cursor
        options = self._options
        timeout = httpx.Timeout(options.timeout, read=options.heartbeat_timeout)
        self._block_id = ""
        return Call("GET", self._call.path, query, headers, is_repeatable=True, timeout=timeout)

    def opened(self) -> None:
        self._was_open = True

    def received(self, message: ServerSentEvent) -> Any | None:
        """The event of a message; `None` if it has none, or one that was given before."""
        if message.retry is not None:
            self._retry = message.retry / 1000
        if not message.data:
            return None
        self._failures = 0
        # The library repeats the last id for an event without one.
        has_id = message.id not in ("", self._block_id)
        self._block_id = message.id
        if self._seen.is_repeated(message.data, has_id):
            return None
        try:
            event = json.loads(message.data)
        except ValueError as error:
            raise FramegateError(f"an event is not JSON: {message.data[:200]}") from error
        if has_id:
            self.cursor = message.id
        return event

    def lost(self, error: FramegateError | None, lasted: float) -> float:
        """The pause before the stream is opened again. Raises if it is not."""
        if error is not None and not _is_passing(error):
            raise error
        if lasted >= GOOD_CONNECTION:
            self._failures = 0
        self._failures += 1
        limit = self._options.max_reconnects if self._was_open else self._options.max_retries
        if self._failures > limit:
            raise error or FramegateConnectionError("the stream ends without a reason")
        if self._on_reconnect is not None:
            self._on_reconnect(Reconnect(self.cursor, self._failures, error))
        if error is None and self._failures == 1:
            # A stream that ended properly is mostly that of a run that ended.
            return 0.0
        named = error.retry_after if isinstance(error, ApiError) else None
        return max(named or 0.0, self._options.backoff(self._failures, self._retry))


def stream_error(error: Exception, what: str) -> FramegateError:
    if isinstance(error, httpx.HTTPError):
        return transport_error(error, what)
    if isinstance(error, SSEError):
        return FramegateError(f"{what}: {error}")
    raise error


def _is_passing(error: FramegateError) -> bool:
    if isinstance(error, ApiError):
        return error.status == 429 or error.status >= 500
    return isinstance(error, (FramegateConnectionError, FramegateTimeoutError))


class Seen:
    """The last texts, within bounds."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}
        self._length = 0

    def is_repeated(self, text: str, has_id: bool) -> bool:
        if text in self._texts:
            return not has_id
        self._texts[text] = None
        self._length += len(text)
        while len(self._texts) > REMEMBERED_EVENTS or self._length > REMEMBERED_LENGTH:
            oldest = next(iter(self._texts))
            del self._texts[oldest]
            self._length -= len(oldest)
        return False
