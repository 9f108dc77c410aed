// The bars of a timeline as a table, in order of their beginnings.
import { useMemo } from "preact/hooks";
import { visible } from "../../components/visible";
import { VirtualList } from "../../components/virtual-list";
import type { Bar, Timeline } from "../../model/timeline";
import type { Axis } from "../../model/timeline-view";
import { elapsed } from "../../model/timeline-view";
import { hrefOf } from "./chart";
import { detailOf, lengthOf, nameOf, outcomeOf } from "./words";

export interface BarTableProps {
  runId: string;
  timeline: Timeline;
  /** Changes with the timeline, which is changed in place. */
  version: number;
  now: number;
  axis: Axis;
}

export function BarTable({ runId, timeline, version, now, axis }: BarTableProps) {
  const bars = useMemo(() => timeline.bars.slice(), [timeline, version]);
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
              {bar.thread.depth > 0 && `${visible(bar.thread.title)} › `}
              {bar.what}
            </span>
            <span role="cell" class="truncate">
              <a href={hrefOf(runId, bar)} dir="auto">
                {nameOf(bar)}
              </a>
            </span>
            <span role="cell" class="truncate mono" title={detailOf(bar)} dir="auto">
              {detailOf(bar)}
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
