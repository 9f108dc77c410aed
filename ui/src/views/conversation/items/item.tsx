// One item of a conversation, as its kind wants it.
import { paths } from "../../../app/router";
import { Badge } from "../../../components/badge";
import { CopyButton } from "../../../components/code";
import { clock, dollars, duration, fullTime, plural, tokens, whole } from "../../../components/format";
import { Icon } from "../../../components/icon";
import { Markdown } from "../../../components/markdown";
import { memo } from "../../../components/memo";
import { visible } from "../../../components/visible";
import type { EndItem, ErrorItem, GapItem, InvalidItem, Item, NoticeItem, PlanItem, PromptItem, ReasoningItem, TextItem, TurnItem } from "../../../model/items";
import { oneLine } from "../../../model/summary";
import { useConversing, useFold } from "../context";
import { ApprovalCard } from "./approval";
import { ArtifactList, AttachmentList } from "./artifacts";
import { ToolCard } from "./tool";

/**
 * `version` is not read: it changes with the item, so that the item is drawn again. Items change in place, and a component with a state of its
 * own is only drawn again if one of its properties is another one: it gets the version too.
 */
export const ItemView = memo(function ItemView({ item, version, depth }: { item: Item; version: number; depth: number }) {
  switch (item.kind) {
    case "prompt":
      return <Prompt item={item} version={version} />;
    case "text":
      return <Answer item={item} />;
    case "reasoning":
      return <Reasoning item={item} version={version} />;
    case "tool":
      return <ToolCard tool={item} version={version} depth={depth} />;
    case "approval":
      return <ApprovalCard approval={item.approval} isAlone />;
    case "plan":
      return <Plan item={item} />;
    case "error":
      return <ErrorNote item={item} />;
    case "notice":
      return <Notice item={item} version={version} />;
    case "artifact":
      return (
        <div class="margin-note">
          <ArtifactList artifacts={[item.artifact]} />
        </div>
      );
    case "gap":
      return <Gap item={item} />;
    case "invalid":
      return <Invalid item={item} />;
    case "turn":
      return <TurnLine item={item} />;
    case "end":
      return <End item={item} />;
  }
});

/** The words for an item, where it cannot be seen. */
export function labelOf(item: Item): string {
  switch (item.kind) {
    case "prompt":
      return "Prompt";
    case "text":
      return "Answer";
    case "reasoning":
      return "Reasoning";
    case "tool":
      return `Tool ${item.name}`;
    case "approval":
      return "Question";
    case "plan":
      return "Plan";
    case "error":
      return "Error";
    case "notice":
      return "Note";
    case "artifact":
      return "File";
    case "gap":
      return "Gap";
    case "invalid":
      return "Records that are not valid";
    case "turn":
      return "End of a turn";
    case "end":
      return "End of the run";
  }
}

/** The time of an item, and the way to its first frame. */
export function Meta({ seq, at }: { seq: number; at: number }) {
  const { session } = useConversing();
  return (
    <a class="meta numeric" href={paths.frame(session.runId, seq)} title={`${fullTime(at)} — frame ${whole(seq)}`}>
      {clock(at)}
    </a>
  );
}

const LONG_PROMPT = 1_600;

function Prompt({ item }: { item: PromptItem; version: number }) {
  const isLong = item.text.length > LONG_PROMPT;
  const [isOpen, setOpen] = useFold(`${item.id}/prompt`, !isLong);
  const shown = isOpen ? item.text : `${item.text.slice(0, LONG_PROMPT)}…`;
  return (
    <div class="prompt">
      <div class="item-head">
        <span class="item-name">Prompt</span>
        <span class="item-side">
          <CopyButton text={item.text} what="prompt" />
          <Meta seq={item.seq} at={item.at} />
        </span>
      </div>
      {item.text !== "" && (
        <div class="prompt-text" dir="auto">
          {visible(shown)}
        </div>
      )}
      {isLong && (
        <button type="button" class="button button-small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : `Show all ${whole(item.text.length)} characters`}
        </button>
      )}
      <AttachmentList attachments={item.attachments} />
    </div>
  );
}

function Answer({ item }: { item: TextItem }) {
  return (
    <div class={`answer ${item.isDone ? "" : "answer-live"}`}>
      <span class="answer-end">
        {item.isDone && <CopyButton text={item.text} what="answer" />}
        <Meta seq={item.seq} at={item.at} />
      </span>
      <Markdown text={item.text} />
    </div>
  );
}

function Reasoning({ item }: { item: ReasoningItem; version: number }) {
  const [isOpen, setOpen] = useFold(`${item.id}/reasoning`, false);
  const took = item.endedAt !== undefined && item.endedAt - item.at >= 1_000 ? ` for ${duration(item.endedAt - item.at)}` : "";
  const isHidden = item.text.trim() === "";
  const name = item.isDone ? `Reasoned${took}` : "Reasoning…";
  if (isHidden) {
    return (
      <div class="reasoning reasoning-hidden">
        <Icon name="brain" />
        <span>{name}</span>
        <span class="faint">the provider does not show the text</span>
      </div>
    );
  }
  return (
    <div class="reasoning">
      <button type="button" class="reasoning-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="chevron" class={isOpen ? "open" : ""} />
        <span>{name}</span>
        {!isOpen && <span class="reasoning-preview truncate">{visible(oneLine((item.isDone ? item.text.slice(0, 600) : item.text.slice(-300)).replace(/[*_`#]{1,3}/g, ""), 240))}</span>}
      </button>
      {isOpen && (
        <div class="reasoning-text">
          <Markdown text={item.text} />
        </div>
      )}
    </div>
  );
}

const MARKS: Record<string, { mark: string; label: string; class: string }> = {
  completed: { mark: "✓", label: "done", class: "plan-done" },
  in_progress: { mark: "▸", label: "in progress", class: "plan-now" },
  pending: { mark: "○", label: "to do", class: "plan-next" },
};

function Plan({ item }: { item: PlanItem }) {
  const done = item.entries.filter((entry) => entry.status === "completed").length;
  return (
    <section class="plan card" role="group" aria-label="Plan">
      <div class="item-head">
        <Icon name="list" />
        <span class="item-name">Plan</span>
        <span class="faint small numeric">
          {done} of {plural(item.entries.length, "step")} done
        </span>
        <span class="item-side">
          <Meta seq={item.seq} at={item.at} />
        </span>
      </div>
      <progress class="plan-bar" max={Math.max(1, item.entries.length)} value={done} aria-label="Steps done" />
      <ol class="plan-list">
        {item.entries.map((entry, index) => {
          const known = Object.hasOwn(MARKS, entry.status) ? MARKS[entry.status] : undefined;
          return (
            <li key={index} class={known?.class ?? "plan-next"}>
              <span class="plan-mark" role="img" aria-label={known?.label ?? entry.status}>
                {known?.mark ?? "•"}
              </span>
              <span dir="auto">{visible(entry.content)}</span>
              {known === undefined && <Badge>{visible(entry.status)}</Badge>}
              {entry.priority === "high" && <Badge tone="warn">high</Badge>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function ErrorNote({ item }: { item: ErrorItem }) {
  const attempt = item.attempt !== undefined ? `attempt ${item.attempt}${item.maxAttempts === undefined ? "" : ` of ${item.maxAttempts}`}` : undefined;
  const facts = [item.code, item.httpStatus === undefined ? undefined : `HTTP ${item.httpStatus}`, attempt].filter((fact) => fact !== undefined);
  const isRetry = item.isRetryable && item.attempt !== undefined;
  return (
    <div class={`error-note ${isRetry ? "error-note-retry" : ""}`}>
      <div class="item-head">
        <Icon name="warn" />
        <span class="item-name">{isRetry ? "Retry" : "Error"}</span>
        <span class="small">{visible(facts.join(" · "))}</span>
        <span class="item-side">
          <Meta seq={item.seq} at={item.at} />
        </span>
      </div>
      {item.message !== "" && <p class="error-text">{visible(item.message)}</p>}
    </div>
  );
}

function Notice({ item }: { item: NoticeItem; version: number }) {
  const [isOpen, setOpen] = useFold(`${item.id}/notice`, false);
  const isLong = item.title.length > 240 || item.title.includes("\n");
  const detail = isLong ? [item.title, item.detail].filter(Boolean).join("\n\n") : item.detail;
  const title = oneLine(item.title, 240);
  return (
    <div class={`margin-note margin-note-${item.level}`}>
      {detail ? (
        <button type="button" class="margin-head" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name="chevron" class={isOpen ? "open" : ""} />
          <span class="truncate">{visible(title)}</span>
        </button>
      ) : (
        <span class="margin-head">{visible(title)}</span>
      )}
      <Meta seq={item.seq} at={item.at} />
      {isOpen && detail && <pre class="margin-detail">{visible(detail)}</pre>}
    </div>
  );
}

function Gap({ item }: { item: GapItem }) {
  const { firstSeq, lastSeq } = item;
  const count = firstSeq !== undefined && lastSeq !== undefined ? lastSeq - firstSeq + 1 : undefined;
  return (
    <div class="gap-note">
      <Icon name="warn" />
      <span>
        <strong>{count === undefined ? "A part of the run is missing here" : `${plural(count, "frame")} missing here`}</strong>
        {item.reason && ` — ${visible(item.reason)}`}
      </span>
    </div>
  );
}

/** Records that left no other trace in the conversation. */
function Invalid({ item }: { item: InvalidItem }) {
  const { session } = useConversing();
  const { count, reason, preview } = item;
  return (
    <div class="gap-note invalid-note">
      <Icon name="warn" />
      <div class="invalid-about">
        <p>
          <strong>{count === 1 ? "A record of the runner was left out here" : `${plural(count, "record")} of the runner were left out here`}</strong>
          {reason !== "" && ` — ${count === 1 ? "" : "the first one: "}${visible(oneLine(reason, 240))}`}
        </p>
        {preview.trim() !== "" && <p class="invalid-preview mono truncate">{visible(oneLine(preview, 160))}</p>}
        {item.isLast && <p>More follow that are not marked here; the view Frames has all of them.</p>}
      </div>
      <a class="small" href={paths.frame(session.runId, item.seq)}>
        Show in Frames
      </a>
      <Meta seq={item.seq} at={item.at} />
    </div>
  );
}

function TurnLine({ item }: { item: TurnItem }) {
  const { turn } = item;
  const { usage } = turn;
  const parts = [
    turn.model,
    usage.input_tokens === undefined ? undefined : `${tokens(usage.input_tokens)} in`,
    usage.cache_read_tokens ? `${tokens(usage.cache_read_tokens)} cached` : undefined,
    usage.output_tokens === undefined ? undefined : `${tokens(usage.output_tokens)} out`,
    usage.reasoning_tokens ? `${tokens(usage.reasoning_tokens)} reasoning` : undefined,
    usage.cost_usd === undefined ? undefined : dollars(usage.cost_usd),
    turn.durationMs ? duration(turn.durationMs) : undefined,
    turn.stopReason !== undefined && !["end_turn", "tool_use", "stop", "tool-calls", "completed"].includes(turn.stopReason) ? turn.stopReason : undefined,
  ].filter((part) => part !== undefined && part !== "");
  return (
    <p class="turn-line numeric" title={`Turn ${turn.index + 1}`}>
      <span class="turn-rule" aria-hidden="true" />
      <span class="visually-hidden">Turn {turn.index + 1}: </span>
      {visible(parts.join(" · ")) || `turn ${turn.index + 1}`}
    </p>
  );
}

const ENDS: Record<string, { title: string; tone: "ok" | "bad" | "violet" }> = {
  completed: { title: "Completed", tone: "ok" },
  failed: { title: "Failed", tone: "bad" },
  interrupted: { title: "Interrupted", tone: "violet" },
};

function End({ item }: { item: EndItem }) {
  const { session } = useConversing();
  const { conversation } = session;
  const end = (Object.hasOwn(ENDS, item.reason) ? ENDS[item.reason] : undefined) ?? { title: item.reason, tone: "violet" as const };
  const { usage } = conversation;
  const took = conversation.startedAt === undefined ? undefined : item.at - conversation.startedAt;
  const figures: [string, string][] = [
    ["Duration", duration(took)],
    ["Turns", conversation.turns.length > 0 ? whole(conversation.turns.length) : ""],
    ["Tools", conversation.tools.size > 0 ? whole(conversation.tools.size) : ""],
    ["Input", whole(usage.input_tokens)],
    ["Cache read", whole(usage.cache_read_tokens || undefined)],
    ["Cache write", whole(usage.cache_creation_tokens || undefined)],
    ["Output", whole(usage.output_tokens)],
    ["Reasoning", whole(usage.reasoning_tokens || undefined)],
    ["Cost", dollars(usage.cost_usd)],
  ];
  return (
    <section class={`end end-${end.tone}`} aria-label="End of the run">
      <div class="item-head">
        <strong>{end.title}</strong>
        {item.errorCode && <code>{visible(item.errorCode)}</code>}
        <span class="item-side">
          <Meta seq={item.seq} at={item.at} />
        </span>
      </div>
      {item.message && <p class="error-text">{visible(item.message)}</p>}
      <dl class="end-figures numeric">
        {figures
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}
