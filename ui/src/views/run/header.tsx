// What all views of a run have in common: its title, its figures, the tabs, and how the connection is doing.
import type { ComponentChildren } from "preact";
import { paths, route } from "../../app/router";
import type { Connection, Run } from "../../api/source";
import { StateBadge } from "../../components/badge";
import { dollars, duration, tokens, whole } from "../../components/format";
import { Ago, Elapsed } from "../../components/now";
import { Failure } from "../../components/states";
import { visible } from "../../components/visible";
import { isGone, type RunSession } from "../../state/run-session";
import { titleOf } from "../runs/model";

export interface RunFrameProps {
  session: RunSession;
  /** Buttons at the end of the header. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** The header of a run, and a view of it below. */
export function RunFrame({ session, actions, children }: RunFrameProps) {
  const run = session.status.value;
  const error = session.error.value;
  // Signals tell this component about each change of the conversation.
  void session.version.value;
  const { conversation } = session;
  const isEmpty = conversation.frames === 0;
  if (error !== undefined && isEmpty) {
    return (
      <Failure
        error={error}
        {...(isGone(error) ? { title: "This run is not stored" } : {})}
        onRetry={() => session.retry()}
      />
    );
  }
  const title = visible((run && titleOf(run)) || firstPrompt(session) || `Run ${session.runId.slice(0, 8)}`);
  return (
    <div class="run" data-connection={session.connection.value.state}>
      <header class="run-head">
        <div class="run-title">
          <h1 class="truncate" title={title}>
            {title}
          </h1>
          {run && <StateBadge state={run.state} />}
          <div class="run-actions">{actions}</div>
        </div>
        <Figures run={run} session={session} />
        <nav class="tabs" aria-label="Views of this run">
          <Tab view="conversation" href={paths.conversation(session.runId)} label="Conversation" />
          <Tab view="timeline" href={paths.timeline(session.runId)} label="Timeline" />
          <Tab view="trace" href={paths.trace(session.runId)} label="Frames" />
        </nav>
      </header>
      <Notices session={session} run={run} error={error} />
      {children}
    </div>
  );
}

function Tab({ view, href, label }: { view: string; href: string; label: string }) {
  const shown = route.value.view;
  const isCurrent = shown === view || (view === "trace" && shown === "frame") || (view === "conversation" && shown === "tool");
  return (
    <a href={href} aria-current={isCurrent ? "page" : undefined}>
      {label}
    </a>
  );
}

function Figures({ run, session }: { run: Run | undefined; session: RunSession }) {
  const { conversation } = session;
  const usage = run?.usage ?? conversation.usage;
  const model = run?.model ?? conversation.model;
  const started = run?.started_at_ms ?? conversation.startedAt;
  const ended = run?.ended_at_ms;
  return (
    <dl class="figures">
      {run && <Figure name="Runner">{run.runner}</Figure>}
      {model && <Figure name="Model">{visible(model)}</Figure>}
      {started !== undefined && (
        <Figure name="Started">
          <Ago at={started} />
        </Figure>
      )}
      {started !== undefined && run?.state === "running" && (
        <Figure name="Running for">
          <Elapsed since={started} />
        </Figure>
      )}
      {started !== undefined && ended !== undefined && <Figure name="Duration">{duration(ended - started)}</Figure>}
      {usage.input_tokens !== undefined && (
        <Figure name="Tokens" title={`${whole(usage.input_tokens)} in, ${whole(usage.output_tokens)} out`}>
          {tokens(usage.input_tokens)} in · {tokens(usage.output_tokens)} out
        </Figure>
      )}
      {usage.cost_usd !== undefined && <Figure name="Cost">{dollars(usage.cost_usd)}</Figure>}
      {run !== undefined && run.tool_calls > 0 && <Figure name="Tools">{whole(run.tool_calls)}</Figure>}
    </dl>
  );
}

function Figure({ name, title, children }: { name: string; title?: string; children: ComponentChildren }) {
  return (
    <div class="figure" title={title}>
      <dt>{name}</dt>
      <dd class="numeric">{children}</dd>
    </div>
  );
}

/** What a reader must know before trusting what is below. */
function Notices({ session, run, error }: { session: RunSession; run: Run | undefined; error: unknown }) {
  const notices: { key: string; text: string; action?: ComponentChildren }[] = [];
  const connection = session.connection.value;
  if (error !== undefined) {
    notices.push({
      key: "error",
      text: isGone(error) ? "This run is no longer stored. What follows was read before." : "The run cannot be read any further.",
      action: (
        <button type="button" class="button button-small" onClick={() => session.retry()}>
          Try again
        </button>
      ),
    });
  } else if (connection.state === "reconnecting") notices.push({ key: "connection", text: reconnecting(connection) });
  if (run?.damaged) notices.push({ key: "damaged", text: `A part of this run cannot be read: ${run.damaged}. Its events end there.` });
  if (run?.pruned_frames) {
    notices.push({ key: "pruned", text: `The first ${whole(run.pruned_frames)} frames of this run are no longer stored.` });
  }
  if (run?.not_kept) {
    const why = run.not_kept === "log_full" ? "the log is full" : "the log failed";
    notices.push({ key: "not-kept", text: `The latest frames are not stored, because ${why}.` });
  }
  if (run !== undefined && run.invalid_records > 0) {
    const are = run.invalid_records === 1 ? "record of the runner was" : "records of the runner were";
    notices.push({
      key: "invalid",
      text: `${whole(run.invalid_records)} ${are} too large or not valid, and left out here.`,
      action: <a href={paths.trace(session.runId, { only: "findings" })}>Show where</a>,
    });
  }
  if (notices.length === 0) return null;
  return (
    <div class="run-notices" role="status">
      {notices.map(({ key, text, action }) => (
        <p key={key}>
          {text} {action}
        </p>
      ))}
    </div>
  );
}

function reconnecting({ failures }: Extract<Connection, { state: "reconnecting" }>): string {
  return `The connection to the proxy is lost. Connecting again${failures > 1 ? ` (attempt ${failures})` : ""}…`;
}

function firstPrompt(session: RunSession): string | undefined {
  const prompt = session.conversation.main.items.find((item) => item.kind === "prompt");
  return prompt?.kind === "prompt" ? prompt.text.replace(/\s+/g, " ").trim().slice(0, 120) : undefined;
}
