"""What a call can raise: every error of this package is a `FramegateError`."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import cast

import httpx

from ._api import Problem


class FramegateError(Exception):
    """Any error of this package."""


class FramegateConnectionError(FramegateError):
    """The proxy could not be reached, or the connection was lost."""


class FramegateTimeoutError(FramegateError):
    """The proxy did not answer in time."""


class IntegrityError(FramegateError):
    """The bytes of an artifact do not have its hash or size."""


class ApiError(FramegateError):
    """The proxy, or something before it, refused a request."""

    status: int
    """The HTTP status."""
    problem: Problem | None
    """The problem document (RFC 9457); `None` if the answer was something else, as from a gateway."""
    retry_after: float | None
    """The seconds to wait before the next attempt, if the answer named them."""

    def __init__(self, status: int, message: str, problem: Problem | None, retry_after: float | None) -> None:
        super().__init__(message)
        self.status = status
        self.problem = problem
        self.retry_after = retry_after


class BadRequestError(ApiError):
    """400: the request is wrong."""


class AuthenticationError(ApiError):
    """401: there is no valid token."""


class PermissionDeniedError(ApiError):
    """403: the token lacks a scope."""


class NotFoundError(ApiError):
    """404: there is no such thing, or the token may not see it."""


class ConflictError(ApiError):
    """409: the run or the question is over, or the session is busy."""


class GoneError(ApiError):
    """410: the run is no longer stored."""


class UnprocessableError(ApiError):
    """422: the request was understood and cannot be done."""


class RateLimitError(ApiError):
    """429: too many requests or runs."""


class ServerError(ApiError):
    """500 and above."""


_KINDS: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: UnprocessableError,
    429: RateLimitError,
}


def api_error(response: httpx.Response) -> ApiError:
    """The error for an answer that is not a success and has been read."""
    problem = _problem(response.text)
    message = problem["detail"] if problem else response.text.strip()[:500] or response.reason_phrase
    kind = _KINDS.get(response.status_code, ServerError if response.status_code >= 500 else ApiError)
    return kind(response.status_code, f"{response.status_code}: {message}", problem, _retry_after(response.headers))


def transport_error(error: httpx.HTTPError, what: str) -> FramegateError:
    """The error for an attempt without an answer."""
    if isinstance(error, httpx.TimeoutException):
        return FramegateTimeoutError(f"{what}: no answer in time")
    return FramegateConnectionError(f"{what}: {error or type(error).__name__}")


def _problem(text: str) -> Problem | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    is_problem = isinstance(value, dict) and "status" in value and "detail" in value
    return cast(Problem, value) if is_problem else None


def _retry_after(headers: httpx.Headers) -> float | None:
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return None
