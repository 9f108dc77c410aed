// The card of a tool call: what is done in one line, and below it, by kind, what came of it.
import { useMemo } from "preact/hooks";
import { paths } from "../../../app/router";
import { Badge } from "../../../components/badge";
import { Diff, DiffToggle } from "../../../components/diff";
import { counts, parseUnified } from "../../../components/diff-text";
import { duration, plural, whole } from "../../../components/format";
import { Icon, type IconName } from "../../../components/icon";
import { Markdown } from "../../../components/markdown";
import { Elapsed } from "../../../components/now";
import { visible } from "../../../components/visible";
import type { FileChange, ToolItem, ToolKind } from "../../../model/items";
import { questionsOf } from "../../../model/questions";
import { text } from "../../../model/read";
import { DEEPEST } from "../../../model/rows";
import { commandOf, durationOf, isFailed, saysAll, type Summary, summaryOf } from "../../../model/summary";
import { shownArgs } from "../../../model/tools";
import { useConversing, useFold } from "../context";
import { ApprovalCard } from "./approval";
import { ArtifactList, Download } from "./artifacts";
import { Meta } from "./item";
import { Command, ToolInput } from "./tool-input";
import { ToolOutput } from "./tool-output";

const ICONS: Record<ToolKind, IconName> = {
  shell: "terminal",
  read: "file",
  write: "pencil",
  edit: "pencil",
  search: "search",
  fetch: "globe",
  mcp: "plug",
  plan: "list",
  subagent: "agent",
  other: "dots",
};

/** `version` is that of the tool, which changes in place. */
export function ToolCard({ tool: call, depth }: { tool: ToolItem; version: number; depth: number }) {
  // While the model writes the arguments, what is there already is shown as if it were all.
  const tool = call.state === "writing" ? { ...call, args: shownArgs(call) } : call;
  const failed = isFailed(tool);
  const hasOpenQuestion = tool.approvals.some((approval) => approval.decision === undefined);
  const [isOpen, setOpen] = useFold(`${tool.id}/tool`, opensByItself(tool, failed));
  const summary = isOpen ? openSummaryOf(tool) : summaryOf(tool);
  const isOver = useConversing().session.conversation.end !== undefined;
  return (
    <section role="group" class={`tool card tool-${tool.toolKind} ${failed ? "tool-failed" : ""}`} data-tool={tool.toolId} data-kind={tool.toolKind} data-state={failed ? "failed" : tool.state} aria-label={`${tool.name} ${summary.subject.slice(0, 80)}`}>
      <div class="tool-head">
        <button type="button" class="tool-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Icon name={ICONS[tool.toolKind]} class="tool-icon" />
          {summary.verb !== "" && <span class="tool-verb">{visible(summary.verb)}</span>}
          <span class={`tool-subject ${isOpen ? "tool-subject-open" : "truncate"} ${summary.isCode ? "mono" : ""}`}>{visible(summary.subject) || (summary.verb === "" ? tool.name : "")}</span>
        </button>
        <span class="tool-state">
          <ChangeCounts changes={tool.changes} />
          <State tool={tool} failed={failed} isOver={isOver} />
          <Meta seq={tool.seq} at={tool.at} />
        </span>
      </div>
      {isOpen && (
        <div class="tool-body">
          <Body tool={tool} />
        </div>
      )}
      {(hasOpenQuestion || (isOpen && tool.approvals.length > 0)) && (
        <div class="tool-approvals">
          {tool.approvals
            .filter((approval) => isOpen || approval.decision === undefined)
            .map((approval) => (
              <ApprovalCard key={approval.approvalId} approval={approval} isAlone={!isOpen} />
            ))}
        </div>
      )}
      {tool.thread !== undefined && <SubagentFoot tool={tool} depth={depth} />}
    </section>
  );
}

/** A command on one line says itself what it does; a longer one follows in the body. */
const SHORT_COMMAND = 110;

function isShortCommand(tool: ToolItem): boolean {
  const command = commandOf(tool.args);
  return tool.toolKind === "shell" && command !== "" && command.length <= SHORT_COMMAND && !command.includes("\n");
}

/** The head of an open card: what its body shows is not said twice. */
function openSummaryOf(tool: ToolItem): Summary {
  const summary = summaryOf(tool);
  if (tool.toolKind !== "shell" || isShortCommand(tool)) return summary;
  return { verb: "", subject: text(tool.args, "description") ?? "Shell", isCode: false };
}

function opensByItself(tool: ToolItem, failed: boolean): boolean {
  if (failed) return true;
  switch (tool.toolKind) {
    case "shell":
    case "edit":
    case "write":
      return true;
    case "subagent":
      return tool.thread === undefined;
    default:
      return tool.approvals.some((approval) => approval.decision === undefined) || tool.artifacts.some((artifact) => artifact.kind === "image");
  }
}

function State({ tool, failed, isOver }: { tool: ToolItem; failed: boolean; isOver: boolean }) {
  const took = durationOf(tool);
  if (tool.approvals.some((approval) => approval.decision === undefined) && !isOver) return <Badge tone="warn">waits for you</Badge>;
  switch (tool.state) {
    case "running":
    case "writing":
    case "proposed":
      if (isOver) return <Badge>{tool.state === "proposed" ? "not run here" : "not finished"}</Badge>;
      return (
        <Badge tone="accent">
          <span class="dot dot-live" aria-hidden="true" />
          {tool.state === "running" ? "running" : tool.state === "writing" ? "writing" : "proposed"}
          {tool.state === "running" && tool.startedAt !== undefined && <Elapsed since={tool.startedAt} />}
        </Badge>
      );
    case "failed":
      return <Badge tone="bad">failed</Badge>;
    case "ended":
      return (
        <>
          {failed && <Badge tone="bad">exit {whole(tool.exitCode)}</Badge>}
          {took !== undefined && took > 0 && <span class="tool-took numeric">{duration(took)}</span>}
          {!failed && <Icon name="check" class="tool-ok" />}
          {!failed && <span class="visually-hidden">succeeded</span>}
        </>
      );
    case "unknown":
      return <Badge>{tool.thread === undefined ? "unknown" : "subagent"}</Badge>;
  }
}

function Body({ tool }: { tool: ToolItem }) {
  const { toolKind, changes } = tool;
  const isShell = toolKind === "shell";
  return (
    <>
      {changes.length === 0 && toolKind !== "subagent" && !isShortCommand(tool) && !saysAll(tool) && <Input tool={tool} isShell={isShell} />}
      {changes.map((change, index) => (
        <Change key={index} change={change} isNamed={changes.length > 1 || change.change !== "modify"} />
      ))}
      {tool.subagents.map((info, index) => (
        <dl key={index} class="subagent">
          {info.task && (
            <div>
              <dt>Task</dt>
              <dd dir="auto">{visible(info.task)}</dd>
            </div>
          )}
          {info.status && (
            <div>
              <dt>Result</dt>
              <dd>
                {info.status !== "completed" && <Badge tone="warn">{visible(info.status)}</Badge>}
                {info.summary ? <Markdown text={info.summary} /> : info.status === "completed" ? "completed" : null}
              </dd>
            </div>
          )}
        </dl>
      ))}
      {toolKind === "subagent" && tool.subagents.length === 0 && <ToolInput name={tool.name} args={tool.args} />}
      {(toolKind !== "subagent" || !tool.subagents.some((info) => info.summary)) && <ToolOutput tool={tool} version={tool.version} />}
      {tool.error !== undefined && tool.error !== "" && <pre class="tool-error">{visible(tool.error)}</pre>}
      <ArtifactList artifacts={tool.artifacts.filter((artifact) => artifact.kind !== "command_output" && artifact.kind !== "patch")} />
    </>
  );
}

function Input({ tool, isShell }: { tool: ToolItem; isShell: boolean }) {
  const { args } = tool;
  // The form below asks what the arguments ask.
  if (tool.approvals.length > 0 && questionsOf(args).length > 0) return null;
  if (isShell && typeof args === "string" && args !== "" && tool.state !== "writing") return <Command command={args} />;
  return <ToolInput name={tool.name} args={args} isNamed />;
}

function ChangeCounts({ changes }: { changes: readonly FileChange[] }) {
  const total = useMemo(() => {
    let added = 0;
    let deleted = 0;
    for (const { diff } of changes) {
      if (diff === undefined) continue;
      const found = counts(parseUnified(diff));
      added += found.added;
      deleted += found.deleted;
    }
    return { added, deleted };
  }, [changes.length]);
  if (total.added + total.deleted === 0) return null;
  return (
    <span class="change-counts numeric">
      <span class="change-added">+{whole(total.added)}</span> <span class="change-deleted">−{whole(total.deleted)}</span>
      <span class="visually-hidden"> lines</span>
    </span>
  );
}

const CHANGES: Record<string, string> = { add: "added", delete: "deleted", move: "moved", modify: "changed" };

function Change({ change, isNamed }: { change: FileChange; isNamed: boolean }) {
  const lines = useMemo(() => (change.diff === undefined ? [] : parseUnified(change.diff)), [change.diff]);
  return (
    <div class="change">
      <div class="change-head">
        {isNamed && <span class="tool-path mono">{visible(change.path)}</span>}
        {isNamed && <span class="faint small">{(Object.hasOwn(CHANGES, change.change) ? CHANGES[change.change] : undefined) ?? visible(change.change)}</span>}
        <span class="change-end">
          {change.artifactId !== undefined && <Download artifactId={change.artifactId} label="patch" size={undefined} mime="text/plain" />}
          {lines.length > 0 && <DiffToggle />}
        </span>
      </div>
      {lines.length > 0 ? <Diff lines={lines} /> : !isNamed && <p class="tool-path mono">{visible(change.path)}</p>}
    </div>
  );
}

/** The way into a subagent's thread, which follows below the card. */
function SubagentFoot({ tool, depth }: { tool: ToolItem; depth: number }) {
  const { session, folds, onThreads } = useConversing();
  const steps = tool.thread?.items.filter((item) => item.kind !== "turn" && item.kind !== "notice").length ?? 0;
  const isDeep = depth >= DEEPEST;
  const isOpen = !(folds.get(`${tool.id}/thread`) ?? false);
  return (
    <div class="subagent-foot">
      {!isDeep && (
        <button
          type="button"
          class="button button-small"
          aria-expanded={isOpen}
          onClick={() => {
            folds.set(`${tool.id}/thread`, isOpen);
            onThreads();
          }}
        >
          <Icon name="chevron" class={isOpen ? "open" : ""} />
          {isOpen ? "Hide" : "Show"} {plural(steps, "step")}
        </button>
      )}
      <a class="small" href={paths.tool(session.runId, tool.toolId)}>
        {isDeep ? `Open ${plural(steps, "step")} of this subagent` : "Open alone"}
      </a>
    </div>
  );
}
