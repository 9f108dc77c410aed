// Keys of the page. A view adds its own while it is shown.
//
// Never: a key that is taken from a field where the reader writes, or together with Ctrl, Alt or Meta.
import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";

export interface Key {
  /** One key, or two in a row: `j`, `?`, `g r`. */
  keys: string;
  does: string;
  run(): void;
}

/** The keys that work now, for the help. Views put theirs before those of the page. */
export const activeKeys = signal<readonly { group: string; keys: readonly Key[] }[]>([]);

/** The time between two keys that belong together. */
const SEQUENCE_MS = 1_200;

let first: { key: string; at: number } | undefined;

export function startKeys(): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isWriting(event.target)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const now = Date.now();
    const sequence = first !== undefined && now - first.at < SEQUENCE_MS ? `${first.key} ${event.key}` : undefined;
    first = undefined;
    const all = activeKeys.value.flatMap((group) => group.keys);
    const found = all.find((key) => key.keys === sequence) ?? all.find((key) => key.keys === event.key);
    if (found !== undefined) {
      event.preventDefault();
      found.run();
    } else if (all.some((key) => key.keys.startsWith(`${event.key} `))) {
      first = { key: event.key, at: now };
    }
  });
}

/** Keys that work while the component exists. `keys` must be the same list from one drawing to the next (`useMemo`). */
export function useKeys(group: string, keys: readonly Key[]): void {
  useEffect(() => {
    const entry = { group, keys };
    activeKeys.value = [entry, ...activeKeys.value];
    return () => {
      activeKeys.value = activeKeys.value.filter((known) => known !== entry);
    };
  }, [group, keys]);
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
