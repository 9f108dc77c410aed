// The next prompt of a run's session.
//
// It is offered if an upstream of the run's runner takes prompts. The proxy knows whether a runner still listens: if none does, the reader
// may start a run that continues the session.
import { ConflictError } from "@framegate/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "../../app/context";
import { go, paths } from "../../app/router";
import type { Run, Source, Upstream } from "../../api/source";
import { Icon } from "../../components/icon";
import { messageOf } from "../../components/states";
import { toast } from "../../components/toast";

/** How often, and how long, the page looks for the run that a prompt begins. */
const LOOK_MS = 1_000;
const LOOK_TIMES = 60;

export function Composer({ run }: { run: Run }) {
  const { source } = useApp();
  const [upstreams, setUpstreams] = useState<Upstream[]>([]);
  const [prompt, setPrompt] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  /** The session has no runner that listens; a new run would continue it. */
  const [isGone, setGone] = useState(false);
  /** The runs of the session before a prompt was sent to it. */
  const [before, setBefore] = useState<ReadonlySet<string>>();
  const field = useRef<HTMLTextAreaElement>(null);

  useEffect(() => {
    const controller = new AbortController();
    source.upstreams({ signal: controller.signal }).then(setUpstreams, () => {});
    return () => controller.abort();
  }, [source]);

  useEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight + 2, 240)}px`;
  }, [prompt]);

  useNextRun(run, before, () => setBefore(undefined));

  const own = upstreams.filter((upstream) => upstream.runner === run.runner);
  const starter = own.find((upstream) => upstream.takes_prompts);
  if (!own.some((upstream) => upstream.takes_messages) && starter === undefined) return null;

  const send = async () => {
    const text = prompt.trim();
    if (text === "" || isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      if (isGone && starter !== undefined) {
        const next = await source.startRun({ upstream: starter.name, prompt: text, session_id: run.session_id });
        setPrompt("");
        go(paths.conversation(next.run_id));
      } else {
        const known = await runsOf(source, run.session_id);
        await source.sendMessage(run.session_id, text);
        setPrompt("");
        setBefore(known);
        toast("Sent to the runner.");
      }
    } catch (error) {
      if (error instanceof ConflictError && !isGone && starter !== undefined) setGone(true);
      else setProblem(messageOf(error));
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {isGone && <p class="small soft">No runner of this session is listening any more. Sending starts a new run that continues the session, on {starter?.name}.</p>}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div class="composer-row">
        <textarea
          ref={field}
          class="input"
          rows={1}
          aria-label="Prompt"
          placeholder="Next prompt for this session"
          value={prompt}
          onInput={(event) => setPrompt(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <button type="submit" class="button button-primary" disabled={isBusy || prompt.trim() === ""}>
          <Icon name="send" />
          <span>{isBusy ? "Sending…" : isGone ? "Start a run" : "Send"}</span>
        </button>
      </div>
    </form>
  );
}

/** After a prompt was sent: goes to the run that it begins, as soon as this one has ended. */
function useNextRun(run: Run, before: ReadonlySet<string> | undefined, onDone: () => void): void {
  const { source } = useApp();
  const hasEnded = useRef(false);
  hasEnded.current = run.state !== "running" && run.state !== "waiting_approval";
  useEffect(() => {
    if (before === undefined) return;
    const controller = new AbortController();
    let left = LOOK_TIMES;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      const now = hasEnded.current ? await runsOf(source, run.session_id, controller.signal).catch(() => new Set<string>()) : new Set<string>();
      if (controller.signal.aborted) return;
      const next = [...now].find((runId) => !before.has(runId));
      if (next !== undefined) {
        onDone();
        go(paths.conversation(next));
        return;
      }
      left -= 1;
      if (left > 0) timer = setTimeout(() => void look(), LOOK_MS);
    };
    timer = setTimeout(() => void look(), LOOK_MS / 2);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [source, run.session_id, before]);
}

async function runsOf(source: Source, session_id: string, signal?: AbortSignal): Promise<Set<string>> {
  const { data } = await source.runs({ session_id, limit: 20 }, signal === undefined ? {} : { signal });
  return new Set(data.map((run) => run.run_id));
}
