// A JSON value as lines of text that can be folded.
//
// In: a value, which of its objects and lists are open, and which of its long texts are shown whole. Out: lines with their depth, at most
// `maxLines`, and whether there would be more. What is folded is not visited, so a value of many megabytes costs what is visible of it.
// Never: markup; each line is text. Never: a text that is cut without saying how long it is.

import { ExactNumber } from "../api/exact";

export interface JsonLine {
  depth: number;
  /** JSON pointer of the value that the line begins, or ends. */
  pointer: string;
  /** The key with its colon, as JSON; empty for the root and in lists. */
  key: string;
  kind: "open" | "close" | "empty" | "folded" | "text" | "number" | "word";
  /** The text of the line without the key. */
  text: string;
  /** Only of a text that is cut: its length in UTF-16 units. */
  cutLength?: number;
  /** The number of members of what is folded. */
  members?: number;
  /** What follows: a comma, unless it is the last member. */
  comma: boolean;
}

export interface JsonOptions {
  /** Pointers whose fold differs from the default. */
  toggled: ReadonlySet<string>;
  /** Pointers of texts that are shown whole. */
  whole: ReadonlySet<string>;
  /** Objects and lists at this depth and below are folded unless toggled. */
  foldDepth: number;
  maxLines: number;
}

/** A longer text is cut, unless it is shown whole. */
export const CUT = 2_000;
/** Lists and objects with more members are folded unless toggled. */
const FOLD_MEMBERS = 200;

export function jsonLines(root: unknown, options: JsonOptions): { lines: JsonLine[]; isCut: boolean } {
  const lines: JsonLine[] = [];
  let isCut = false;
  const visit = (value: unknown, depth: number, pointer: string, key: string, comma: boolean): void => {
    if (lines.length >= options.maxLines) {
      isCut = true;
      return;
    }
    if (typeof value !== "object" || value === null || value instanceof ExactNumber) {
      lines.push(leaf(value, depth, pointer, key, comma, options.whole.has(pointer)));
      return;
    }
    const isList = Array.isArray(value);
    const members = isList ? value.length : Object.keys(value).length;
    const [begin, end] = isList ? ["[", "]"] : ["{", "}"];
    if (members === 0) {
      lines.push({ depth, pointer, key, kind: "empty", text: begin + end, comma });
      return;
    }
    const isFoldedByDefault = depth >= options.foldDepth || (depth > 0 && members > FOLD_MEMBERS);
    if (isFoldedByDefault !== options.toggled.has(pointer)) {
      lines.push({ depth, pointer, key, kind: "folded", text: `${begin}…${end}`, members, comma });
      return;
    }
    lines.push({ depth, pointer, key, kind: "open", text: begin, members, comma: false });
    let index = 0;
    const inside = (name: string, member: unknown) => {
      index += 1;
      visit(member, depth + 1, `${pointer}/${escapePointer(name)}`, isList ? "" : `${JSON.stringify(name)}: `, index < members);
    };
    if (isList) for (let at = 0; at < members && !isCut; at++) inside(String(at), value[at]);
    else {
      for (const [name, member] of Object.entries(value)) {
        if (isCut) break;
        inside(name, member);
      }
    }
    if (!isCut) lines.push({ depth, pointer, key: "", kind: "close", text: end, comma });
  };
  visit(root, 0, "", "", false);
  return { lines, isCut };
}

function leaf(value: unknown, depth: number, pointer: string, key: string, comma: boolean, isWhole: boolean): JsonLine {
  if (typeof value === "string") {
    if (value.length <= CUT || isWhole) return { depth, pointer, key, kind: "text", text: JSON.stringify(value), comma };
    return { depth, pointer, key, kind: "text", text: JSON.stringify(cutText(value, CUT)), cutLength: value.length, comma };
  }
  if (value instanceof ExactNumber) return { depth, pointer, key, kind: "number", text: value.source, comma };
  const text = value === undefined ? "null" : typeof value === "number" ? String(value) : String(JSON.stringify(value) ?? "null");
  return { depth, pointer, key, kind: typeof value === "number" ? "number" : "word", text, comma };
}

/** The beginning of a text, not in the middle of a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The pointers of all values that contain the one at a pointer, from the root: `""`, `"/a"` for `"/a/b"`. */
export function ancestors(pointer: string): string[] {
  const parts = pointer.split("/").slice(1, -1);
  const out = pointer === "" ? [] : [""];
  for (let index = 1; index <= parts.length; index++) out.push(`/${parts.slice(0, index).join("/")}`);
  return out;
}

/** Names that every event of a contract repeats; a summary leaves them out. */
const ENVELOPE: ReadonlySet<string> = new Set([
  "id", "type", "event", "event_id", "session_id", "run_id", "task_id", "stream_id", "stream_kind", "ts", "timestamp", "timestamp_ms", "created_at",
  "seq", "sequence", "sequence_number", "version", "response_id", "uuid", "jsonrpc", "object", "created", "subtype", "method",
  "parent_tool_use_id", "api_message_id", "schema_version", "occurred_at", "sessionID", "runId", "threadId",
]);

/** A value on one line, at most about `max` characters: only the beginning of it is visited. */
export function compact(value: unknown, max = 160): string {
  let out = "";
  const write = (text: string) => {
    out += text;
  };
  const visit = (part: unknown, depth: number): void => {
    if (out.length > max) return;
    if (typeof part === "string") write(JSON.stringify(cutText(part, Math.max(16, max - out.length))));
    else if (Array.isArray(part)) {
      write("[");
      for (let index = 0; index < part.length && out.length <= max; index++) {
        if (index > 0) write(", ");
        visit(part[index], depth + 1);
      }
      write("]");
    } else if (part instanceof ExactNumber) write(part.source);
    else if (typeof part === "object" && part !== null) {
      // `event` may be the envelope's name, or an object with the content.
      const isShown = (name: string, member: unknown) => depth > 0 || (member !== null && (!ENVELOPE.has(name) || (typeof member === "object" && name === "event")));
      const names = Object.keys(part).filter((name) => isShown(name, (part as Record<string, unknown>)[name]));
      if (depth > 0) write("{");
      for (let index = 0; index < names.length && out.length <= max; index++) {
        const name = names[index]!;
        write(`${index > 0 ? ", " : ""}${name}: `);
        visit((part as Record<string, unknown>)[name], depth + 1);
      }
      if (depth > 0) write("}");
    } else write(String(part));
  };
  visit(value, 0);
  return out.length > max ? `${cutText(out, max - 1)}…` : out;
}
