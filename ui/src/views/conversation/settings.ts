// Choices of the reader that outlive a view.
import { signal } from "@preact/signals";

const KEY = "framegate.details";

/** Whether debug messages and changes of state are shown. */
export const isDetailed = signal(read());

export function setDetailed(next: boolean): void {
  isDetailed.value = next;
  try {
    if (next) localStorage.setItem(KEY, "shown");
    else localStorage.removeItem(KEY);
  } catch {
    // The choice then lasts until the page is closed.
  }
}

function read(): boolean {
  try {
    return localStorage.getItem(KEY) === "shown";
  } catch {
    return false;
  }
}
