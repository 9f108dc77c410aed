// The figures of all runs of the period.
import type { StatsFigures } from "../../api/source";
import { tokens, whole } from "../../components/format";
import { dollars, duration, meanDuration } from "../../model/stats";

export function Totals({ total }: { total: StatsFigures }) {
  const ended = total.completed + total.failed + total.interrupted;
  const share = ended > 0 ? `${Math.round((100 * total.failed) / ended)} % of those that ended` : undefined;
  const read = sum(total.input_tokens, total.cache_read_tokens, total.cache_creation_tokens);
  const mean = meanDuration(total);
  return (
    <dl class="stats-totals">
      <Total name="Runs" value={whole(total.runs)} note={total.open > 0 ? `${whole(total.open)} open` : undefined} />
      <Total name="Failed" value={whole(total.failed)} note={share} isBad={total.failed > 0} />
      <Total
        name="Cost"
        value={total.cost_usd === undefined ? "–" : dollars(total.cost_usd)}
        note={total.cost_usd === undefined ? "not reported" : total.runs_with_cost !== undefined && total.runs_with_cost < total.runs ? `of ${whole(total.runs_with_cost)} runs that report it` : undefined}
      />
      <Total name="Tokens in" value={read === undefined ? "–" : tokens(read)} note={total.cache_read_tokens === undefined ? undefined : `${tokens(total.cache_read_tokens)} from the cache`} />
      <Total name="Tokens out" value={total.output_tokens === undefined ? "–" : tokens(total.output_tokens)} note={total.reasoning_tokens === undefined ? undefined : `${tokens(total.reasoning_tokens)} reasoning`} />
      <Total name="Tool calls" value={whole(total.tool_calls ?? 0)} note={total.failed_tool_calls ? `${whole(total.failed_tool_calls)} failed` : undefined} />
      <Total name="Duration" value={total.duration_ms === undefined ? "–" : duration(total.duration_ms)} note={mean === undefined ? undefined : `${duration(mean)} on average`} />
      <Total name="Warnings" value={whole(total.warnings ?? 0)} note={undefined} />
    </dl>
  );
}

function Total({ name, value, note, isBad = false }: { name: string; value: string; note: string | undefined; isBad?: boolean }) {
  return (
    <div class="card stats-total">
      <dt class="small soft">{name}</dt>
      <dd class={`stats-value numeric ${isBad ? "is-bad" : ""}`}>{value}</dd>
      {note !== undefined && <dd class="small faint">{note}</dd>}
    </div>
  );
}

function sum(...figures: (number | undefined)[]): number | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : known.reduce((all, figure) => all + figure, 0);
}
