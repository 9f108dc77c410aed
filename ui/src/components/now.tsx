// Times that go on: how long ago something was, how long something takes so far.
import { useEffect, useState } from "preact/hooks";
import { ago, duration, fullTime } from "./format";

/** The time, anew every so many milliseconds. */
function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export function Ago({ at }: { at: number }) {
  const now = useNow(5_000);
  const date = new Date(at);
  return (
    <time dateTime={Number.isNaN(date.getTime()) ? undefined : date.toISOString()} title={fullTime(at)}>
      {ago(at, now)}
    </time>
  );
}

/** The time since then, in whole seconds; nothing if the clocks of the proxy and the reader differ by more than that. */
export function Elapsed({ since }: { since: number }) {
  const now = useNow(1_000);
  const ms = Math.floor((now - since) / 1_000) * 1_000;
  return ms < 1_000 ? null : <span class="numeric">{duration(ms).replace(".0 s", " s")}</span>;
}
