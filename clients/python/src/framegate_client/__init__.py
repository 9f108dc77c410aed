"""Typed client of framegate: runs, events of every contract, approvals, artifacts."""

from ._api import (
    ApprovalDecision,
    ApprovalResult,
    ApprovalScope,
    Catalogue,
    IngestResult,
    Problem,
    RawRecord,
    Runner,
    RunPage,
    RunState,
    RunStatus,
    StartRunFilesItem,
    Stats,
    StatsFigures,
    StatsGroup,
    StatsRow,
    ToolFigures,
)
from ._async_artifact import Artifact, AsyncArtifactDownload
from ._async_client import Answers, AsyncFramegate
from ._async_stream import AsyncEventStream
from ._core import OnReconnect, Reconnect
from ._errors import (
    ApiError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    FramegateConnectionError,
    FramegateError,
    FramegateTimeoutError,
    GoneError,
    IntegrityError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    UnprocessableError,
)
from ._sync_artifact import ArtifactDownload
from ._sync_client import Framegate
from ._sync_stream import EventStream
from ._types import PendingApproval
from .contracts import TYPE_KEYS, ContractName

__all__ = [
    "Answers",
    "ApiError",
    "ApprovalDecision",
    "ApprovalResult",
    "ApprovalScope",
    "Artifact",
    "ArtifactDownload",
    "AsyncArtifactDownload",
    "AsyncEventStream",
    "AsyncFramegate",
    "AuthenticationError",
    "BadRequestError",
    "Catalogue",
    "ConflictError",
    "ContractName",
    "EventStream",
    "Framegate",
    "FramegateConnectionError",
    "FramegateError",
    "FramegateTimeoutError",
    "GoneError",
    "IngestResult",
    "IntegrityError",
    "NotFoundError",
    "OnReconnect",
    "PendingApproval",
    "PermissionDeniedError",
    "Problem",
    "RateLimitError",
    "RawRecord",
    "Reconnect",
    "RunPage",
    "RunState",
    "RunStatus",
    "StartRunFilesItem",
    "Runner",
    "ServerError",
    "Stats",
    "StatsFigures",
    "StatsGroup",
    "StatsRow",
    "TYPE_KEYS",
    "ToolFigures",
    "UnprocessableError",
]
