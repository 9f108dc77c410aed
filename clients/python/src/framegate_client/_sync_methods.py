"""The methods that give events, with an overload for each contract."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

from ._api import RawRecord
from ._sync_stream import EventStream
from ._core import OnReconnect, feed_call, run_call, segment
from .contracts import (
    AcpV1Event,
    AgUiV1Event,
    AgentManagerV1Event,
    ChatCompletionsV1Event,
    ClaudeCodeV1Event,
    FramesV1Event,
    FramesV2Event,
    HecateV1Event,
    OpenResponsesV1Event,
    PixirV1Event,
    SseV1Event,
    UiMessageStreamV1Event,
    ContractName,
)


class EventMethods:
    def _stream(self, call: Any, after: Any, on_reconnect: Any) -> EventStream[Any]:
        raise NotImplementedError

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["acp.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[AcpV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["ag-ui.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[AgUiV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["agent-manager.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[AgentManagerV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["chat-completions.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[ChatCompletionsV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["claude-code.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[ClaudeCodeV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["frames.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[FramesV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["frames.v2"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[FramesV2Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["hecate.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[HecateV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["open-responses.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[OpenResponsesV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["pixir.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[PixirV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["sse.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[SseV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["ui-message-stream.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[UiMessageStreamV1Event]: ...

    @overload
    def events(
        self,
        run_id: str,
        *,
        contract: Literal["raw"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
    ) -> EventStream[RawRecord]: ...

    def events(
        self,
        run_id: str,
        *,
        contract: ContractName | Literal["raw"],
        after: str | int | None = None,
        experimental: bool = False,
        user_messages: bool = False,
        on_reconnect: OnReconnect | None = None,
    ) -> EventStream[Any]:
        """A run's events: from the beginning or after a cursor, then live, until the run has ended."""
        return self._stream(run_call(run_id, contract, experimental, user_messages), after, on_reconnect)

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["acp.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[AcpV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["ag-ui.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[AgUiV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["agent-manager.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[AgentManagerV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["chat-completions.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[ChatCompletionsV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["claude-code.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[ClaudeCodeV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["frames.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[FramesV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["frames.v2"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[FramesV2Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["hecate.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[HecateV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["open-responses.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[OpenResponsesV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["pixir.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[PixirV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["sse.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[SseV1Event]: ...

    @overload
    def session_events(
        self,
        session_id: str,
        *,
        contract: Literal["ui-message-stream.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
    ) -> EventStream[UiMessageStreamV1Event]: ...

    def session_events(
        self,
        session_id: str,
        *,
        contract: ContractName,
        after: str | int | None = None,
        experimental: bool = False,
        user_messages: bool = False,
        on_reconnect: OnReconnect | None = None,
        event_type: Sequence[str] | None = None,
    ) -> EventStream[Any]:
        """The events of a session's runs, including future ones. It never ends by itself."""
        return self._stream(feed_call(f"/v1/sessions/{segment(session_id)}/events", contract, experimental, user_messages, event_type, None), after, on_reconnect)

    @overload
    def all_events(
        self,
        *,
        contract: Literal["acp.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[AcpV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["ag-ui.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[AgUiV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["agent-manager.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[AgentManagerV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["chat-completions.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[ChatCompletionsV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["claude-code.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[ClaudeCodeV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["frames.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[FramesV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["frames.v2"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[FramesV2Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["hecate.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[HecateV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["open-responses.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[OpenResponsesV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["pixir.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[PixirV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["sse.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[SseV1Event]: ...

    @overload
    def all_events(
        self,
        *,
        contract: Literal["ui-message-stream.v1"],
        after: str | int | None = ...,
        experimental: bool = ...,
        user_messages: bool = ...,
        on_reconnect: OnReconnect | None = ...,
        event_type: Sequence[str] | None = ...,
        session_id: str | None = ...,
    ) -> EventStream[UiMessageStreamV1Event]: ...

    def all_events(
        self,
        *,
        contract: ContractName,
        after: str | int | None = None,
        experimental: bool = False,
        user_messages: bool = False,
        on_reconnect: OnReconnect | None = None,
        event_type: Sequence[str] | None = None,
        session_id: str | None = None,
    ) -> EventStream[Any]:
        """The events of all runs, including future ones. It never ends by itself."""
        return self._stream(feed_call("/v1/events", contract, experimental, user_messages, event_type, session_id), after, on_reconnect)
