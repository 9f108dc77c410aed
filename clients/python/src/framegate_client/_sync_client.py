"""The synchronous client: one method for each request of framegate's own API."""

# Written by scripts/generate.py from _async_client.py; do not edit.

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, cast

import httpx

from . import _core
from ._api import (
    ApprovalDecision,
    ApprovalResult,
    ApprovalScope,
    Catalogue,
    IngestResult,
    InterruptAccepted,
    MessageAccepted,
    Runner,
    RunPage,
    RunState,
    RunStatus,
    StartRunFilesItem,
    Stats,
    StatsGroup,
    UpstreamListUpstreamsItem,
)
from ._sync_artifact import Artifact, ArtifactDownload
from ._sync_methods import EventMethods
from ._sync_stream import EventStream
from ._core import Call, Options, segment
from ._errors import FramegateError, FramegateTimeoutError, api_error, transport_error
from ._types import PendingApproval

Answers = Sequence[str | Sequence[str]]


class Framegate(EventMethods):
    """A client of one proxy. Times are in seconds.

    `http_client` replaces the client's own, for other transports, certificates or proxies; the caller closes it. `token` may be a
    function, which is called before each request. `timeout` limits each wait for the network; `heartbeat_timeout` the silence of a stream.
    A stream fails after it was opened `max_reconnects` times in a row without giving anything.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | Callable[[], str] | None = None,
        http_client: httpx.Client | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = 60.0,
        max_retries: int = 2,
        heartbeat_timeout: float | None = 45.0,
        max_reconnects: int = 10,
        max_backoff: float = 30.0,
    ) -> None:
        self._options = Options(base_url, token, headers or {}, timeout, max_retries, heartbeat_timeout, max_reconnects, max_backoff)
        self._is_own = http_client is None
        self._http = http_client or httpx.Client()

    def close(self) -> None:
        """Closes the connections, unless the HTTP client is the caller's."""
        if self._is_own:
            self._http.close()

    def __enter__(self) -> Framegate:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run_page(
        self,
        *,
        state: RunState | None = None,
        runner: Runner | None = None,
        session_id: str | None = None,
        labels: Mapping[str, str] | None = None,
        limit: int | None = None,
        skip: int | None = None,
    ) -> RunPage:
        """A page of the stored runs, newest first: with all of these labels, if any are given."""
        label = _core.label_list(labels)
        call = _core.get("/v1/runs", state=state, runner=runner, session_id=session_id, label=label, limit=limit, skip=skip)
        return cast(RunPage, self._json(call))

    def runs(
        self,
        *,
        state: RunState | None = None,
        runner: Runner | None = None,
        session_id: str | None = None,
        labels: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Iterator[RunStatus]:
        """All stored runs, newest first, page by page (`limit` is the size of a page)."""
        # Runs that begin meanwhile move the others to later pages.
        previous: set[str] = set()
        skip: int | None = 0
        while skip is not None:
            page = self.run_page(
                state=state,
                runner=runner,
                session_id=session_id,
                labels=labels,
                limit=limit,
                skip=skip,
            )
            for run in page["data"]:
                if run["run_id"] not in previous:
                    yield run
            previous = {run["run_id"] for run in page["data"]}
            skip = page["next_skip"]

    def run(self, run_id: str) -> RunStatus:
        """A run's status."""
        return cast(RunStatus, self._json(_core.get(f"/v1/runs/{segment(run_id)}")))

    def stats(
        self,
        *,
        by: Sequence[StatsGroup] = (),
        since: datetime | int | None = None,
        until: datetime | int | None = None,
        tz: str | None = None,
        runner: Runner | None = None,
        session_id: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Stats:
        """Figures over the stored runs: how they ended, time, tokens, cost, tools. A figure that no run reported is absent.

        `by` says what makes a group; by default there is only the total. `since` and `until` select the runs that began then or later, and
        before; a number is Unix epoch milliseconds. `tz` says where days begin, as an offset from UTC such as `+02:00`.
        """
        call = _core.get(
            "/v1/stats",
            by=",".join(by) or None,
            since=_core.unix_ms(since),
            until=_core.unix_ms(until),
            tz=tz,
            runner=runner,
            session_id=session_id,
            label=_core.label_list(labels),
        )
        return cast(Stats, self._json(call))

    def start_run(
        self,
        upstream: str,
        prompt: str,
        *,
        cwd: str | None = None,
        model: str | None = None,
        session_id: str | None = None,
        files: list[StartRunFilesItem] | None = None,
        labels: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float = _core.START_TIMEOUT,
    ) -> RunStatus:
        """Starts a run, and returns as soon as the runner has begun it.

        The same `idempotency_key` never starts a second run. By default there is a new one for each call, the same for its repetitions.
        """
        call = _core.post_json(
            "/v1/runs",
            {
                "upstream": upstream,
                "prompt": prompt,
                "cwd": cwd,
                "model": model,
                "session_id": session_id,
                "files": files,
                "labels": None if labels is None else dict(labels),
            },
            headers={"idempotency-key": idempotency_key or str(uuid.uuid4())},
            is_repeatable=True,
            timeout=httpx.Timeout(self._options.timeout, read=timeout),
        )
        return cast(RunStatus, self._json(call))

    def wait_for_run(self, run_id: str, *, timeout: float | None = None) -> RunStatus:
        """Waits until a run has ended, and returns its last status. By default there is no limit."""
        began, pause = time.monotonic(), _core.FIRST_POLL
        while True:
            status = self.run(run_id)
            if status["state"] in _core.ENDED:
                return status
            left = float("inf") if timeout is None else began + timeout - time.monotonic()
            if left <= 0:
                raise FramegateTimeoutError(f"the run {run_id} did not end within {timeout} s")
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, _core.LONGEST_POLL)

    def interrupt_run(self, run_id: str) -> InterruptAccepted:
        """Ends a run. Its last event says how it ended."""
        call = _core.post_json(f"/v1/runs/{segment(run_id)}/interrupt", None)
        return cast(InterruptAccepted, self._json(call))

    def send_message(self, session_id: str, prompt: str) -> MessageAccepted:
        """Sends the next prompt to a session's runner. The session's events show the run that begins."""
        call = _core.post_json(f"/v1/sessions/{segment(session_id)}/messages", {"prompt": prompt})
        return cast(MessageAccepted, self._json(call))

    def pending_approvals(self, *, runner: Runner | None = None, session_id: str | None = None) -> Iterator[PendingApproval]:
        """The questions that runs are waiting for."""
        for run in self.runs(state="waiting_approval", runner=runner, session_id=session_id):
            for approval in run["approvals"]:
                of = {"run_id": run["run_id"], "session_id": run["session_id"], "runner": run["runner"]}
                yield cast(PendingApproval, {**approval, **of})

    def answer_approval(
        self,
        run_id: str,
        approval_id: str,
        decision: ApprovalDecision,
        *,
        reason: str | None = None,
        scope: ApprovalScope | None = None,
        answers: Answers | None = None,
    ) -> ApprovalResult:
        """Answers a question. The first answer counts: a later one is a `ConflictError`."""
        path = f"/v1/runs/{segment(run_id)}/approvals/{segment(approval_id)}"
        body = {"decision": decision, "reason": reason, "scope": scope, "answers": answers}
        return cast(ApprovalResult, self._json(_core.post_json(path, body)))

    def approve(
        self,
        run_id: str,
        approval_id: str,
        *,
        reason: str | None = None,
        scope: ApprovalScope | None = None,
        answers: Answers | None = None,
    ) -> ApprovalResult:
        """Approves, with `answers` if the question asks for choices or text."""
        return self.answer_approval(run_id, approval_id, "approved", reason=reason, scope=scope, answers=answers)

    def reject(self, run_id: str, approval_id: str, reason: str | None = None) -> ApprovalResult:
        """Rejects, with a reason that the runner and its model can read."""
        return self.answer_approval(run_id, approval_id, "rejected", reason=reason)

    def artifacts(self, run_id: str) -> list[Artifact]:
        """What a run has stored so far."""
        session_id = (self.run(run_id))["session_id"]
        found: list[Artifact] = []
        after: str | None = None
        while True:
            page = self._json(
                _core.get(
                    f"/v1/sessions/{segment(session_id)}/events",
                    contract="frames.v2",
                    event_type="artifact_written",
                    limit=100,
                    after=after,
                )
            )
            found += [cast(Artifact, artifact) for artifact in page["data"] if artifact["stream_id"] == run_id]
            after = page["next"]
            if after is None or not page["data"]:
                return found

    def download_artifact(self, artifact: str | Artifact) -> ArtifactDownload:
        """The bytes of an artifact, by its id or as `artifacts` lists it. They are checked while they are read."""
        name = artifact if isinstance(artifact, str) else artifact["artifact_id"]
        call = Call("GET", f"/v1/artifacts/{segment(name)}", headers={}, is_repeatable=True)
        failures = 0
        while True:
            try:
                return ArtifactDownload(self._open(call), artifact)
            except FramegateError as error:
                failures += 1
                self._pause(call, error, failures)

    def ingest(
        self,
        runner: Runner | Literal["auto"],
        body: str | bytes | Iterable[bytes],
        *,
        idempotency_key: str | None = None,
        content_type: str = "application/octet-stream",
        content_encoding: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> IngestResult:
        """Sends a runner's output in, and returns when all of it is stored; other clients follow the run meanwhile.

        The runs that begin in the body get the labels.

        A body that is an iterator is sent once. Any other body is sent again if the connection is lost, and stored once.
        """
        is_whole = isinstance(body, (str, bytes))
        headers = {"accept": "application/json", "content-type": content_type}
        key = idempotency_key or (str(uuid.uuid4()) if is_whole else None)
        if key is not None:
            headers["idempotency-key"] = key
        if content_encoding is not None:
            headers["content-encoding"] = content_encoding
        # A run is sent in for as long as it takes.
        timeout = httpx.Timeout(None, connect=self._options.timeout)
        path = f"/v1/ingest/{segment(runner)}"
        query = {"label": _core.label_list(labels)}
        call = Call("POST", path, query=query, headers=headers, content=body, is_repeatable=is_whole, timeout=timeout)
        return cast(IngestResult, self._json(call))

    def upstreams(self) -> list[UpstreamListUpstreamsItem]:
        """The configured upstreams."""
        return cast("list[UpstreamListUpstreamsItem]", (self._json(_core.get("/v1/upstreams")))["upstreams"])

    def catalogue(self) -> Catalogue:
        """The contracts and runners that the proxy has."""
        return cast(Catalogue, self._json(_core.get("/v1/contracts")))

    def _stream(self, call: Call, after: Any, on_reconnect: Any) -> EventStream[Any]:
        return EventStream(self, _core.StreamState(call, after, on_reconnect, self._options))

    def _open(self, call: Call) -> httpx.Response:
        """One attempt: the head of a successful answer."""
        request = _core.build(call, self._options, self._http)
        try:
            response = self._http.send(request, stream=True)
            if response.is_success:
                return response
            try:
                response.read()
            finally:
                response.close()
        except httpx.HTTPError as error:
            raise transport_error(error, call.what) from error
        raise api_error(response)

    def _json(self, call: Call) -> Any:
        """The JSON of the answer. The request is sent again if that is safe."""
        failures = 0
        while True:
            try:
                request = _core.build(call, self._options, self._http)
                try:
                    return _core.decoded(self._http.send(request))
                except httpx.HTTPError as error:
                    raise transport_error(error, call.what) from error
            except FramegateError as error:
                failures += 1
                self._pause(call, error, failures)

    def _pause(self, call: Call, error: FramegateError, failures: int) -> None:
        """Waits before the next attempt, or raises the error."""
        pause = _core.pause_before(call, error, failures, self._options)
        if pause is None:
            raise error
        time.sleep(pause)
