// Short messages at the edge of the page, read aloud politely, gone after a while.
import { signal } from "@preact/signals";
import { Icon } from "./icon";

interface Toast {
  id: number;
  text: string;
  tone: "info" | "bad";
}

const SHOWN_MS = 6_000;
const MOST = 4;

const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Shows a message. A failure stays twice as long. */
export function toast(text: string, tone: Toast["tone"] = "info"): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value.slice(1 - MOST), { id, text, tone }];
  setTimeout(() => dismiss(id), tone === "bad" ? 2 * SHOWN_MS : SHOWN_MS);
}

export function toastError(error: unknown): void {
  toast(error instanceof Error ? error.message : String(error), "bad");
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((shown) => shown.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <span>{text}</span>
          <button type="button" class="button button-plain button-icon" onClick={() => dismiss(id)} aria-label="Dismiss">
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
