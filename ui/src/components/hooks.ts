// Hooks that several views share: drawing again at most once for each picture, the time, media queries, the size of an element.
import { useCallback, useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** A function that draws the component again, once for any number of calls before the next picture. */
export function useRedraw(): () => void {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  const pending = useRef(0);
  useEffect(() => () => cancelAnimationFrame(pending.current), []);
  return useCallback(() => {
    if (pending.current !== 0) return;
    pending.current = requestAnimationFrame(() => {
      pending.current = 0;
      draw(undefined);
    });
  }, []);
}

/** The time, renewed every `periodMs` while `isActive`. */
export function useNow(periodMs: number, isActive: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isActive) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), periodMs);
    return () => clearInterval(timer);
  }, [periodMs, isActive]);
  return now;
}

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const read = () => setMatches(list.matches);
    read();
    list.addEventListener("change", read);
    return () => list.removeEventListener("change", read);
  }, [query]);
  return matches;
}

/** The size of an element in pixels; 0 before it exists. */
export function useSize<E extends Element>(): { ref: RefObject<E | null>; width: number; height: number } {
  const ref = useRef<E>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const read = () => setSize({ width: element.clientWidth, height: element.clientHeight });
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, ...size };
}
