// What a call can throw: every error of this package is a `FramegateError`. An abort by the caller's own signal is not one of
// them: it throws the signal's reason, as `fetch` does.
import type { Problem } from "./generated/api.js";

/** Any error of this package. */
export class FramegateError extends Error {
  override name = "FramegateError";
}

/** The proxy could not be reached, or the connection was lost. */
export class ConnectionError extends FramegateError {
  override name = "ConnectionError";
}

/** The proxy did not answer in time. */
export class TimeoutError extends FramegateError {
  override name = "TimeoutError";
}

/** The bytes of an artifact do not have its hash or size. */
export class IntegrityError extends FramegateError {
  override name = "IntegrityError";
}

/** The proxy, or something before it, refused a request. */
export class ApiError extends FramegateError {
  override name = "ApiError";
  /** The HTTP status. */
  readonly status: number;
  /** The problem document (RFC 9457); `undefined` if the answer was something else, as from a gateway. */
  readonly problem: Problem | undefined;
  /** The time to wait before the next attempt, if the answer named one. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, message: string, problem: Problem | undefined, retryAfterMs: number | undefined) {
    super(message);
    this.status = status;
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }

  /** The error for an answer that is not a success. */
  static async from(response: Response): Promise<ApiError> {
    const text = await response.text().catch(() => "");
    const problem = problemOf(text);
    const message = problem?.detail ?? (text.trim().slice(0, 500) || response.statusText || "no reason given");
    const Kind = KINDS[response.status] ?? (response.status >= 500 ? ServerError : ApiError);
    return new Kind(response.status, `${response.status}: ${message}`, problem, retryAfter(response.headers));
  }
}

/** 400: the request is wrong. */
export class BadRequestError extends ApiError {
  override name = "BadRequestError";
}
/** 401: there is no valid token. */
export class AuthenticationError extends ApiError {
  override name = "AuthenticationError";
}
/** 403: the token lacks a scope. */
export class PermissionDeniedError extends ApiError {
  override name = "PermissionDeniedError";
}
/** 404: there is no such thing, or the token may not see it. */
export class NotFoundError extends ApiError {
  override name = "NotFoundError";
}
/** 409: the run or the question is over, or the session is busy. */
export class ConflictError extends ApiError {
  override name = "ConflictError";
}
/** 410: the run is no longer stored. */
export class GoneError extends ApiError {
  override name = "GoneError";
}
/** 422: the request was understood and cannot be done. */
export class UnprocessableError extends ApiError {
  override name = "UnprocessableError";
}
/** 429: too many requests or runs. */
export class RateLimitError extends ApiError {
  override name = "RateLimitError";
}
/** 500 and above. */
export class ServerError extends ApiError {
  override name = "ServerError";
}

const KINDS: { [status: number]: typeof ApiError } = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  422: UnprocessableError,
  429: RateLimitError,
};

function problemOf(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isProblem = typeof value === "object" && value !== null && "status" in value && "detail" in value;
    return isProblem ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}

/** `Retry-After` in milliseconds: seconds or a date. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
