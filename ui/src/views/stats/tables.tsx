// The figures of each group, and of each tool, as tables.
import { useState } from "preact/hooks";
import type { Stats, StatsFigures, StatsGroup, StatsRow } from "../../api/source";
import { paths } from "../../app/router";
import { whole } from "../../components/format";
import { visible } from "../../components/visible";
import { duration, FIGURES, type Figure, GROUPS, keyOf, sortedRows } from "../../model/stats";

/** The most rows that are drawn before the reader asks for more. */
const ROWS = 200;

export interface StatsTableProps {
  rows: readonly StatsRow[];
  by: readonly StatsGroup[];
  total: StatsFigures;
  /** `cost_usd`, or `cost_usd.up`. */
  sort: string | undefined;
  onSort(sort: string): void;
}

export function StatsTable({ rows, by, total, sort, onSort }: StatsTableProps) {
  const [most, setMost] = useState(ROWS);
  const [key, direction] = (sort ?? `${by[0]}${by[0] === "day" ? "" : ".up"}`).split(".") as [string, string | undefined];
  const isAscending = direction === "up";
  // A figure that no group has makes no column.
  const figures = FIGURES.filter((column) => rows.some((row) => column.value(row) !== undefined));
  const all = sortedRows(rows, by, key, isAscending);
  const head = (column: string, name: string, isText: boolean) => {
    const isSorted = column === key;
    return (
      <th key={column} scope="col" class={isText ? "is-text" : ""} aria-sort={isSorted ? (isAscending ? "ascending" : "descending") : undefined}>
        <button type="button" onClick={() => onSort(isSorted && !isAscending ? `${column}.up` : column)}>
          {name}
          <span aria-hidden="true">{isSorted ? (isAscending ? " ↑" : " ↓") : ""}</span>
        </button>
      </th>
    );
  };
  return (
    <>
      <div class="stats-scroll" tabIndex={0} role="region" aria-label="Figures by group">
        <table class="stats-table">
          <thead>
            <tr>
              {by.map((group) => head(group, GROUPS.find((known) => known.group === group)?.name ?? group, true))}
              {figures.map((column) => head(column.key, column.name, false))}
            </tr>
          </thead>
          <tbody>
            {all.slice(0, most).map((row) => (
              <tr key={JSON.stringify([row.rest === true, ...by.map((group) => row[group] ?? null)])}>
                {by.map((group, index) => (
                  <GroupCell key={group} row={row} group={group} isHead={index === 0} />
                ))}
                {figures.map((column) => (
                  <FigureCell key={column.key} row={row} column={column} />
                ))}
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={by.length} class="is-text">
                Total
              </th>
              {figures.map((column) => (
                <FigureCell key={column.key} row={total} column={column} />
              ))}
            </tr>
          </tfoot>
        </table>
      </div>
      {all.length > most && (
        <button type="button" class="button" onClick={() => setMost(most + 5 * ROWS)}>
          Show more of the other {whole(all.length - most)} groups
        </button>
      )}
    </>
  );
}

function GroupCell({ row, group, isHead }: { row: StatsRow; group: StatsGroup; isHead: boolean }) {
  const text = visible(keyOf(row, group));
  const value = row[group];
  const href =
    value === undefined ? undefined
    : group === "runner" ? paths.runs({ runner: value })
    : group === "session" || group === "model" ? paths.runs({ q: value })
    : undefined; // prettier-ignore
  const content = href === undefined ? text : <a href={href}>{text}</a>;
  const shown = (
    <span class="stats-key truncate" title={text} dir="auto">
      {content}
    </span>
  );
  return isHead ? (
    <th scope="row" class="is-text">
      {shown}
    </th>
  ) : (
    <td class="is-text">{shown}</td>
  );
}

function FigureCell({ row, column }: { row: StatsFigures; column: Figure }) {
  const value = column.value(row);
  const isBad = value !== undefined && value > 0 && (column.key === "failed" || column.key === "failed_tool_calls");
  return <td class={`numeric ${isBad ? "is-bad" : value === 0 ? "faint" : ""}`}>{value === undefined ? "" : column.text(value)}</td>;
}

export function ToolTable({ tools }: { tools: Stats["tools"] }) {
  const [most, setMost] = useState(30);
  const all = [...tools].sort((a, b) => b.calls - a.calls);
  const greatest = all[0]?.calls ?? 1;
  return (
    <>
      <div class="stats-scroll" tabIndex={0} role="region" aria-label="Calls of each tool">
        <table class="stats-table">
          <thead>
            <tr>
              {["Tool", "Kind"].map((name) => (
                <th key={name} scope="col" class="is-text">
                  {name}
                </th>
              ))}
              <th scope="col" class="is-text">
                <span class="visually-hidden">Calls as a bar</span>
              </th>
              {["Calls", "Failed", "Duration", "Mean duration"].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {all.slice(0, most).map(({ name, kind, calls, failed, duration_ms, timed_calls, rest }) => (
              <tr key={`${kind}\u0000${name}\u0000${rest === true}`}>
                <th scope="row" class="is-text">
                  <span class="stats-key truncate mono" title={name} dir="auto">
                    {rest === true ? "all others" : visible(name) || "(no name)"}
                  </span>
                </th>
                <td class="is-text soft">{kind}</td>
                <td class="stats-tool-bar">
                  <svg width="100%" height="10" aria-hidden="true">
                    <rect class="stats-rect" width={`${(100 * calls) / greatest}%`} height="10" rx="2" />
                    <rect class="stats-rect-bad" width={`${(100 * failed) / greatest}%`} height="10" rx="2" />
                  </svg>
                </td>
                <td class="numeric">{whole(calls)}</td>
                <td class={`numeric ${failed > 0 ? "is-bad" : "faint"}`}>
                  {whole(failed)}
                  {failed > 0 && ` (${Math.round((100 * failed) / Math.max(1, calls))} %)`}
                </td>
                <td class="numeric">{duration_ms === undefined ? "" : duration(duration_ms)}</td>
                <td class="numeric">{duration_ms !== undefined && timed_calls !== undefined && timed_calls > 0 ? duration(duration_ms / timed_calls) : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {all.length > most && (
        <button type="button" class="button" onClick={() => setMost(most + 200)}>
          Show more of the other {whole(all.length - most)} tools
        </button>
      )}
    </>
  );
}
