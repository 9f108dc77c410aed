// A short word in a coloured field. The word carries the meaning; the colour only repeats it.
import type { ComponentChildren } from "preact";
import type { Run } from "../api/source";

export type Tone = "plain" | "accent" | "ok" | "warn" | "bad" | "violet";

export function Badge({ tone = "plain", title, children }: { tone?: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

const STATES: Record<string, { tone: Tone; label: string }> = {
  running: { tone: "accent", label: "running" },
  waiting_approval: { tone: "warn", label: "waiting" },
  completed: { tone: "ok", label: "completed" },
  failed: { tone: "bad", label: "failed" },
  interrupted: { tone: "violet", label: "interrupted" },
};

/** The state of a run. */
export function StateBadge({ state }: { state: Run["state"] | string }) {
  const { tone, label } = (Object.hasOwn(STATES, state) ? STATES[state] : undefined) ?? { tone: "plain" as const, label: state };
  return (
    <span class={`badge badge-${tone} badge-state`} title={state === "waiting_approval" ? "waits for an answer" : undefined}>
      <span class={`dot ${state === "running" ? "dot-live" : ""}`} aria-hidden="true" />
      {label}
    </span>
  );
}
