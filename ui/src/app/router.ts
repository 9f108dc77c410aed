// The routes of the page, which are in the fragment of its address: the proxy never sees them, and an exported file has them too.
//
// In: the fragment. Out: a `Route`. Never: an exception for a fragment that nothing wrote; such an address is `unknown`.
import { signal } from "@preact/signals";

export type Route =
  | { view: "runs"; query: Query }
  | { view: "stats"; query: Query }
  | { view: "search"; query: Query }
  | { view: "conversation"; runId: string; query: Query }
  | { view: "timeline"; runId: string; query: Query }
  | { view: "trace"; runId: string; query: Query }
  | { view: "frame"; runId: string; seq: number; query: Query }
  | { view: "tool"; runId: string; toolId: string; query: Query }
  | { view: "unknown"; path: string; query: Query };

/** Parameters of a view: `#/stats?by=day`. */
export type Query = Readonly<Record<string, string>>;

export function parseRoute(fragment: string): Route {
  const [path = "", search = ""] = split(fragment.replace(/^#/, ""), "?");
  const query: Record<string, string> = Object.fromEntries(new URLSearchParams(search));
  const parts = path.split("/").filter((part) => part !== "").map(decode);
  const [first, runId, view, argument, ...more] = parts;
  if (more.length > 0) return { view: "unknown", path, query };
  if (first === undefined || (first === "runs" && runId === undefined)) return { view: "runs", query };
  if ((first === "stats" || first === "search") && runId === undefined) return { view: first, query };
  if (first !== "runs" || runId === undefined) return { view: "unknown", path, query };
  if (view === undefined) return { view: "conversation", runId, query };
  if (argument === undefined && (view === "timeline" || view === "trace")) return { view, runId, query };
  if (view === "frame" && argument !== undefined && /^\d{1,15}$/.test(argument)) return { view, runId, seq: Number(argument), query };
  if (view === "tool" && argument !== undefined) return { view, runId, toolId: argument, query };
  return { view: "unknown", path, query };
}

export const paths = {
  runs: (query?: Record<string, string | undefined>) => href(["runs"], query),
  stats: (query?: Record<string, string | undefined>) => href(["stats"], query),
  search: (query?: Record<string, string | undefined>) => href(["search"], query),
  conversation: (runId: string, query?: Record<string, string | undefined>) => href(["runs", runId], query),
  timeline: (runId: string, query?: Record<string, string | undefined>) => href(["runs", runId, "timeline"], query),
  trace: (runId: string, query?: Record<string, string | undefined>) => href(["runs", runId, "trace"], query),
  frame: (runId: string, seq: number) => href(["runs", runId, "frame", String(seq)]),
  tool: (runId: string, toolId: string) => href(["runs", runId, "tool", toolId]),
};

/** The route that the address shows. */
export const route = signal<Route>({ view: "runs", query: {} });

/** Reads the address now and whenever it changes. */
export function startRouter(): void {
  const read = () => {
    route.value = parseRoute(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}

/** Goes to an address of `paths`. `replace`: without an entry in the history, as for a filter that changes with every key. */
export function go(address: string, { replace = false } = {}): void {
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, "", address);
  route.value = parseRoute(address);
}

function href(parts: string[], query: Record<string, string | undefined> = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") parameters.set(name, value);
  const search = parameters.toString();
  return `#/${parts.map(encoded).join("/")}${search && `?${search}`}`;
}

/** A half of a surrogate pair has no encoding: `encodeURIComponent` would throw. */
function encoded(part: string): string {
  return encodeURIComponent(part.replace(/\p{Surrogate}/gu, "\ufffd"));
}

function split(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index + 1)];
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
