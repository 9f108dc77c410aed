// The controls of the trace: which contracts, which findings, which frame.
import { useState } from "preact/hooks";
import { plural, whole } from "../../components/format";
import { Icon } from "../../components/icon";
import { messageOf } from "../../components/states";
import { MARK_KINDS, MARK_NAMES, type MarkKind } from "../../model/trace-marks";
import { type FindingScan, MAX_FOUND } from "../../model/trace-scan";

export interface ToolsProps {
  contracts: readonly string[];
  contract: string;
  second: string;
  experimental: boolean;
  userMessages: boolean;
  isFiltered: boolean;
  kinds: ReadonlySet<MarkKind>;
  scan: FindingScan;
  total: number;
  /** Changes parameters of the address. */
  onShow(change: Record<string, string | undefined>): void;
  onKinds(kinds: ReadonlySet<MarkKind>): void;
  onStep(step: 1 | -1): void;
  onFrame(seq: number): void;
  onSearch(): void;
}

export function Tools(props: ToolsProps) {
  const { contracts, contract, second, experimental, userMessages, isFiltered, scan, total, onShow, onStep, onFrame, onSearch } = props;
  const [frame, setFrame] = useState("");
  return (
    <div class="trace-tools">
      {contracts.length > 1 && (
        <>
          <label class="trace-choice">
            <span class="small soft">Left</span>
            <select class="select" aria-label="Left column" value={second} onChange={(event) => onShow({ beside: event.currentTarget.value || undefined })}>
              <option value="">The runner's records</option>
              {contracts.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label class="trace-choice">
            <span class="small soft">Right</span>
            <select class="select" aria-label="Right column" value={contract} onChange={(event) => onShow({ contract: event.currentTarget.value })}>
              {contracts.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <details class="menu trace-options">
            <summary class="button">Options</summary>
            <div class="menu-body">
              <label>
                <input type="checkbox" checked={experimental} onChange={() => onShow({ experimental: experimental ? undefined : "1" })} /> Experimental events
              </label>
              <label>
                <input type="checkbox" checked={userMessages} onChange={() => onShow({ user_messages: userMessages ? undefined : "1" })} /> The user's messages
              </label>
            </div>
          </details>
        </>
      )}
      <div class="trace-findings" role="group" aria-label="Findings">
        <button type="button" class="button button-icon" aria-label="Previous finding" title="Previous finding (p)" onClick={() => onStep(-1)}>
          <Icon name="chevron" class="is-back" />
        </button>
        <button type="button" class="button button-icon" aria-label="Next finding" title="Next finding (n)" onClick={() => onStep(1)}>
          <Icon name="chevron" />
        </button>
        <button type="button" class={`toggle ${isFiltered ? "toggle-on" : ""}`} aria-pressed={isFiltered} onClick={() => onShow({ only: isFiltered ? undefined : "findings" })}>
          Only findings
        </button>
        <KindMenu {...props} />
        <ScanState scan={scan} total={total} onSearch={onSearch} />
      </div>
      <form
        class="trace-goto"
        onSubmit={(event) => {
          event.preventDefault();
          const seq = Number(frame);
          if (/^\d{1,15}$/.test(frame.trim()) && Number.isSafeInteger(seq)) onFrame(seq);
        }}
      >
        <label>
          <span class="visually-hidden">Go to frame</span>
          <input class="input" inputMode="numeric" pattern="\s*\d{1,15}\s*" placeholder={`Frame 0–${total - 1}`} value={frame} onInput={(event) => setFrame(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button" disabled={frame.trim() === ""}>
          Go
        </button>
      </form>
    </div>
  );
}

function ScanState({ scan, total, onSearch }: { scan: FindingScan; total: number; onSearch(): void }) {
  const count = plural(scan.found.length, "frame");
  switch (scan.state) {
    case "idle":
      return (
        <button type="button" class="button" onClick={onSearch}>
          Search {whole(total)} frames
        </button>
      );
    case "running":
      return (
        <span class="small soft" role="status">
          {count} found, {Math.min(100, Math.floor((100 * scan.searched) / Math.max(1, total)))} % searched…
        </span>
      );
    case "failed":
      return (
        <span class="small problem" role="alert">
          The search stopped: {messageOf(scan.error)}{" "}
          <button type="button" class="button button-small" onClick={onSearch}>
            Go on
          </button>
        </span>
      );
    case "full":
      return <span class="small soft">The first {whole(MAX_FOUND)} frames with findings; the search stopped there</span>;
    case "done":
      return (
        <span class="small soft" role="status">
          {scan.found.length === 0 ? "no findings" : `${count} with findings`}
          {scan.isPartial && <abbr title="In long runs, rules that relate several events are checked among the first frames only. Schemas are checked everywhere."> (rules in part)</abbr>}
        </span>
      );
  }
}

function KindMenu({ kinds, scan, onKinds }: ToolsProps) {
  const counts = new Map<MarkKind, number>();
  for (const { kinds: its } of scan.found) for (const kind of its) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const toggle = (kind: MarkKind) => {
    const next = new Set(kinds);
    if (!next.delete(kind)) next.add(kind);
    onKinds(next);
  };
  return (
    <details class="menu">
      <summary class="button">{kinds.size === MARK_KINDS.length ? "All kinds" : `${kinds.size} of ${MARK_KINDS.length} kinds`}</summary>
      <div class="menu-body">
        {MARK_KINDS.map((kind) => (
          <label key={kind}>
            <input type="checkbox" checked={kinds.has(kind)} onChange={() => toggle(kind)} /> {MARK_NAMES[kind]} <span class="faint numeric">{counts.get(kind) ?? 0}</span>
          </label>
        ))}
        <button type="button" class="button button-small" onClick={() => onKinds(new Set(MARK_KINDS))}>
          All kinds
        </button>
      </div>
    </details>
  );
}
