// The filters of the list of runs, and the heads of its columns, which sort it.
import type { Run } from "../../api/source";
import { Icon } from "../../components/icon";
import { type Filter, type Order, SORTS, type SortKey } from "./model";

const STATES: readonly { state: Run["state"]; name: string }[] = [
  { state: "running", name: "Running" },
  { state: "waiting_approval", name: "Waiting" },
  { state: "completed", name: "Completed" },
  { state: "failed", name: "Failed" },
  { state: "interrupted", name: "Interrupted" },
];

const SORT_NAMES: Readonly<Record<SortKey, string>> = {
  started: "Started",
  updated: "Last change",
  duration: "Duration",
  tokens: "Tokens",
  cost: "Cost",
  tools: "Tools",
  findings: "Findings",
};

export interface FiltersProps {
  filter: Filter;
  order: Order;
  isGrouped: boolean;
  /** All runs: for the choices that make sense. */
  runs: readonly Run[];
  onChange(next: { filter?: Filter; order?: Order; isGrouped?: boolean }): void;
}

export function Filters({ filter, order, isGrouped, runs, onChange }: FiltersProps) {
  const set = (change: Partial<Filter>) => onChange({ filter: { ...filter, ...change } });
  const runners = [...new Set([...runs.map((run) => run.runner as string), ...(filter.runner === "" ? [] : [filter.runner])])].sort();
  const waiting = runs.filter((run) => run.pending_approvals.length > 0).length;
  return (
    <div class="runs-filters" role="search" aria-label="Filter runs">
      <label class="runs-search">
        <span class="visually-hidden">Search runs</span>
        <Icon name="search" />
        <input
          type="search"
          placeholder="Search runs"
          value={filter.text}
          aria-keyshortcuts="/"
          onInput={(event) => set({ text: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            if (filter.text !== "") set({ text: "" });
            else event.currentTarget.blur();
          }}
        />
        <kbd aria-hidden="true">/</kbd>
      </label>
      <div class="runs-choices">
        <label>
          <span class="visually-hidden">State</span>
          <select class="select" value={filter.state} onChange={(event) => set({ state: event.currentTarget.value as Filter["state"] })}>
            <option value="">Any state</option>
            {STATES.map(({ state, name }) => (
              <option key={state} value={state}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span class="visually-hidden">Runner</span>
          <select class="select" value={filter.runner} onChange={(event) => set({ runner: event.currentTarget.value })}>
            <option value="">Any runner</option>
            {runners.map((runner) => (
              <option key={runner} value={runner}>
                {runner}
              </option>
            ))}
          </select>
        </label>
        <label class="runs-sort">
          <span class="visually-hidden">Sort by</span>
          <select
            class="select"
            value={`${order.key}${order.isAscending ? ".up" : ""}`}
            onChange={(event) => {
              const [key, up] = event.currentTarget.value.split(".");
              onChange({ order: { key: SORTS.find((known) => known === key) ?? "started", isAscending: up === "up" } });
            }}
          >
            {SORTS.flatMap((key) => [
              <option key={key} value={key}>
                {SORT_NAMES[key]} ↓
              </option>,
              <option key={`${key}.up`} value={`${key}.up`}>
                {SORT_NAMES[key]} ↑
              </option>,
            ])}
          </select>
        </label>
        <Toggle isOn={filter.isWaiting} onClick={() => set({ isWaiting: !filter.isWaiting })}>
          Waiting{waiting > 0 ? ` (${waiting})` : ""}
        </Toggle>
        <Toggle isOn={filter.hasFindings} onClick={() => set({ hasFindings: !filter.hasFindings })}>
          With findings
        </Toggle>
        <Toggle isOn={isGrouped} onClick={() => onChange({ isGrouped: !isGrouped })}>
          By session
        </Toggle>
      </div>
    </div>
  );
}

function Toggle({ isOn, onClick, children }: { isOn: boolean; onClick(): void; children: preact.ComponentChildren }) {
  return (
    <button type="button" class={`toggle ${isOn ? "toggle-on" : ""}`} aria-pressed={isOn} onClick={onClick}>
      {children}
    </button>
  );
}

/** The heads of the columns on wide screens. */
export function SortHead({ order, onChange }: { order: Order; onChange(order: Order): void }) {
  const column = (key: SortKey, name: string) => {
    const isSorted = order.key === key;
    const direction = order.isAscending ? "ascending" : "descending";
    return (
      <button
        type="button"
        class={`runs-head-cell ${isSorted ? "is-sorted" : ""}`}
        aria-label={isSorted ? `${name}, sorted ${direction}; reverse` : `Sort by ${name.toLowerCase()}`}
        onClick={() => onChange({ key, isAscending: isSorted ? !order.isAscending : false })}
      >
        {name}
        <span aria-hidden="true">{isSorted ? (order.isAscending ? " ↑" : " ↓") : ""}</span>
      </button>
    );
  };
  return (
    <div class="runs-head" role="group" aria-label="Sort runs">
      <span class="runs-head-cell">State</span>
      <span class="runs-head-cell runs-head-title">Run</span>
      {column("started", "Started")}
      {column("duration", "Duration")}
      {column("tokens", "Tokens")}
      {column("cost", "Cost")}
      {column("tools", "Tools")}
      {column("findings", "Findings")}
    </div>
  );
}
