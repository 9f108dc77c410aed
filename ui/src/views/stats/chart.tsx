// A figure of each group as bars.
import type { StatsGroup, StatsRow } from "../../api/source";
import { plural } from "../../components/format";
import { visible } from "../../components/visible";
import { barRows, type Figure } from "../../model/stats";

export function Chart({ rows, by, chosen }: { rows: readonly StatsRow[]; by: readonly StatsGroup[]; chosen: Figure }) {
  const { bars, omitted } = barRows(rows, by, chosen);
  return (
    <>
      <ul class={`stats-chart ${by.length > 1 ? "is-wide" : ""}`}>
        {bars.map(({ label, text, share, value }, index) => (
          <li key={`${index} ${label}`} class="stats-chart-row">
            <span class="stats-chart-label truncate" title={label} dir="auto">
              {visible(label)}
            </span>
            <svg class="stats-chart-bar" width="100%" height="14" aria-hidden="true">
              {value !== undefined && <rect class="stats-rect" x="0" y="1" width={`${Math.max(share * 100, value > 0 ? 0.4 : 0)}%`} height="12" rx="2" />}
            </svg>
            <span class={`numeric small ${value === undefined ? "faint" : ""}`}>{text}</span>
          </li>
        ))}
      </ul>
      {omitted > 0 && (
        <p class="small soft">
          {plural(omitted, "group")} more {by[0] === "day" ? "before these" : "with smaller figures"}: the table has all of them.
        </p>
      )}
    </>
  );
}
