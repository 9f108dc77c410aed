// Statistics: tokens, cost, runs, failures, tools and durations, by day, runner, model, session or label.
//
// In: the parameters of the address. Out: the totals of a period, a chart of one figure, a table of all figures, the tools, and the table
// as CSV.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Source, Stats, StatsGroup, StatsQuery } from "../../api/source";
import { useApp } from "../../app/context";
import { go, paths, type Query } from "../../app/router";
import { plural } from "../../components/format";
import { Icon } from "../../components/icon";
import { Empty, Failure, Loading } from "../../components/states";
import { toastError } from "../../components/toast";
import { dayStart, FIGURES, figure, GROUPS, PERIODS, since, zoneName } from "../../model/stats";
import { Chart } from "./chart";
import { StatsTable, ToolTable } from "./tables";
import { Totals } from "./totals";
import "../../components/controls.css";
import "./stats.css";

const DAY_MS = 86_400_000;

export function StatsView({ query }: { query: Query }) {
  const { source } = useApp();
  const by = groupsOf(query);
  const wanted = useMemo(() => queryOf(query), [JSON.stringify(query)]);
  const [state, setState] = useState<{ stats?: Stats; error?: unknown; isLoading: boolean }>({ isLoading: true });
  const [attempt, setAttempt] = useState(0);
  const wantedText = JSON.stringify(wanted);
  useEffect(() => {
    const controller = new AbortController();
    setState((before) => ({ ...before, error: undefined, isLoading: true }));
    source.stats(wanted, { signal: controller.signal }).then(
      (stats) => setState({ stats, isLoading: false }),
      (error: unknown) => !controller.signal.aborted && setState({ error, isLoading: false }),
    );
    return () => controller.abort();
  }, [source, wantedText, attempt]);

  const show = (change: Record<string, string | undefined>) => go(paths.stats({ ...query, ...change }), { replace: true });
  const chosen = figure(query["figure"] ?? "cost_usd");
  const { stats, error, isLoading } = state;
  // While other groups are read, the rows are those of the groups before.
  const shownBy = stats?.by ?? by;
  return (
    <section class="stats" aria-label="Statistics" aria-busy={isLoading}>
      <header class="stats-bar">
        <h1>Statistics</h1>
        <Period query={query} onShow={show} />
        <Groups by={by} onShow={show} />
        <Narrow query={query} onShow={show} />
        <div class="stats-actions">
          <button type="button" class="button" disabled={isLoading} onClick={() => setAttempt(attempt + 1)}>
            Read again
          </button>
          <button type="button" class="button" disabled={!stats || stats.data.length === 0} onClick={() => void saveCsv(source, wanted)}>
            <Icon name="download" />
            CSV
          </button>
        </div>
      </header>
      {error !== undefined ? (
        <Failure error={error} onRetry={() => setAttempt(attempt + 1)} />
      ) : stats === undefined ? (
        <Loading what="statistics" />
      ) : stats.total.runs === 0 ? (
        <Empty title="No runs in this period">
          <p>Choose a longer period, or fewer conditions.</p>
        </Empty>
      ) : (
        <div class={`stats-body ${isLoading ? "is-loading" : ""}`}>
          <Totals total={stats.total} />
          {shownBy.length > 0 && (
            <section class="card stats-card" aria-labelledby="stats-chart">
              <div class="stats-card-head">
                <h2 id="stats-chart">
                  {chosen.name} by {shownBy.map(nameOf).join(" and ")}
                </h2>
                <label>
                  <span class="visually-hidden">Figure of the chart</span>
                  <select class="select" value={chosen.key} onChange={(event) => show({ figure: event.currentTarget.value })}>
                    {FIGURES.map(({ key, name }) => (
                      <option key={key} value={key}>
                        {name}
                      </option>
                    ))}
                  </select>
                </label>
              </div>
              <Chart rows={stats.data} by={shownBy} chosen={chosen} />
            </section>
          )}
          {shownBy.length > 0 && (
            <section class="card stats-card" aria-labelledby="stats-table">
              <div class="stats-card-head">
                <h2 id="stats-table">{plural(stats.data.length, "group")}</h2>
              </div>
              <StatsTable rows={stats.data} by={shownBy} total={stats.total} sort={query["sort"]} onSort={(sort) => show({ sort })} />
            </section>
          )}
          {stats.tools.length > 0 && (
            <section class="card stats-card" aria-labelledby="stats-tools">
              <div class="stats-card-head">
                <h2 id="stats-tools">Tools</h2>
              </div>
              {stats.runs_without_tools !== undefined && (
                <p class="small soft">The tools of {plural(stats.runs_without_tools, "run")} are not known, because an older version stored their status.</p>
              )}
              <ToolTable tools={stats.tools} />
            </section>
          )}
        </div>
      )}
    </section>
  );
}

function nameOf(group: StatsGroup): string {
  return (GROUPS.find((known) => known.group === group)?.name ?? group).toLowerCase();
}

function groupsOf(query: Query): StatsGroup[] {
  const wanted = (query["by"] ?? "day").split(",");
  return GROUPS.map(({ group }) => group).filter((group) => wanted.includes(group));
}

/** Minutes east of UTC. */
function zone(): number {
  return -new Date().getTimezoneOffset();
}

function queryOf(query: Query): StatsQuery {
  const offset = zone();
  const period = PERIODS.find(({ key }) => key === (query["period"] ?? "30d"));
  const from = dayStart(query["from"] ?? "", offset);
  const to = dayStart(query["to"] ?? "", offset);
  const begin = query["period"] === "own" ? from : since(period?.days, Date.now(), offset);
  const { runner, session, label } = query;
  return {
    by: groupsOf(query),
    tz: zoneName(offset),
    ...(begin === undefined ? {} : { since: begin }),
    ...(query["period"] === "own" && to !== undefined ? { until: to + DAY_MS } : {}),
    ...(runner ? { runner } : {}),
    ...(session ? { session_id: session } : {}),
    ...(label ? { label } : {}),
  };
}

type Show = (change: Record<string, string | undefined>) => void;

function Period({ query, onShow }: { query: Query; onShow: Show }) {
  const period = query["period"] ?? "30d";
  return (
    <div class="stats-period">
      <label>
        <span class="visually-hidden">Period</span>
        <select class="select" value={period} onChange={(event) => onShow({ period: event.currentTarget.value })}>
          {PERIODS.map(({ key, name }) => (
            <option key={key} value={key}>
              {name}
            </option>
          ))}
          <option value="own">From … to …</option>
        </select>
      </label>
      {period === "own" && (
        <>
          <input class="input" type="date" aria-label="From" value={query["from"] ?? ""} max={query["to"]} onChange={(event) => onShow({ from: event.currentTarget.value || undefined })} />
          <input class="input" type="date" aria-label="To" value={query["to"] ?? ""} min={query["from"]} onChange={(event) => onShow({ to: event.currentTarget.value || undefined })} />
        </>
      )}
    </div>
  );
}

function Groups({ by, onShow }: { by: readonly StatsGroup[]; onShow: Show }) {
  return (
    <div class="stats-groups" role="group" aria-label="Grouped by">
      <span class="small soft" aria-hidden="true">
        by
      </span>
      {GROUPS.map(({ group, name }) => {
        const isOn = by.includes(group);
        const next = isOn ? by.filter((known) => known !== group) : [...by, group];
        return (
          <button key={group} type="button" class={`toggle ${isOn ? "toggle-on" : ""}`} aria-pressed={isOn} onClick={() => onShow({ by: next.join(",") || "none", sort: undefined })}>
            {name}
          </button>
        );
      })}
    </div>
  );
}

/** Conditions: only runs of a runner, a session, or with a label. */
function Narrow({ query, onShow }: { query: Query; onShow: Show }) {
  const names = ["runner", "session", "label"] as const;
  const active = names.filter((name) => query[name]);
  return (
    <details class="menu">
      <summary class={`button ${active.length > 0 ? "is-on" : ""}`}>{active.length === 0 ? "Only…" : `Only ${active.map((name) => query[name]).join(", ").slice(0, 60)}`}</summary>
      <form
        class="menu-body stats-narrow"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          onShow(Object.fromEntries(names.map((name) => [name, String(form.get(name) ?? "").trim() || undefined])));
          event.currentTarget.closest("details")?.removeAttribute("open");
        }}
      >
        <label class="field">
          <span>Runner</span>
          <input name="runner" defaultValue={query["runner"] ?? ""} autocomplete="off" spellcheck={false} />
        </label>
        <label class="field">
          <span>Session (its id)</span>
          <input name="session" defaultValue={query["session"] ?? ""} autocomplete="off" spellcheck={false} />
        </label>
        <label class="field">
          <span>Label (key:value)</span>
          <input name="label" defaultValue={query["label"] ?? ""} autocomplete="off" spellcheck={false} pattern="[^:]+:.*" />
        </label>
        <div class="dialog-end">
          <button type="button" class="button" onClick={() => onShow({ runner: undefined, session: undefined, label: undefined })}>
            Clear
          </button>
          <button type="submit" class="button button-primary">
            Show
          </button>
        </div>
      </form>
    </details>
  );
}

async function saveCsv(source: Source, query: StatsQuery): Promise<void> {
  try {
    download(await source.statsCsv(query), "framegate-stats.csv");
  } catch (error) {
    toastError(error);
  }
}

function download(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
