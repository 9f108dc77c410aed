// What a tool call is to do: a command, a change, or its arguments.
import { useMemo } from "preact/hooks";
import { Code } from "../../../components/code";
import { Diff } from "../../../components/diff";
import { compare } from "../../../components/diff-text";
import { languageOfPath } from "../../../components/highlight";
import { Json } from "../../../components/json";
import { visible } from "../../../components/visible";
import type { ToolItem } from "../../../model/items";
import { text } from "../../../model/read";
import { commandOf, editsOf, pathOf } from "../../../model/summary";

export interface ToolInputProps {
  name: string;
  args: ToolItem["args"];
}

/** By what the arguments have, not by the name of the tool: questions do not say of which kind the tool is. */
export function ToolInput({ args }: ToolInputProps) {
  const edits = useMemo(() => editsOf(args).map(({ before, after }) => compare(before, after)), [args]);
  if (typeof args === "string") return args.trim() === "" ? null : <Code text={args} />;
  const command = commandOf(args);
  if (command !== "") {
    const about = text(args, "description");
    return (
      <>
        {about && <p class="tool-about">{visible(about)}</p>}
        <Command command={command} />
      </>
    );
  }
  const path = pathOf(args);
  if (edits.length > 0) {
    return (
      <>
        {path && <p class="tool-path mono">{visible(path)}</p>}
        {edits.map((lines, index) => (
          <Diff key={index} lines={lines} />
        ))}
      </>
    );
  }
  const content = text(args, "content");
  if (content !== undefined && path !== undefined) {
    return (
      <>
        <p class="tool-path mono">{visible(path)}</p>
        <Code text={content} language={languageOfPath(path)} />
      </>
    );
  }
  if (Object.keys(args).length === 0) return null;
  return <Json value={args} />;
}

export function Command({ command }: { command: string }) {
  return (
    <div class="command">
      <span class="command-sign" aria-hidden="true">
        $
      </span>
      <Code text={command} language="bash" isBare />
    </div>
  );
}
