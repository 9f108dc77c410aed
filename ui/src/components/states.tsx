// What stands in for content: nothing yet, nothing at all, or an error.
import type { ComponentChildren } from "preact";
import { ApiError } from "@framegate/client";

export function Loading({ what }: { what: string }) {
  return (
    <div class="state" role="status">
      <span class="spinner" aria-hidden="true" />
      <p>Loading {what}…</p>
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** An error in the place of what it prevented. */
export function Failure({ error, title, onRetry }: { error: unknown; title?: string; onRetry?: () => void }) {
  return (
    <div class="state state-bad" role="alert">
      <h2>{title ?? titleOf(error)}</h2>
      <p>{messageOf(error)}</p>
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

function titleOf(error: unknown): string {
  if (error instanceof ApiError) {
    if (error.status === 401) return "A token is needed";
    if (error.status === 403) return "The token does not allow this";
    if (error.status === 404) return "Not found";
    if (error.status === 410) return "No longer stored";
  }
  return "This did not work";
}

export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.problem?.detail ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
