// The bars of a timeline as a table, in order of their beginnings.
import { useMemo } from "preact/hooks";
import { VirtualList } from "../../components/virtual-list";
import type { Bar, Timeline } from "../../model/timeline";
import type { Axis } from "../../model/timeline_view";
import { elapsed } from "../../model/timeline_view";
import { hrefOf } from "./chart";
import { lengthOf, outcomeOf } from "./words";

export function BarTable({ runId, timeline, now, axis }: { runId: string; timeline: Timeline; now: number; axis: Axis }) {
  const bars = useMemo(() => timeline.bars.slice(), [timeline, timeline.bars.length]);
  return (
    <div class="bar-table" role="table" aria-label="What the run did" aria-rowcount={bars.length + 1}>
      <div role="rowgroup">
        <div class="bar-table-row bar-table-head" role="row" aria-rowindex={1}>
          {["Start", "Duration", "What", "Name", "Details", "Outcome"].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      <VirtualList<Bar>
        class="bar-table-list"
        label="Bars"
        role="rowgroup"
        items={bars}
        keyOf={(bar) => String(bar.index)}
        guess={() => 34}
        rowRole="presentation"
        render={(bar, index) => (
          <div class="bar-table-row" role="row" aria-rowindex={index + 2}>
            <span role="cell" class="numeric">
              {elapsed(bar.start.ms - timeline.first!.ms, 1)}
            </span>
            <span role="cell" class="numeric">
              {lengthOf(bar, timeline, now, axis)}
            </span>
            <span role="cell" class="soft truncate">
              {bar.thread.depth > 0 && `${bar.thread.title} › `}
              {bar.what}
            </span>
            <span role="cell" class="truncate">
              <a href={hrefOf(runId, bar)} dir="auto">
                {bar.label}
              </a>
            </span>
            <span role="cell" class="truncate mono" title={bar.detail} dir="auto">
              {bar.detail}
            </span>
            <span role="cell" class={bar.outcome === "failed" || bar.outcome === "refused" ? "chart-failed" : "soft"}>
              {outcomeOf(bar)}
            </span>
          </div>
        )}
      />
    </div>
  );
}
