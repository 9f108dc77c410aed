// Requests: where they go, how long they may take, and which of them are sent again.
//
// A request is repeated if that cannot do anything twice: it only reads, it has an `Idempotency-Key`, or the proxy says that it did
// nothing and when to come back (429 and 503 with `Retry-After`).
import { ApiError, ConnectionError, FramegateError, TimeoutError } from "./errors.js";

/** The part of `fetch` that the client uses. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** Settings of a client. */
export interface ClientOptions {
  /** Where the proxy is, with the path of a reverse proxy if there is one: `http://127.0.0.1:8080`. */
  baseUrl: string;
  /** A token of the proxy; a function is called before each request. */
  token?: string | (() => string | Promise<string>);
  /** Used instead of the global `fetch`. */
  fetch?: FetchLike;
  /** Headers of every request. */
  headers?: Record<string, string>;
  /** The time for an answer, or for the head of a stream; 0 for no limit. Default: 60 seconds. */
  timeoutMs?: number;
  /** How often a request is sent again that cannot do anything twice. Default: 2. */
  maxRetries?: number;
  /** Silence of a stream after which it is opened again; 0 for never. The proxy sends a comment every 15 seconds. Default: 45 seconds. */
  heartbeatTimeoutMs?: number;
  /** How often in a row a stream that gives nothing is opened again before it fails. Default: 10. */
  maxReconnects?: number;
  /** The longest pause between two attempts. Default: 30 seconds. */
  maxBackoffMs?: number;
}

/** Settings of a call. */
export interface CallOptions {
  /** Ends the call; it then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Instead of the client's. */
  timeoutMs?: number | undefined;
}

/** A list becomes a parameter for each of its items. */
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface Call extends CallOptions {
  method: "GET" | "POST";
  path: string;
  query?: Query | undefined;
  headers?: Record<string, string>;
  body?: NonNullable<RequestInit["body"]>;
  /** Whether doing it twice is the same as doing it once. */
  isRepeatable: boolean;
}

/** A longer `Retry-After` is left to the caller. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const FIRST_BACKOFF_MS = 500;

export class Http {
  readonly options: Required<Omit<ClientOptions, "token" | "headers">> & ClientOptions;

  constructor(options: ClientOptions) {
    const { baseUrl } = options;
    this.options = {
      timeoutMs: 60_000,
      maxRetries: 2,
      heartbeatTimeoutMs: 45_000,
      maxReconnects: 10,
      maxBackoffMs: 30_000,
      ...options,
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      baseUrl: baseUrl.endsWith("/") ? baseUrl.slice(0, -1) : baseUrl,
    };
  }

  /** Sends a request, again if that is safe, and reads its JSON answer. */
  json<T>(call: Call): Promise<T> {
    return this.repeating(call, () => this.#timed(call, async (signal) => readJson<T>(await this.#send(call, signal))));
  }

  /** The same, with the head of the answer as the result; the body has no time limit. */
  response(call: Call): Promise<Response> {
    return this.repeating(call, () => this.open(call));
  }

  /** One attempt: the head of a successful answer, in time. */
  open(call: Call): Promise<Response> {
    return this.#timed(call, (signal) => this.#send(call, signal), true);
  }

  async repeating<T>(call: Call, attempt: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        const pause = failures > this.options.maxRetries ? undefined : this.#pauseBefore(call, error, failures);
        if (pause === undefined) throw error;
        await sleep(pause, call.signal);
      }
    }
  }

  /** The pause after that many failures in a row: twice as long for each, and up to a fifth shorter by chance. */
  backoff(failures: number, first: number = FIRST_BACKOFF_MS): number {
    const full = Math.min(first * 2 ** Math.min(failures - 1, 16), this.options.maxBackoffMs);
    return full * (1 - Math.random() / 5);
  }

  #pauseBefore(call: Call, error: unknown, failures: number): number | undefined {
    if (!(error instanceof FramegateError)) return undefined;
    if (!(error instanceof ApiError)) return call.isRepeatable ? this.backoff(failures) : undefined;
    const { status, retryAfterMs } = error;
    const hasKey = call.isRepeatable && call.method === "POST";
    const mayRepeat =
      status === 429 || status === 503
        ? call.isRepeatable || retryAfterMs !== undefined
        : status === 409
          ? hasKey && retryAfterMs !== undefined
          : status >= 500 && call.method === "GET";
    if (!mayRepeat || (retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS) return undefined;
    return retryAfterMs ?? this.backoff(failures);
  }

  async #send(call: Call, signal: AbortSignal): Promise<Response> {
    const { baseUrl, token } = this.options;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {})) {
      for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) parameters.append(name, String(one));
    }
    const headers: Record<string, string> = { ...this.options.headers, ...call.headers };
    if (token !== undefined) headers["authorization"] = `Bearer ${typeof token === "function" ? await token() : token}`;
    const init: RequestInit & { duplex?: "half" } = { method: call.method, headers, signal };
    if (call.body !== undefined) {
      init.body = call.body;
      // `fetch` demands this of a body that is a stream.
      if (call.body instanceof ReadableStream) init.duplex = "half";
    }
    const query = parameters.toString();
    const response = await this.options.fetch(`${baseUrl}${call.path}${query && `?${query}`}`, init);
    if (!response.ok) throw await ApiError.from(response);
    return response;
  }

  /**
   * Runs an attempt within the time of the call, and turns its failures into errors of this package. `staysOpen`: the body of the
   * result is still to be read, until the caller's signal ends that.
   */
  async #timed<T>(call: Call, attempt: (signal: AbortSignal) => Promise<T>, staysOpen = false): Promise<T> {
    const { signal, timeoutMs = this.options.timeoutMs } = call;
    signal?.throwIfAborted();
    const own = new AbortController();
    const forward = () => own.abort(signal?.reason);
    signal?.addEventListener("abort", forward, { once: true });
    let isLate = false;
    const late = () => {
      isLate = true;
      own.abort();
    };
    const timer = timeoutMs > 0 ? setTimeout(late, timeoutMs) : undefined;
    let isDone = false;
    try {
      const result = await attempt(own.signal);
      isDone = true;
      return result;
    } catch (error) {
      if (error instanceof FramegateError) throw error;
      if (signal?.aborted) throw signal.reason;
      if (isLate) throw new TimeoutError(`no answer to ${call.method} ${call.path} within ${timeoutMs} ms`);
      throw new ConnectionError(`${call.method} ${call.path}: ${reasonOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
      if (!(isDone && staysOpen)) signal?.removeEventListener("abort", forward);
    }
  }
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new FramegateError(`the answer is not JSON: ${text.slice(0, 200)}`, { cause: error });
  }
}

/** A new `Idempotency-Key`. (`crypto.randomUUID` is missing in pages without TLS.) */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The message of an error, and that of its cause, where `fetch` says what happened. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** Waits; throws the signal's reason if it is aborted first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
