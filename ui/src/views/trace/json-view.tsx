// A JSON value that can be folded, with marks at their places; and text that is not JSON.
import { useMemo, useState } from "preact/hooks";
import { bytes } from "../../components/format";
import { Icon } from "../../components/icon";
import { visible } from "../../components/visible";
import { ancestors, cutText, jsonLines } from "../../model/trace-json";
import { type Mark, MARK_NAMES, severity } from "../../model/trace-marks";

const LINES = 400;
/** A longer text is cut, unless the reader asks for all of it. */
const LONGEST = 100_000;

export interface JsonViewProps {
  value: unknown;
  label: string;
  /** Marks whose pointers lead into the value. */
  marks?: readonly (Mark & { at: string })[];
  foldDepth?: number;
  /** Pointers that are folded at first, though their depth is not. */
  folded?: readonly string[];
}

export function JsonView({ value, label, marks = [], foldDepth = 4, folded = [] }: JsonViewProps) {
  // What is marked is open at first.
  const first = useMemo(() => {
    const open = new Set(marks.flatMap(({ at }) => ancestors(at)));
    const toggled = new Set(folded.filter((pointer) => !open.has(pointer)));
    for (const pointer of open) if (depthOf(pointer) >= foldDepth) toggled.add(pointer);
    return toggled;
  }, [value]);
  const [toggled, setToggled] = useState<{ of: unknown; set: ReadonlySet<string> }>();
  const [whole, setWhole] = useState<{ of: unknown; set: ReadonlySet<string> }>();
  const [most, setMost] = useState<{ of: unknown; lines: number }>();
  const options = {
    toggled: toggled !== undefined && toggled.of === value ? toggled.set : first,
    whole: whole !== undefined && whole.of === value ? whole.set : EMPTY,
    foldDepth,
    maxLines: most !== undefined && most.of === value ? most.lines : LINES,
  };
  const { lines, isCut } = jsonLines(value, options);
  const toggle = (pointer: string) => {
    const set = new Set(options.toggled);
    if (!set.delete(pointer)) set.add(pointer);
    setToggled({ of: value, set });
  };
  const placed = place(marks, new Set(lines.map(({ pointer }) => pointer)));
  return (
    <div class="json" role="group" aria-label={label} tabIndex={0}>
      {lines.map((line, index) => {
        const its = line.kind === "close" ? undefined : placed.get(line.pointer);
        const worst = its?.some((mark) => severity(mark) === "error") ? "error" : its?.some((mark) => severity(mark) === "warning") ? "warning" : "info";
        return (
          <div key={`${line.pointer} ${line.kind} ${index}`} class={`json-line ${its ? `json-mark json-mark-${worst}` : ""}`} style={{ paddingLeft: `${18 + Math.min(line.depth, 24) * 14}px` }}>
            {(line.kind === "open" || line.kind === "folded") && (
              <button type="button" class="json-fold" aria-expanded={line.kind === "open"} aria-label={`${line.kind === "open" ? "Fold" : "Unfold"} ${line.pointer || "all"}`} onClick={() => toggle(line.pointer)}>
                <Icon name="chevron" class={line.kind === "open" ? "is-turned" : ""} />
              </button>
            )}
            <span class="json-key">{visible(line.key)}</span>
            <span class={`json-${line.kind}`}>{visible(line.text)}</span>
            {line.kind === "folded" && <span class="faint"> {line.members?.toLocaleString("en")}</span>}
            {line.comma && ","}
            {line.cutLength !== undefined && (
              <button type="button" class="button button-small" onClick={() => setWhole({ of: value, set: new Set([...options.whole, line.pointer]) })}>
                Show all {line.cutLength.toLocaleString("en")} characters
              </button>
            )}
            {its && <span class="json-note">{its.map((mark) => `${MARK_NAMES[mark.kind]}: ${mark.message}`).join("; ").slice(0, 500)}</span>}
          </div>
        );
      })}
      {isCut && (
        <button type="button" class="button button-small" onClick={() => setMost({ of: value, lines: options.maxLines * 4 })}>
          Show more lines
        </button>
      )}
    </div>
  );
}

const EMPTY: ReadonlySet<string> = new Set();

function depthOf(pointer: string): number {
  return pointer.split("/").length - 1;
}

/** Marks by the line that shows their place, or what their place is folded in. */
function place(marks: NonNullable<JsonViewProps["marks"]>, shown: ReadonlySet<string>): Map<string, Mark[]> {
  const placed = new Map<string, Mark[]>();
  for (const mark of marks) {
    const at = [mark.at, ...ancestors(mark.at).reverse()].find((pointer) => shown.has(pointer)) ?? "";
    const its = placed.get(at);
    if (its) its.push(mark);
    else placed.set(at, [mark]);
  }
  return placed;
}

/** Text that is not JSON, or whose exact spelling matters. */
export function RawText({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : cutText(text, LONGEST);
  return (
    <>
      <pre class="json json-raw" aria-label={label} tabIndex={0}>
        {visible(shown)}
      </pre>
      {shown.length < text.length && (
        <button type="button" class="button button-small" onClick={() => setWhole(true)}>
          Show all ({bytes(text.length)})
        </button>
      )}
    </>
  );
}
