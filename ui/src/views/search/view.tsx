// Search: texts of all runs that have the words, newest first.
//
// In: the words and the kind in the address. Out: texts with their runs; each leads to its place in the conversation. Never: markup of a text.
import { useEffect, useState } from "preact/hooks";
import { TEXT_KINDS, type TextHit, type TextKind, type TextPage } from "../../api/source";
import { useApp } from "../../app/context";
import { go, paths, type Query } from "../../app/router";
import { dayAndTime, fullTime } from "../../components/format";
import { Empty, Failure, Loading } from "../../components/states";
import { visible } from "../../components/visible";
import "../../components/controls.css";
import "./search.css";

const KIND_NAMES: Record<TextKind, string> = {
  prompt: "Prompts",
  answer: "Answers",
  reasoning: "Reasoning",
  tool_input: "Tool inputs",
  tool_output: "Tool outputs",
  error: "Errors",
};

/** So long the words must rest before they are looked for. */
const REST_MS = 250;

type State = { hits: TextHit[]; next: string | null; isComplete: boolean; isLoading: boolean; error?: unknown };

const NOTHING: State = { hits: [], next: null, isComplete: true, isLoading: false };

export function SearchView({ query }: { query: Query }) {
  const { source } = useApp();
  const words = query["q"] ?? "";
  const kind = TEXT_KINDS.find((known) => known === query["kind"]);
  const [state, setState] = useState<State>({ ...NOTHING, isLoading: words.trim() !== "" });
  const [after, setAfter] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => setAfter(undefined), [words, kind]);
  useEffect(() => {
    if (words.trim() === "") {
      setState(NOTHING);
      return;
    }
    const controller = new AbortController();
    setState((before) => ({ hits: before.hits, next: before.next, isComplete: before.isComplete, isLoading: true }));
    const wait = setTimeout(
      () => {
        const wanted = { q: words, ...(kind === undefined ? {} : { kind }), ...(after === undefined ? {} : { after }) };
        source.search(wanted, { signal: controller.signal }).then(
          (page: TextPage) =>
            setState((before) => ({
              hits: after === undefined ? page.data : [...before.hits, ...page.data],
              next: page.next,
              isComplete: page.is_complete,
              isLoading: false,
            })),
          (error: unknown) => !controller.signal.aborted && setState({ ...NOTHING, error }),
        );
      },
      after === undefined ? REST_MS : 0,
    );
    return () => {
      clearTimeout(wait);
      controller.abort();
    };
  }, [source, words, kind, after, attempt]);

  const show = (change: Record<string, string | undefined>) => go(paths.search({ ...query, ...change }), { replace: true });
  const { hits, next, isComplete, isLoading, error } = state;
  return (
    <section class="search" aria-label="Search" aria-busy={isLoading}>
      <header class="search-bar">
        <h1>Search</h1>
        <form role="search" class="search-form" onSubmit={(event) => event.preventDefault()}>
          <label class="search-words">
            <span class="visually-hidden">Words</span>
            <input
              type="search"
              name="q"
              value={words}
              placeholder={'parser error, "a phrase", begin*, -without'}
              autocomplete="off"
              spellcheck={false}
              maxLength={1000}
              onInput={(event) => show({ q: event.currentTarget.value })}
            />
          </label>
          <label>
            <span class="visually-hidden">Kind of text</span>
            <select class="select" value={kind ?? ""} onChange={(event) => show({ kind: event.currentTarget.value })}>
              <option value="">All texts</option>
              {TEXT_KINDS.map((known) => (
                <option key={known} value={known}>
                  {KIND_NAMES[known]}
                </option>
              ))}
            </select>
          </label>
        </form>
      </header>
      {error !== undefined ? (
        <Failure error={error} onRetry={() => setAttempt(attempt + 1)} />
      ) : words.trim() === "" ? (
        <Empty title="What are you looking for?">
          <p>Prompts, answers, reasoning, and the inputs and outputs of tools, of all runs.</p>
        </Empty>
      ) : hits.length > 0 ? (
        <>
          {!isComplete && <p class="search-note small soft">Some texts are not indexed yet.</p>}
          <ol class={`search-hits ${isLoading ? "is-loading" : ""}`}>
            {hits.map((hit) => (
              <Hit key={`${hit.stream_id}/${hit.kind}/${hit.first_frame}`} hit={hit} />
            ))}
          </ol>
          {next !== null && (
            <button type="button" class="button search-more" disabled={isLoading} onClick={() => setAfter(next)}>
              More
            </button>
          )}
        </>
      ) : isLoading ? (
        <Loading what="texts" />
      ) : (
        <Empty title="No text has these words">
          {!isComplete && <p>Some texts are not indexed yet.</p>}
          {next !== null && (
            <button type="button" class="button" onClick={() => setAfter(next)}>
              Look further
            </button>
          )}
        </Empty>
      )}
    </section>
  );
}

function Hit({ hit }: { hit: TextHit }) {
  // The frames of a task are not in the conversation of its run.
  const at = hit.stream_kind === "session" ? { at: String(hit.first_frame) } : {};
  const title = visible(hit.title ?? "Untitled run");
  return (
    <li class="card search-hit">
      <div class="search-hit-head">
        {hit.run_id === null ? <span class="search-title">{title}</span> : <a class="search-title" href={paths.conversation(hit.run_id, at)}>{title}</a>}
        <span class="small soft">
          {hit.runner} · {KIND_NAMES[hit.kind].toLowerCase()} · <time title={fullTime(hit.timestamp_ms)}>{dayAndTime(hit.timestamp_ms)}</time>
        </span>
      </div>
      <p class="search-excerpt">{hit.excerpt.map(({ text, is_match }, nth) => (is_match ? <mark key={nth}>{visible(text)}</mark> : visible(text)))}</p>
    </li>
  );
}
