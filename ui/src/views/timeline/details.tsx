// What is known about the bar under the pointer or with the focus.
import { paths } from "../../app/router";
import { fullTime, plural } from "../../components/format";
import type { Bar, Timeline } from "../../model/timeline";
import { type Axis, elapsed } from "../../model/timeline-view";
import { hrefOf, type Shown } from "./chart";
import { detailOf, lengthOf, nameOf, outcomeOf, startOf } from "./words";

export interface DetailsProps {
  runId: string;
  shown: Shown | undefined;
  timeline: Timeline;
  axis: Axis;
  now: number;
  onZoom(bar: Bar): void;
}

export function Details({ runId, shown, timeline, axis, now, onZoom }: DetailsProps) {
  if (shown === undefined) {
    return (
      <footer class="timeline-details timeline-hint soft small">
        <p>Point at a bar, or tap it, for details; a click leads to its place in the run. Drag to move, Ctrl and the wheel or two fingers zoom.</p>
        <p>Bars that are too narrow are drawn together, with a thick border; red at its lower edge, some of them failed.</p>
      </footer>
    );
  }
  const { bar, count, failed } = shown;
  if (count > 1) {
    return (
      <footer class="timeline-details">
        <p class="timeline-details-title">
          <strong>{plural(count, "bar")}</strong> too narrow to be drawn alone{failed > 0 && <span class="chart-failed">{failed} failed</span>}
        </p>
        <p class="small soft">From {startOf(bar, axis, timeline)}. A click zooms in.</p>
      </footer>
    );
  }
  const length = lengthOf(bar, timeline, now, axis);
  const outcome = outcomeOf(bar);
  return (
    <footer class="timeline-details">
      <p class="timeline-details-title">
        <strong dir="auto">{nameOf(bar)}</strong>
        <span class="soft small">{bar.what}</span>
        {outcome !== "" && <span class={bar.outcome === "failed" || bar.outcome === "refused" ? "chart-failed" : "small soft"}>{outcome}</span>}
      </p>
      {bar.detail !== "" && (
        <p class="timeline-details-text mono" dir="auto">
          {detailOf(bar)}
        </p>
      )}
      <dl class="timeline-figures small">
        <div title={fullTime(bar.start.ms)}>
          <dt>Start</dt>
          <dd>{elapsed(bar.start.ms - timeline.first!.ms, 1)}</dd>
        </div>
        {length !== "" && (
          <div>
            <dt>Duration</dt>
            <dd>{length}</dd>
          </div>
        )}
        {bar.measuredMs !== undefined && (
          <div title="What the runner reported">
            <dt>Measured by the runner</dt>
            <dd>{elapsed(bar.measuredMs, 1)}</dd>
          </div>
        )}
        <div>
          <dt>Frames</dt>
          <dd>
            {bar.start.seq}
            {bar.end !== undefined && bar.end.seq !== bar.start.seq && `–${bar.end.seq}`}
          </dd>
        </div>
      </dl>
      <p class="timeline-links small">
        <a href={hrefOf(runId, bar)}>In the conversation</a>
        <a href={paths.trace(runId, { frame: String(bar.start.seq) })}>Its frames</a>
        {bar.row !== "point" && (
          <button type="button" class="button button-small" onClick={() => onZoom(bar)}>
            Zoom to it
          </button>
        )}
      </p>
    </footer>
  );
}
