// Figures as people read them. Absent figures give an empty text, never 0.
//
// A formatter is made when it is needed first, and kept: making one takes longer than drawing an item.

function kept<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const inEnglish = kept(() => new Intl.NumberFormat("en"));
const timeOfDay = kept(() => new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }));
const day = kept(() => new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" }));
const everything = kept(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" }));

export function duration(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return "";
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(Math.floor(seconds % 60)).padStart(2, "0")} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, "0")} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function bytes(count: number | undefined): string {
  if (count === undefined || !Number.isFinite(count)) return "";
  if (count < 1_000) return `${count} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = count;
  let unit = "";
  for (unit of units) {
    value /= 1_000;
    if (value < 999.5) break;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** 1234 → `1,234`. */
export function whole(count: number | undefined): string {
  return count === undefined ? "" : inEnglish().format(count);
}

/** 12345 → `12.3k`. */
export function tokens(count: number | undefined): string {
  if (count === undefined) return "";
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${count < 99_950 ? (count / 1_000).toFixed(1) : Math.round(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(2)}M`;
}

export function dollars(amount: number | undefined): string {
  if (amount === undefined) return "";
  if (amount === 0) return "$0";
  if (amount < 0.01) return `$${amount.toFixed(4)}`;
  return `$${amount.toFixed(2)}`;
}

/** A time of day. The date belongs into a tooltip (`fullTime`). */
export function clock(ms: number | undefined): string {
  if (ms === undefined) return "";
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : timeOfDay().format(date);
}

/** A day and a time of day, for lists that span days. */
export function dayAndTime(ms: number | undefined, now = Date.now()): string {
  if (ms === undefined) return "";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? clock(ms) : `${day().format(date)}, ${clock(ms)}`;
}

/** The whole time, for a tooltip. */
export function fullTime(ms: number | undefined): string {
  if (ms === undefined) return "";
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : everything().format(date);
}

/** How long ago that was. */
export function ago(ms: number | undefined, now = Date.now()): string {
  if (ms === undefined) return "";
  const seconds = Math.round((now - ms) / 1_000);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** `1 frame`, `2 frames`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : many}`;
}
