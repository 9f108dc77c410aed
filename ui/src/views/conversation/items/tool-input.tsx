// What a tool call is to do: a command, a change, or its arguments.
import { useMemo } from "preact/hooks";
import { Code } from "../../../components/code";
import { Diff } from "../../../components/diff";
import { compare } from "../../../components/diff-text";
import { languageOfPath } from "../../../components/highlight";
import { Json } from "../../../components/json";
import { visible } from "../../../components/visible";
import type { ToolItem } from "../../../model/items";
import { list, text } from "../../../model/read";
import { commandOf, editsOf, pathOf } from "../../../model/summary";

export interface ToolInputProps {
  name: string;
  args: ToolItem["args"];
  /** Whether the path is named elsewhere. */
  isNamed?: boolean;
}

/** By what the arguments have, not by the name of the tool: questions do not say of which kind the tool is. */
export function ToolInput({ args, isNamed = false }: ToolInputProps) {
  const edits = useMemo(() => editsOf(args).map(({ before, after }) => compare(before, after)), [args]);
  if (typeof args === "string") return args.trim() === "" ? null : <Code text={args} />;
  const command = commandOf(args);
  if (command !== "") return <Command command={command} />;
  const path = pathOf(args);
  if (edits.length > 0) {
    return (
      <>
        {path && !isNamed && <p class="tool-path mono">{visible(path)}</p>}
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
        {!isNamed && <p class="tool-path mono">{visible(path)}</p>}
        <Code text={content} language={languageOfPath(path)} />
      </>
    );
  }
  const files = list(args, "files").flatMap((file) => {
    const name = text(file, "path");
    return name === undefined ? [] : [{ name, change: text(file, "kind") ?? text(file, "type") ?? "" }];
  });
  if (files.length > 0) {
    return (
      <ul class="tool-files">
        {files.map(({ name, change }, index) => (
          <li key={index}>
            <span class="mono">{visible(name)}</span> <span class="faint small">{visible(change)}</span>
          </li>
        ))}
      </ul>
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
