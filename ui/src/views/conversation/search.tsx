// Search in a run. The browser's own search finds only what is drawn, and most of a long run is not.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Icon } from "../../components/icon";
import type { Item } from "../../model/items";
import type { Row } from "../../model/rows";
import { contains } from "../../model/search";

export interface Found {
  needle: string;
  current: Item | undefined;
}

export interface SearchProps {
  rows: readonly Row[];
  /** Changes with the conversation. */
  version: number;
  onFound(found: Found | undefined): void;
  onShow(index: number): void;
  onClose(): void;
}

/** The pause after a key before all items are looked through. */
const PAUSE_MS = 120;
/** While a run is in progress, new items are looked through this often. */
const AGAIN_MS = 1_000;

export function Search({ rows, version, onFound, onShow, onClose }: SearchProps) {
  const [typed, setTyped] = useState("");
  const [needle, setNeedle] = useState("");
  const [at, setAt] = useState(0);
  const [seconds, setSeconds] = useState(0);
  const input = useRef<HTMLInputElement>(null);

  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    const timer = setTimeout(() => setNeedle(typed.trim().toLowerCase()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    const timer = setTimeout(() => setSeconds((count) => count + 1), AGAIN_MS);
    return () => clearTimeout(timer);
  }, [version]);

  const hits = useMemo(() => {
    const indexes: number[] = [];
    if (needle !== "") rows.forEach((row, index) => contains(row.item, needle) && indexes.push(index));
    return indexes;
  }, [needle, seconds, rows]);

  const show = (position: number) => {
    const index = hits[position];
    setAt(position);
    onFound(needle === "" ? undefined : { needle, current: index === undefined ? undefined : rows[index]?.item });
    if (index !== undefined) onShow(index);
  };

  useEffect(() => show(0), [needle]);

  const step = (by: number) => hits.length > 0 && show((at + by + hits.length) % hits.length);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        step(1);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
        if (event.key === "Enter" && event.shiftKey) {
          event.preventDefault();
          step(-1);
        }
      }}
    >
      <Icon name="search" />
      <input
        ref={input}
        class="input"
        type="search"
        aria-label="Search in this run"
        placeholder="Search in this run"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <span class="small soft numeric" role="status">
        {needle === "" ? "" : hits.length === 0 ? "nothing found" : `${at + 1} of ${hits.length.toLocaleString("en")}`}
      </span>
      <button type="button" class="button button-plain button-icon search-up" disabled={hits.length === 0} onClick={() => step(-1)} aria-label="Previous hit">
        <Icon name="down" />
      </button>
      <button type="submit" class="button button-plain button-icon" disabled={hits.length === 0} aria-label="Next hit">
        <Icon name="down" />
      </button>
      <button type="button" class="button button-plain button-icon" onClick={onClose} aria-label="Close the search">
        <Icon name="close" />
      </button>
    </form>
  );
}
