// The list of runs: live, filtered, searched, sorted, and grouped by session.
//
// In: the source, and the parameters of the address. Out: a list whose rows lead to the conversations; a filter changes the address. Only
// rows near the visible part exist.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Abilities, Source } from "../../api/source";
import { useApp } from "../../app/context";
import { type Key, useKeys } from "../../app/keys";
import { go, paths, type Query } from "../../app/router";
import { plural, whole } from "../../components/format";
import { useNow, useRedraw } from "../../components/hooks";
import { Icon } from "../../components/icon";
import { Empty, Failure, Loading } from "../../components/states";
import { VirtualList, type VirtualListControl } from "../../components/virtual-list";
import { StartButtons } from "../start/buttons";
import { Filters, SortHead } from "./filters";
import { type Filter, filterFrom, listRows, type ListRow, matches, NO_FILTER, type Order, orderFrom, sorted, toQuery } from "./model";
import { RunRow, SessionRow } from "./row";
import { MAX_RUNS, RunStore } from "./store";
import "../../components/controls.css";
import "./runs.css";

/** The runs of a source stay in memory while other views are shown. */
const stores = new WeakMap<Source, { store: RunStore; listener: { current: () => void } }>();

function storeOf(source: Source) {
  let known = stores.get(source);
  if (known === undefined) {
    const listener = { current: () => {} };
    known = { store: new RunStore(source, () => listener.current()), listener };
    stores.set(source, known);
  }
  return known;
}

export function RunsView({ query }: { query: Query }) {
  const { source, can } = useApp();
  const { store, listener } = storeOf(source);
  const redraw = useRedraw();
  const version = useRef(0);
  useEffect(() => {
    listener.current = () => {
      version.current += 1;
      redraw();
    };
    store.open();
    return () => {
      listener.current = () => {};
      store.close();
    };
  }, [store]);

  const filter = useMemo(() => filterFrom(query), [query]);
  const order = useMemo(() => orderFrom(query), [query]);
  const isGrouped = query["group"] === "session";
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const show = (next: { filter?: Filter; order?: Order; isGrouped?: boolean }) => {
    go(paths.runs(toQuery(next.filter ?? filter, next.order ?? order, next.isGrouped ?? isGrouped)), { replace: true });
  };

  const isAnyOpen = [...store.runs.values()].some((run) => run.ended_at_ms === undefined);
  const now = useNow(1_000, isAnyOpen);
  // A sort by duration would move rows every second: it uses the time of the last change.
  const runs = useMemo(() => {
    const all = [...store.runs.values()];
    return { shown: sorted(all.filter((run) => matches(run, filter)), order, Date.now()), all };
  }, [version.current, filter, order]);
  const rows = useMemo(() => listRows(runs.shown, isGrouped, folded), [runs, isGrouped, folded]);
  const layout = useMemo(() => rows.map(keyOf).join(), [rows]);

  const { list, current, setCurrent } = useListKeys(rows);
  // Other conditions give another list, which begins at its top.
  const conditions = JSON.stringify(toQuery(filter, order, isGrouped));
  const shownConditions = useRef(conditions);
  useEffect(() => {
    if (shownConditions.current === conditions) return;
    shownConditions.current = conditions;
    setCurrent(-1);
    list.current?.scrollTo(0);
  }, [conditions]);
  const isFiltered = Object.keys(toQuery(filter, orderFrom({}), false)).length > 0;

  return (
    <section class="runs">
      <header class="runs-bar">
        <h1 class="visually-hidden">Runs</h1>
        <Filters filter={filter} order={order} isGrouped={isGrouped} runs={runs.all} onChange={show} />
        <StartButtons />
      </header>
      <p class="runs-count small soft" role="status">
        {summary(store, runs.shown.length, isFiltered)}
      </p>
      <ConnectionNote store={store} />
      {store.error !== undefined && store.runs.size === 0 ? (
        <Failure error={store.error} onRetry={() => void store.load()} />
      ) : store.runs.size === 0 && !store.isComplete ? (
        <Loading what="runs" />
      ) : rows.length === 0 ? (
        <NoRuns isFiltered={isFiltered} can={can} onClear={() => show({ filter: NO_FILTER })} />
      ) : (
        <>
          <SortHead order={order} onChange={(next) => show({ order: next })} />
          <VirtualList<ListRow>
            control={list}
            class="runs-list"
            label="Runs"
            items={rows}
            layout={layout}
            keyOf={keyOf}
            guess={(row) => (row.kind === "run" ? 58 : 36)}
            render={(row, index) =>
              row.kind === "run" ? (
                <RunRow run={row.run} now={row.run.ended_at_ms === undefined ? now : 0} isCurrent={index === current} isIndented={row.isIndented} onFocus={() => setCurrent(index)} />
              ) : (
                <SessionRow row={row} isCurrent={index === current} onFocus={() => setCurrent(index)} onToggle={() => setFolded(toggled(folded, row.id))} />
              )
            }
          />
        </>
      )}
    </section>
  );
}

function keyOf(row: ListRow): string {
  return row.kind === "run" ? row.run.run_id : `session ${row.id}`;
}

function toggled(folded: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(folded);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Moves through the rows with j and k, and to the search with `/`. */
function useListKeys(rows: readonly ListRow[]) {
  const list = useRef<VirtualListControl>(null);
  const [current, setCurrent] = useState(-1);
  const wanted = useRef<string | undefined>(undefined);
  const focusWanted = () => {
    const key = wanted.current;
    if (key === undefined) return;
    const link = list.current?.element()?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`);
    if (link === undefined || link === null) return;
    wanted.current = undefined;
    link.focus({ preventScroll: true });
  };
  // A row that is far away is drawn after the list was moved to it.
  useEffect(focusWanted);
  const move = useRef((_step: number) => {});
  move.current = (step) => {
    if (rows.length === 0) return;
    const next = Math.min(rows.length - 1, Math.max(0, current + step));
    setCurrent(next);
    wanted.current = keyOf(rows[next]!);
    list.current?.scrollTo(next, "nearest");
    focusWanted();
  };
  const keys = useMemo<Key[]>(
    () => [
      { keys: "j", does: "Next run", run: () => move.current(1) },
      { keys: "k", does: "Previous run", run: () => move.current(-1) },
      { keys: "/", does: "Search", run: () => document.querySelector<HTMLInputElement>(".runs-search input")?.focus() },
    ],
    [],
  );
  useKeys("Runs", keys);
  return { list, current, setCurrent };
}

function summary(store: RunStore, shown: number, isFiltered: boolean): string {
  const known = store.runs.size;
  const parts = [isFiltered ? `${whole(shown)} of ${plural(known, "run")}` : plural(known, "run")];
  if (store.isLoading) parts.push("loading more…");
  if (store.isCut) parts.push(`only the newest ${whole(MAX_RUNS)} are listed`);
  return parts.join(" · ");
}

function ConnectionNote({ store }: { store: RunStore }) {
  const { connection, error } = store;
  if (error !== undefined && store.runs.size > 0) {
    return (
      <p class="runs-note small" role="alert">
        <Icon name="warn" /> The list could not be read to its end.{" "}
        <button type="button" class="button button-plain" onClick={() => void store.load()}>
          Try again
        </button>
      </p>
    );
  }
  if (connection.state !== "reconnecting") return null;
  return (
    <p class="runs-note small" role="status">
      <Icon name="warn" /> The connection was lost; the list may be out of date. Trying again…
    </p>
  );
}

function NoRuns({ isFiltered, can, onClear }: { isFiltered: boolean; can: Abilities; onClear(): void }) {
  if (isFiltered) {
    return (
      <Empty title="No run fits the filter">
        <button type="button" class="button" onClick={onClear}>
          Show all runs
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No runs yet">
      <p class="soft">Runs appear here when a runner's output is sent in{can.control ? ", or when you start one" : ""}.</p>
      {can.ingest && <p class="soft">Drop a file with a runner's output anywhere on this page to translate it.</p>}
    </Empty>
  );
}
