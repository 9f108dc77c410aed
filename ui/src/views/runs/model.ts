// Which runs a list shows, in which order.
//
// In: the statuses of runs, a filter, a sort and whether to group. Out: the rows of the list (runs, and headings of sessions), and the
// figures of a run as the list shows them. Pure: everything is computed from its arguments.
import type { Run } from "../../api/source";

export interface Filter {
  state: Run["state"] | "";
  runner: string;
  /** Only runs with warnings, violations, drift or records that could not be read. */
  hasFindings: boolean;
  /** Only runs that wait for an approval. */
  isWaiting: boolean;
  /** Words that must all occur in the run's texts. */
  text: string;
}

export const SORTS = ["started", "updated", "duration", "tokens", "cost", "tools", "findings"] as const;
export type SortKey = (typeof SORTS)[number];

export interface Order {
  key: SortKey;
  isAscending: boolean;
}

export const NO_FILTER: Filter = { state: "", runner: "", hasFindings: false, isWaiting: false, text: "" };

export type ListRow = { kind: "run"; run: Run; isIndented: boolean } | { kind: "session"; id: string; name: string; runs: number; waiting: number; isFolded: boolean };

/** Milliseconds that a run took, or has taken until `now`. */
export function durationOf(run: Run, now: number): number {
  return Math.max(0, (run.ended_at_ms ?? Math.max(now, run.updated_at_ms)) - run.started_at_ms);
}

/** Tokens read and written, cached ones included; undefined if the runner reported none. */
export function tokensOf(run: Run): number | undefined {
  const { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens } = run.usage;
  const known = [input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens].filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, figure) => sum + figure, 0);
}

/** What was noted about a run, by kind; empty if nothing was. */
export function findingsOf(run: Run): { name: string; count: number }[] {
  const out: { name: string; count: number }[] = [];
  const add = (name: string, count: number) => {
    if (count > 0) out.push({ name, count });
  };
  for (const [code, count] of Object.entries(run.warnings)) add(`warning ${code}`, count);
  for (const [contract, count] of Object.entries(run.validation_failures)) add(`schema violations in ${contract}`, count);
  for (const [what, count] of Object.entries(run.drift ?? {})) add(`drift: ${what}`, count);
  add("invalid records", run.invalid_records);
  if (run.damaged !== undefined) add("damaged", 1);
  return out;
}

export function findingCount(run: Run): number {
  return findingsOf(run).reduce((sum, { count }) => sum + count, 0);
}

/** The text that names a run: its title, else its last text. Empty if it has neither. */
export function titleOf(run: Run): string {
  return run.title || run.final_text?.slice(0, 400).replace(/\s+/gu, " ").trim().slice(0, 120) || "";
}

/** `key:value` of each label. */
export function labelsOf(run: Run): string[] {
  return Object.entries(run.labels ?? {}).map(([key, value]) => `${key}:${value}`);
}

/** Texts of a run that a search looks at, in lower case. */
function haystack(run: Run): string {
  return [run.title, run.session_name, run.model, run.runner, run.run_id, run.session_id, run.state, run.error_code, run.message, run.final_text?.slice(0, 2_000), ...labelsOf(run)]
    .filter((text) => text !== undefined)
    .join("\n")
    .toLowerCase();
}

/** The texts that are searched, kept as long as a status is. */
const haystacks = new WeakMap<Run, string>();

export function matches(run: Run, filter: Filter): boolean {
  if (filter.state !== "" && run.state !== filter.state) return false;
  if (filter.runner !== "" && run.runner !== filter.runner) return false;
  if (filter.isWaiting && run.pending_approvals.length === 0) return false;
  if (filter.hasFindings && findingCount(run) === 0) return false;
  const words = filter.text.toLowerCase().split(/\s+/u).filter((word) => word !== "");
  if (words.length === 0) return true;
  let text = haystacks.get(run);
  if (text === undefined) {
    text = haystack(run);
    haystacks.set(run, text);
  }
  return words.every((word) => text.includes(word));
}

/** Sorts runs; a run without the figure comes last in both directions, and equal runs newest first. */
export function sorted(runs: readonly Run[], { key, isAscending }: Order, now: number): Run[] {
  const figure = (run: Run): number | undefined => {
    switch (key) {
      case "started":
        return run.started_at_ms;
      case "updated":
        return run.updated_at_ms;
      case "duration":
        return durationOf(run, now);
      case "tokens":
        return tokensOf(run);
      case "cost":
        return run.usage.cost_usd;
      case "tools":
        return run.tool_calls;
      case "findings":
        return findingCount(run);
    }
  };
  const direction = isAscending ? 1 : -1;
  return runs
    .map((run) => ({ run, figure: figure(run) }))
    .sort((a, b) => {
      if (a.figure === undefined || b.figure === undefined) {
        if (a.figure === b.figure) return newestFirst(a.run, b.run);
        return a.figure === undefined ? 1 : -1;
      }
      return (a.figure - b.figure) * direction || newestFirst(a.run, b.run);
    })
    .map(({ run }) => run);
}

function newestFirst(a: Run, b: Run): number {
  return b.started_at_ms - a.started_at_ms || (a.run_id < b.run_id ? 1 : -1);
}

/**
 * The rows of the list: runs in their order, or under their sessions, which are in the order of their first run. A session with one run has
 * no heading.
 */
export function listRows(runs: readonly Run[], isGrouped: boolean, folded: ReadonlySet<string>): ListRow[] {
  if (!isGrouped) return runs.map((run) => ({ kind: "run", run, isIndented: false }));
  const sessions = new Map<string, Run[]>();
  for (const run of runs) {
    const its = sessions.get(run.session_id);
    if (its) its.push(run);
    else sessions.set(run.session_id, [run]);
  }
  const rows: ListRow[] = [];
  for (const [id, its] of sessions) {
    const [only, ...others] = its;
    if (only !== undefined && others.length === 0) {
      rows.push({ kind: "run", run: only, isIndented: false });
      continue;
    }
    const isFolded = folded.has(id);
    const named = its.find((run) => run.session_name !== undefined)?.session_name;
    const oldest = its.reduce((found, run) => (run.started_at_ms < found.started_at_ms ? run : found));
    const waiting = its.filter((run) => run.pending_approvals.length > 0).length;
    rows.push({ kind: "session", id, name: titleOf(oldest) || (named ?? id), runs: its.length, waiting, isFolded });
    if (!isFolded) for (const run of its) rows.push({ kind: "run", run, isIndented: true });
  }
  return rows;
}

/** The filter in an address: `#/runs?state=failed&q=login`. */
export function filterFrom(query: Readonly<Record<string, string>>): Filter {
  const states: readonly string[] = ["running", "waiting_approval", "completed", "failed", "interrupted"];
  const state = query["state"] ?? "";
  return {
    state: states.includes(state) ? (state as Run["state"]) : "",
    runner: query["runner"] ?? "",
    hasFindings: query["findings"] === "1",
    isWaiting: query["waiting"] === "1",
    text: query["q"] ?? "",
  };
}

export function orderFrom(query: Readonly<Record<string, string>>): Order {
  const [key = "", direction] = (query["sort"] ?? "started").split(".");
  return { key: SORTS.find((known) => known === key) ?? "started", isAscending: direction === "up" };
}

/** The parameters of an address; what is as usual is left out. */
export function toQuery(filter: Filter, order: Order, isGrouped: boolean): Record<string, string> {
  const query: Record<string, string> = {};
  if (filter.state !== "") query["state"] = filter.state;
  if (filter.runner !== "") query["runner"] = filter.runner;
  if (filter.hasFindings) query["findings"] = "1";
  if (filter.isWaiting) query["waiting"] = "1";
  if (filter.text !== "") query["q"] = filter.text;
  if (order.key !== "started" || order.isAscending) query["sort"] = order.isAscending ? `${order.key}.up` : order.key;
  if (isGrouped) query["group"] = "session";
  return query;
}
