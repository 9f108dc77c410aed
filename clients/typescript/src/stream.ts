// A stream of events that continues by itself.
//
// In: the events of a run or of a feed as SSE. Out: each event once, in order, until the run has ended or the reader stops. After a
// lost connection, a silence longer than the heartbeat or an end without a reason, the stream is opened again after the last id. The
// proxy answers 204 if a run has nothing more: that is the end, in every contract. Never: an event twice, as long as the proxy's
// memory of the run lasts.
//
// What the proxy sends again is known by its text: an event without an `id:` (an open question, or what a contract only shows live)
// begins a resumed connection with the bytes that it had before.
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { ApiError, ConnectionError, FramegateError, TimeoutError } from "./errors.js";
import { type Call, type Http, reasonOf, sleep } from "./http.js";

/** Settings of a stream. */
export interface StreamOptions {
  /** Ends the stream; the iterator then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called before the stream is opened again. */
  onReconnect?: ((reconnect: { cursor: string | undefined; failures: number; error: Error | undefined }) => void) | undefined;
}

/** How many texts of events, and of which length in total, are kept to recognise repetitions. */
const REMEMBERED_EVENTS = 4_096;
const REMEMBERED_LENGTH = 1_000_000;

/** The pause before the first attempt to reconnect, until the proxy names one. */
const RETRY_MS = 1_000;
/** A connection that lasted this long was a good one, even if it gave nothing. */
const GOOD_CONNECTION_MS = 10_000;

/** The events of a run or a feed: an async iterable that can be read once. */
export class EventStream<E> implements AsyncIterable<E> {
  readonly #http: Http;
  readonly #call: Call;
  readonly #options: StreamOptions;
  readonly #seen = new Seen();
  #cursor: string | undefined;
  #retryMs = RETRY_MS;
  #isRead = false;

  /** `after` is the id of the last event that was received earlier. */
  constructor(http: Http, call: Call, after: string | undefined, options: StreamOptions) {
    this.#http = http;
    this.#call = call;
    this.#cursor = after;
    this.#options = options;
  }

  /** The id of the last event that the iterator gave. Store it to continue there later (`after`). */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  [Symbol.asyncIterator](): AsyncGenerator<E, void, undefined> {
    return this.#each(this.#once());
  }

  /**
   * The same events, those that arrived together at a time: a stored run of many events is read much faster so. No array is empty, and
   * `cursor` belongs to the last event of the array that was given last.
   */
  async *batches(): AsyncGenerator<E[], void, undefined> {
    for await (const batch of this.#once()) {
      this.#cursor = batch.cursors.at(-1);
      yield batch.events;
    }
  }

  async *#each(batches: AsyncGenerator<Batch<E>, void, undefined>): AsyncGenerator<E, void, undefined> {
    for await (const { events, cursors } of batches) {
      for (const [index, event] of events.entries()) {
        this.#cursor = cursors[index];
        yield event;
      }
    }
  }

  #once(): AsyncGenerator<Batch<E>, void, undefined> {
    if (this.#isRead) throw new FramegateError("a stream can be read once; ask for another one");
    this.#isRead = true;
    return this.#read();
  }

  async *#read(): AsyncGenerator<Batch<E>, void, undefined> {
    const { maxReconnects, maxRetries } = this.#http.options;
    const { signal } = this.#options;
    let failures = 0;
    let wasOpen = false;
    for (;;) {
      const connection = new AbortController();
      const stop = () => connection.abort(signal?.reason);
      signal?.throwIfAborted();
      signal?.addEventListener("abort", stop, { once: true });
      let lost: FramegateError | undefined;
      let began = Infinity;
      try {
        const response = await this.#open(connection.signal);
        if (response === undefined) return;
        began = Date.now();
        wasOpen = true;
        for await (const messages of this.#messages(response, connection)) {
          failures = 0;
          const { batch, error } = this.#batch(messages);
          if (batch.events.length > 0) yield batch;
          if (error !== undefined) throw error;
        }
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (!isPassing(error)) throw error;
        lost = error;
      } finally {
        // If the reader left, this closes the connection.
        connection.abort();
        signal?.removeEventListener("abort", stop);
      }
      if (Date.now() - began >= GOOD_CONNECTION_MS) failures = 0;
      failures += 1;
      const error = lost ?? new ConnectionError("the stream ends without a reason");
      if (failures > (wasOpen ? maxReconnects : maxRetries)) throw error;
      this.#options.onReconnect?.({ cursor: this.#cursor, failures, error: lost });
      // A stream that ended properly is mostly that of a run that ended.
      const isEnd = lost === undefined && failures === 1;
      const after = lost instanceof ApiError ? lost.retryAfterMs : undefined;
      await sleep(isEnd ? 0 : Math.max(after ?? 0, this.#http.backoff(failures, this.#retryMs)), signal);
    }
  }

  /** The events of messages, up to one that is not JSON. */
  #batch(messages: readonly EventSourceMessage[]): { batch: Batch<E>; error?: unknown } {
    const batch: Batch<E> = { events: [], cursors: [] };
    let cursor = this.#cursor;
    for (const message of messages) {
      if (this.#isRepeated(message)) continue;
      try {
        batch.events.push(parsed<E>(message.data));
      } catch (error) {
        return { batch, error };
      }
      cursor = message.id ?? cursor;
      batch.cursors.push(cursor);
    }
    return { batch };
  }

  /** Opens the stream after the cursor; `undefined` if there is nothing more. */
  async #open(signal: AbortSignal): Promise<Response | undefined> {
    const headers: Record<string, string> = { ...this.#call.headers, accept: "text/event-stream", "cache-control": "no-store" };
    const query = { ...this.#call.query };
    if (this.#cursor === "latest") query["after"] = "latest";
    else if (this.#cursor !== undefined) headers["last-event-id"] = this.#cursor;
    const response = await this.#http.open({ ...this.#call, query, headers, signal });
    if (response.status === 204) return undefined;
    const type = response.headers.get("content-type") ?? "";
    if (!type.startsWith("text/event-stream")) throw new FramegateError(`the answer is no event stream but ${type || "untyped"}`);
    return response;
  }

  /** The messages that arrive together, at least one at a time. */
  async *#messages(response: Response, connection: AbortController): AsyncGenerator<EventSourceMessage[], void, undefined> {
    const { heartbeatTimeoutMs } = this.#http.options;
    const ready: EventSourceMessage[] = [];
    const parser = createParser({
      onEvent: (message) => void ready.push(message),
      onRetry: (ms) => void (this.#retryMs = ms),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let isSilent = false;
    for (;;) {
      const silent = () => {
        isSilent = true;
        connection.abort();
      };
      const timer = heartbeatTimeoutMs > 0 ? setTimeout(silent, heartbeatTimeoutMs) : undefined;
      let chunk;
      try {
        chunk = await reader.read();
      } catch (error) {
        if (isSilent) throw new TimeoutError(`the stream was silent for ${heartbeatTimeoutMs} ms`);
        throw new ConnectionError(`the stream broke off: ${reasonOf(error)}`, { cause: error });
      } finally {
        clearTimeout(timer);
      }
      if (chunk.done) return;
      parser.feed(decoder.decode(chunk.value, { stream: true }));
      if (ready.length > 0) yield ready.splice(0);
    }
  }

  #isRepeated({ id, data }: EventSourceMessage): boolean {
    const isKnown = id === undefined && this.#seen.has(data);
    if (!isKnown) this.#seen.add(data);
    return isKnown;
  }
}

/** Whether another attempt may succeed. */
function isPassing(error: unknown): error is FramegateError {
  if (!(error instanceof FramegateError)) return false;
  if (error instanceof ApiError) return error.status === 429 || error.status >= 500;
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

function parsed<E>(data: string): E {
  try {
    return JSON.parse(data) as E;
  } catch (error) {
    throw new FramegateError(`an event is not JSON: ${data.slice(0, 200)}`, { cause: error });
  }
}

/** Events that arrived together, each with the cursor of the stream after it. */
interface Batch<E> {
  events: E[];
  cursors: (string | undefined)[];
}

/** The last texts, within bounds. Adding one costs next to nothing, because most streams never ask for one. */
class Seen {
  /** In order; the first `#dropped` are out of bounds. */
  #texts: string[] = [];
  #dropped = 0;
  #length = 0;
  /** The same texts and how often each of them is there; made when the first one is asked for. */
  #counts: Map<string, number> | undefined;

  has(text: string): boolean {
    if (this.#counts === undefined) {
      this.#counts = new Map();
      for (const known of this.#texts.slice(this.#dropped)) this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1);
    }
    return this.#counts.has(text);
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
    this.#counts?.set(text, (this.#counts.get(text) ?? 0) + 1);
    while (this.#texts.length - this.#dropped > REMEMBERED_EVENTS || this.#length > REMEMBERED_LENGTH) this.#drop();
    if (this.#dropped < REMEMBERED_EVENTS) return;
    this.#texts = this.#texts.slice(this.#dropped);
    this.#dropped = 0;
  }

  #drop(): void {
    const oldest = this.#texts[this.#dropped] ?? "";
    this.#texts[this.#dropped] = "";
    this.#dropped += 1;
    this.#length -= oldest.length;
    const count = this.#counts?.get(oldest) ?? 0;
    if (count > 1) this.#counts?.set(oldest, count - 1);
    else this.#counts?.delete(oldest);
  }
}
