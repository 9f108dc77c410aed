// A list of any length whose rows have any height: only rows near the visible part exist.
//
// Rows are measured when they are drawn. What the reader looks at stays where it is if rows above it turn out to be taller or change; at
// the end of the list, with `follows`, the end stays in view instead.
import type { AriaRole, ComponentChildren, Ref } from "preact";
import { useCallback, useImperativeHandle, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { Heights } from "./heights";

export interface VirtualListControl {
  /** Brings a row into view. `nearest`: only as far as needed. */
  scrollTo(index: number, align?: "start" | "center" | "nearest"): void;
  scrollToEnd(): void;
  /** The first row that is at least partly visible. */
  first(): number;
  element(): HTMLElement | null;
}

export interface VirtualListProps<T> {
  items: readonly T[];
  /** Changes if rows went away or came between others; while it is the same, rows are only added at the end. */
  layout?: string | number;
  /** Changes with anything that is shown: the list itself is changed in place, and is drawn again only if a property is another one. */
  version?: number;
  keyOf(item: T, index: number): string;
  /** The height to assume until the row was drawn. */
  guess?(item: T): number;
  render(item: T, index: number): ComponentChildren;
  /** What the list is, for assistive technology. */
  label: string;
  role?: AriaRole;
  rowRole?: AriaRole;
  class?: string;
  /** Whether the end stays in view while the reader is there. */
  follows?: boolean;
  onAtEnd?(isAtEnd: boolean): void;
  control?: Ref<VirtualListControl>;
  /** Below the last row. */
  footer?: ComponentChildren;
  /** Above the first row. */
  header?: ComponentChildren;
}

/** Pixels beyond the visible part in which rows exist. */
const OVERSCAN = 600;
/** So near to the end counts as the end. */
const END = 32;
const GUESS = 80;

export function VirtualList<T>(props: VirtualListProps<T>) {
  const { items, layout = 0, keyOf, guess, render, follows = false, onAtEnd, control, rowRole } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const heights = useMemo(() => new Heights(), []);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const state = useRef({ top: 0, view: 800, width: 0, isAtEnd: follows, isSentToEnd: false, follows, layout: undefined as string | number | undefined, first: 0, last: -1 });
  const now = state.current;

  // A list that begins to follow goes to its end, unless the reader has scrolled already.
  if (follows && !now.follows && now.top < 1) now.isAtEnd = true;
  now.follows = follows;

  // What the reader looks at: a row, and how far its top is above that of the view.
  const anchor = useRef<Anchor | undefined>(undefined);
  if (now.layout !== layout || items.length !== heights.count) {
    keepAnchor(heights, anchor, now.top);
    const isAppended = now.layout === layout;
    heights.sync(
      items.length,
      (index) => keyOf(items[index] as T, index),
      (index) => guess?.(items[index] as T) ?? GUESS,
      isAppended,
    );
    now.layout = layout;
  }

  if (items.length === 0) [now.first, now.last] = [0, -1];
  else {
    // At the end, the rows of the end are what is needed next.
    const top = now.isAtEnd && (follows || now.isSentToEnd) ? Math.max(0, heights.total - now.view) : now.top;
    now.first = heights.indexAt(top - OVERSCAN);
    now.last = heights.indexAt(top + now.view + OVERSCAN);
  }

  /** Measures the rows that exist, and puts the view back to its anchor. */
  const settle = useCallback(() => {
    const element = scroller.current;
    const rows = body.current;
    if (element === null || rows === null) return;
    now.view = element.clientHeight;
    if (anchor.current === undefined) keepAnchor(heights, anchor, now.top);
    let isChanged = false;
    for (const row of rows.children) {
      const index = Number((row as HTMLElement).dataset["index"]);
      if (heights.measure(index, (row as HTMLElement).getBoundingClientRect().height) !== 0) isChanged = true;
    }
    const kept = anchor.current;
    anchor.current = undefined;
    let top = element.scrollTop;
    if (now.isAtEnd && (follows || now.isSentToEnd)) {
      place(rows, heights, now.first);
      top = element.scrollHeight - element.clientHeight;
    } else if (kept !== undefined) {
      const index = heights.indexOf(kept.key, kept.index);
      if (index !== undefined) top = heights.offset(index) + kept.offset;
    }
    place(rows, heights, now.first);
    if (Math.abs(element.scrollTop - top) > 0.5) element.scrollTop = top;
    now.top = element.scrollTop;
    const isMissing =
      items.length > 0 &&
      (heights.indexAt(now.top) < now.first || heights.indexAt(now.top + now.view) > now.last || (isChanged && now.last - now.first < 0));
    if (isMissing) redraw(undefined);
    // The rows at the end are drawn and measured: the reader is there.
    else if (!isChanged) now.isSentToEnd = false;
  }, [heights, follows, items.length]);

  useLayoutEffect(settle);

  useLayoutEffect(() => {
    const element = scroller.current;
    const rows = body.current;
    if (element === null || rows === null) return;
    const onScroll = () => {
      now.top = element.scrollTop;
      const isAtEnd = element.scrollHeight - element.clientHeight - element.scrollTop <= END;
      if (isAtEnd !== now.isAtEnd) {
        now.isAtEnd = isAtEnd;
        onAtEnd?.(isAtEnd);
      }
      const first = heights.indexAt(now.top - OVERSCAN / 2);
      const last = heights.indexAt(now.top + now.view + OVERSCAN / 2);
      if (first < now.first || last > now.last) redraw(undefined);
    };
    const observer = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width !== now.width) {
        if (now.width !== 0) heights.forget();
        now.width = width;
      }
      settle();
    });
    element.addEventListener("scroll", onScroll, { passive: true });
    observer.observe(element);
    observer.observe(rows);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, [heights, settle, onAtEnd]);

  useImperativeHandle(
    control ?? (() => {}),
    () => ({
      scrollTo(index, align = "start") {
        const element = scroller.current;
        if (element === null) return;
        now.isAtEnd = false;
        onAtEnd?.(false);
        // The rows on the way are guesses: the target is reached when it was drawn and measured.
        for (let attempt = 0; attempt < 4; attempt += 1) {
          const top = heights.offset(index);
          const height = heights.height(index);
          const slack = now.view - height;
          let wanted = top;
          if (align === "center" && slack > 0) wanted = top - slack / 2;
          if (align === "nearest") {
            if (top >= element.scrollTop && top + height <= element.scrollTop + now.view) return;
            wanted = top < element.scrollTop || slack < 0 ? top - 12 : top - slack + 12;
          }
          const before = element.scrollTop;
          anchor.current = undefined;
          element.scrollTop = Math.max(0, wanted);
          now.top = element.scrollTop;
          if (Math.abs(before - now.top) < 1) break;
        }
        redraw(undefined);
      },
      scrollToEnd() {
        now.isAtEnd = true;
        now.isSentToEnd = true;
        onAtEnd?.(true);
        redraw(undefined);
      },
      first: () => heights.indexAt(now.top + 1),
      element: () => scroller.current,
    }),
    [heights, onAtEnd],
  );

  const rows: ComponentChildren[] = [];
  for (let index = now.first; index <= Math.min(now.last, items.length - 1); index += 1) {
    const item = items[index] as T;
    rows.push(
      <div key={keyOf(item, index)} class="virtual-row" data-index={index} role={rowRole}>
        {render(item, index)}
      </div>,
    );
  }

  return (
    <div ref={scroller} class={`virtual ${props.class ?? ""}`} tabIndex={0} role={props.role ?? "region"} aria-label={props.label}>
      {props.header}
      <div class="virtual-space" style={{ height: `${heights.total}px` }}>
        <div ref={body} class="virtual-rows" style={{ transform: `translateY(${heights.offset(now.first)}px)` }}>
          {rows}
        </div>
      </div>
      {props.footer}
    </div>
  );
}

interface Anchor {
  key: string;
  /** Where the row was. */
  index: number;
  offset: number;
}

function keepAnchor(heights: Heights, anchor: { current: Anchor | undefined }, top: number): void {
  // At the very top the reader looks at the beginning: rows that come before the first one are shown.
  if (anchor.current !== undefined || heights.count === 0 || top <= 0) return;
  const index = heights.indexAt(top);
  const key = heights.keyAt(index);
  if (key !== undefined) anchor.current = { key, index, offset: top - heights.offset(index) };
}

/** Moves the rows, and makes room for all, after measuring: before the screen shows the old places. */
function place(rows: HTMLElement, heights: Heights, first: number): void {
  const space = rows.parentElement;
  if (space !== null) space.style.height = `${heights.total}px`;
  rows.style.transform = `translateY(${heights.offset(first)}px)`;
}
