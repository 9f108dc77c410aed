"""The contracts, from schemas/."""

# Written by scripts/generate.py; do not edit.

from __future__ import annotations

from typing import Literal, TypeAlias

from .._api import RawRecord
from . import (
    acp_v1,
    ag_ui_v1,
    agent_manager_v1,
    chat_completions_v1,
    claude_code_v1,
    frames_v1,
    frames_v2,
    hecate_v1,
    open_responses_v1,
    pixir_v1,
    sse_v1,
    ui_message_stream_v1,
)
from .acp_v1 import AcpV1Event
from .ag_ui_v1 import AgUiV1Event
from .agent_manager_v1 import AgentManagerV1Event
from .chat_completions_v1 import ChatCompletionsV1Event
from .claude_code_v1 import ClaudeCodeV1Event
from .frames_v1 import FramesV1Event
from .frames_v2 import FramesV2Event
from .hecate_v1 import HecateV1Event
from .open_responses_v1 import OpenResponsesV1Event
from .pixir_v1 import PixirV1Event
from .sse_v1 import SseV1Event
from .ui_message_stream_v1 import UiMessageStreamV1Event

ContractName: TypeAlias = Literal[
    "acp.v1",
    "ag-ui.v1",
    "agent-manager.v1",
    "chat-completions.v1",
    "claude-code.v1",
    "frames.v1",
    "frames.v2",
    "hecate.v1",
    "open-responses.v1",
    "pixir.v1",
    "sse.v1",
    "ui-message-stream.v1",
]
"""A contract whose events runs and feeds have. (A single run also has its `raw` records.)"""

TYPE_KEYS: dict[ContractName, str] = {
    "ag-ui.v1": "type",
    "agent-manager.v1": "eventType",
    "chat-completions.v1": "object",
    "claude-code.v1": "type",
    "frames.v1": "type",
    "frames.v2": "type",
    "hecate.v1": "type",
    "open-responses.v1": "type",
    "pixir.v1": "type",
    "sse.v1": "type",
    "ui-message-stream.v1": "type",
}
"""The key that tells the types of events apart, for each contract that has one."""

__all__ = [
    "AcpV1Event",
    "AgUiV1Event",
    "AgentManagerV1Event",
    "ChatCompletionsV1Event",
    "ClaudeCodeV1Event",
    "ContractName",
    "FramesV1Event",
    "FramesV2Event",
    "HecateV1Event",
    "OpenResponsesV1Event",
    "PixirV1Event",
    "RawRecord",
    "SseV1Event",
    "TYPE_KEYS",
    "UiMessageStreamV1Event",
    "acp_v1",
    "ag_ui_v1",
    "agent_manager_v1",
    "chat_completions_v1",
    "claude_code_v1",
    "frames_v1",
    "frames_v2",
    "hecate_v1",
    "open_responses_v1",
    "pixir_v1",
    "sse_v1",
    "ui_message_stream_v1",
]
