// The form that starts a run of a configured upstream.
//
// In: the upstreams that take prompts. Out: a run, whose conversation is shown. One form has one key until its content changes: sending it
// again after an error never starts a second run.
import { useRef, useState } from "preact/hooks";
import { newKey } from "@framegate/client/http";
import type { StartRun, Upstream } from "../../api/source";
import { useApp } from "../../app/context";
import { go, paths } from "../../app/router";
import { Dialog } from "../../components/dialog";
import { messageOf } from "../../components/states";
import { parseLabels } from "./labels";
import "./start.css";

const KEY = "framegate.start";

export function StartDialog({ upstreams, onClose }: { upstreams: readonly Upstream[]; onClose(): void }) {
  const { source } = useApp();
  const [order, setOrder] = useState<StartRun>(() => ({ ...remembered(upstreams), prompt: "" }));
  const [labels, setLabels] = useState("");
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const key = useRef(newKey());
  const chosen = upstreams.find(({ name }) => name === order.upstream);
  const change = (part: Partial<StartRun>) => {
    key.current = newKey();
    setOrder({ ...order, ...part });
  };
  const start = async () => {
    if (isBusy || order.prompt.trim() === "") return;
    const parsed = parseLabels(labels);
    if (typeof parsed === "string") return setError(new Error(parsed));
    setBusy(true);
    setError(undefined);
    try {
      const { upstream, prompt, model, cwd } = order;
      const wanted: StartRun & { labels?: Record<string, string> } = {
        upstream,
        prompt,
        ...(model ? { model } : {}),
        ...(cwd ? { cwd } : {}),
        ...(Object.keys(parsed).length > 0 ? { labels: parsed } : {}),
      };
      const run = await source.startRun(wanted, { idempotencyKey: key.current });
      remember(order);
      onClose();
      go(paths.conversation(run.run_id));
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  };
  return (
    <Dialog title="Start a run" onClose={onClose}>
      <form
        class="start-form"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label class="field">
          <span>Upstream</span>
          <select value={order.upstream} onChange={(event) => change({ upstream: event.currentTarget.value })}>
            {upstreams.map(({ name, runner }) => (
              <option key={name} value={name}>
                {name === runner ? name : `${name} (${runner})`}
              </option>
            ))}
          </select>
        </label>
        {chosen?.state === "lost" && <p class="problem">The proxy has no connection to this upstream{chosen.reason ? `: ${chosen.reason}` : ""}.</p>}
        <label class="field">
          <span>Prompt</span>
          <textarea
            rows={6}
            required
            autofocus
            dir="auto"
            value={order.prompt}
            onInput={(event) => change({ prompt: event.currentTarget.value })}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              void start();
            }}
          />
        </label>
        <div class="start-pair">
          <label class="field">
            <span>Model (optional)</span>
            <input value={order.model ?? ""} autocomplete="off" spellcheck={false} placeholder="the upstream's" onInput={(event) => change({ model: event.currentTarget.value })} />
          </label>
          <label class="field">
            <span>Directory (optional)</span>
            <input value={order.cwd ?? ""} autocomplete="off" spellcheck={false} placeholder="the upstream's" onInput={(event) => change({ cwd: event.currentTarget.value })} />
          </label>
        </div>
        <label class="field">
          <span>Labels (optional)</span>
          <input
            value={labels}
            autocomplete="off"
            spellcheck={false}
            placeholder="team:web, ticket:ABC-7"
            onInput={(event) => {
              key.current = newKey();
              setLabels(event.currentTarget.value);
            }}
          />
        </label>
        {error !== undefined && (
          <p class="problem" role="alert">
            {messageOf(error)}
          </p>
        )}
        <div class="dialog-end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary" disabled={isBusy || order.prompt.trim() === ""} title="Ctrl+Enter">
            {isBusy ? "Starting…" : "Start"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type Remembered = Pick<StartRun, "upstream" | "model" | "cwd">;

/** What was chosen last, as far as it is still possible. */
function remembered(upstreams: readonly Upstream[]): Remembered {
  const first = upstreams[0]?.name ?? "";
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    if (typeof stored !== "object" || stored === null) return { upstream: first };
    const { upstream, model, cwd } = stored as Record<string, unknown>;
    if (!upstreams.some(({ name }) => name === upstream)) return { upstream: first };
    return {
      upstream: upstream as string,
      ...(typeof model === "string" ? { model } : {}),
      ...(typeof cwd === "string" ? { cwd } : {}),
    };
  } catch {
    return { upstream: first };
  }
}

function remember({ upstream, model, cwd }: StartRun): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ upstream, model, cwd }));
  } catch {
    // Without storage the form begins empty.
  }
}
