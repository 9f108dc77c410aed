// Marks the words that the reader searches, wherever they are drawn, without a change to any element: the browser paints ranges. A browser
// that cannot do that shows the outline of the item only.
import { useEffect } from "preact/hooks";

const NAME = "found";
/** More marks than these are of no use, and cost time. */
const MOST = 2_000;

/** `needle` is in lower case; without one nothing is marked. */
export function useMarks(list: () => HTMLElement | null | undefined, needle: string | undefined): void {
  useEffect(() => {
    const element = list();
    if (!needle || !element || !("highlights" in CSS)) return;
    let frame: number | undefined;
    const mark = () => {
      frame = undefined;
      CSS.highlights.set(NAME, new Highlight(...ranges(element, needle)));
    };
    // Rows come and go while the reader scrolls.
    const observer = new MutationObserver(() => {
      frame ??= requestAnimationFrame(mark);
    });
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    mark();
    return () => {
      observer.disconnect();
      if (frame !== undefined) cancelAnimationFrame(frame);
      CSS.highlights.delete(NAME);
    };
  }, [list, needle]);
}

function ranges(element: HTMLElement, needle: string): Range[] {
  const found: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && found.length < MOST; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    // A few letters change their length in lower case; their places would be wrong.
    if (text.length !== node.nodeValue?.length) continue;
    for (let at = text.indexOf(needle); at >= 0 && found.length < MOST; at = text.indexOf(needle, at + needle.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + needle.length);
      found.push(range);
    }
  }
  return found;
}
