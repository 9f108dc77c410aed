// A row of the list of runs: one run, or the heading of a session.
import type { Run } from "../../api/source";
import { paths } from "../../app/router";
import { StateBadge } from "../../components/badge";
import { ago, clock, dollars, duration, fullTime, plural, tokens, whole } from "../../components/format";
import { Icon } from "../../components/icon";
import { visible } from "../../components/visible";
import { durationOf, findingCount, findingsOf, labelsOf, type ListRow, titleOf, tokensOf } from "./model";

export interface RunRowProps {
  run: Run;
  /** The time, for a run that is open. */
  now: number;
  isCurrent: boolean;
  isIndented: boolean;
  onFocus(): void;
}

export function RunRow({ run, now, isCurrent, isIndented, onFocus }: RunRowProps) {
  const title = visible(titleOf(run));
  const used = tokensOf(run);
  const findings = findingCount(run);
  return (
    <article class={`run-row ${isCurrent ? "is-current" : ""} ${isIndented ? "is-indented" : ""}`} data-run={run.run_id} data-state={run.state}>
      <span class="run-row-state">
        <StateBadge state={run.state} />
      </span>
      <div class="run-row-main">
        <a class="run-row-title truncate" href={paths.conversation(run.run_id)} data-row={run.run_id} onFocus={onFocus} dir="auto">
          {title === "" ? <span class="soft">Run {run.run_id.slice(0, 8)}</span> : title}
        </a>
        <p class="run-row-about truncate small soft">
          {run.runner}
          {run.model !== undefined && ` · ${visible(run.model)}`}
          {labelsOf(run).map((label) => (
            <span key={label} class="run-row-label" dir="auto">
              {visible(label)}
            </span>
          ))}
          {run.pending_approvals.length > 0 && <Waiting run={run} now={now} />}
          {run.state === "failed" && (run.message ?? run.error_code) !== undefined && (
            <span class="run-row-error"> · {visible((run.message ?? run.error_code ?? "").slice(0, 200))}</span>
          )}
        </p>
      </div>
      <Cell name="Started" title={fullTime(run.started_at_ms)}>
        {clock(run.started_at_ms)}
      </Cell>
      <Cell name="Duration">{duration(durationOf(run, now))}</Cell>
      <Cell name="Tokens" unit={used === 1 ? "token" : "tokens"} title={tokenTitle(run)}>
        {tokens(used)}
      </Cell>
      <Cell name="Cost">{dollars(run.usage.cost_usd)}</Cell>
      <Cell name="Tools" unit={run.tool_calls === 1 ? "tool call" : "tool calls"}>{run.tool_calls > 0 ? whole(run.tool_calls) : ""}</Cell>
      <Cell name="Findings" unit={findings === 1 ? "finding" : "findings"} title={findingsOf(run).map(({ name, count }) => `${count} × ${name}`).join("\n")}>
        {findings > 0 && (
          <span class="run-row-findings">
            <Icon name="warn" />
            {whole(findings)}
          </span>
        )}
      </Cell>
    </article>
  );
}

/** A figure. Its name is only read; on narrow screens, where no column has a head, its unit is shown. */
function Cell({ name, unit, title, children }: { name: string; unit?: string; title?: string; children: preact.ComponentChildren }) {
  const isEmpty = children === "" || children === false || children === undefined;
  return (
    <span class={`run-row-cell numeric ${isEmpty ? "is-empty" : ""}`} title={title === "" ? undefined : title}>
      {!isEmpty && <span class="visually-hidden">{name} </span>}
      {children}
      {!isEmpty && unit !== undefined && <span class="run-row-unit"> {unit}</span>}
    </span>
  );
}

function Waiting({ run, now }: { run: Run; now: number }) {
  const [first] = run.approvals;
  const more = run.pending_approvals.length - 1;
  const what = first === undefined || first.tool_name === "" ? "an answer" : visible(first.tool_name);
  return (
    <strong class="run-row-waiting">
      {" · "}waits for {what}
      {more > 0 && ` and ${more} more`}
      {first !== undefined && now > 0 && ` since ${ago(first.requested_at_ms, now).replace(/ ago$/, "")}`}
    </strong>
  );
}

function tokenTitle(run: Run): string {
  const { input_tokens, cache_read_tokens, cache_creation_tokens, output_tokens, reasoning_tokens } = run.usage;
  const figures: [string, number | undefined][] = [
    ["input", input_tokens],
    ["cache reads", cache_read_tokens],
    ["cache writes", cache_creation_tokens],
    ["output", output_tokens],
    ["of it reasoning", reasoning_tokens],
  ];
  return figures.flatMap(([name, figure]) => (figure === undefined ? [] : [`${name}: ${whole(figure)}`])).join("\n");
}

type Session = Extract<ListRow, { kind: "session" }>;

export function SessionRow({ row, isCurrent, onFocus, onToggle }: { row: Session; isCurrent: boolean; onFocus(): void; onToggle(): void }) {
  return (
    <button
      type="button"
      class={`session-row ${isCurrent ? "is-current" : ""}`}
      aria-expanded={!row.isFolded}
      data-session={row.id}
      data-row={`session ${row.id}`}
      title={`Session ${row.id}`}
      onFocus={onFocus}
      onClick={onToggle}
    >
      <Icon name="chevron" class={row.isFolded ? "" : "is-turned"} />
      <span class="truncate" dir="auto">
        {visible(row.name)}
      </span>
      <span class="soft small">
        {plural(row.runs, "run")}
        {row.waiting > 0 && ` · ${row.waiting} waiting`}
      </span>
    </button>
  );
}
