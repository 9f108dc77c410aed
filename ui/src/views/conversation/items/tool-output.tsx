// What a tool printed: its last lines, all of what the page keeps on request, and what was left out.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Ansi } from "../../../components/ansi";
import { CopyButton } from "../../../components/code";
import { bytes, whole } from "../../../components/format";
import { memo } from "../../../components/memo";
import type { ToolItem } from "../../../model/items";
import type { Output, Piece } from "../../../model/output";
import { useFold } from "../context";
import { Download } from "./artifacts";

/** Lines that show without being asked for. */
const LINES = 14;
/** Characters in which those lines are looked for. */
const LOOK_BACK = 12_000;

/** `version` is that of the tool: the output changes in place. */
export const ToolOutput = memo(function ToolOutput({ tool, version }: { tool: ToolItem; version: number }) {
  const [isOpen, setOpen] = useFold(`${tool.id}/output`, false);
  const { output } = tool;
  const last = useMemo(() => lastLines(output), [output, version]);
  if (output.total === 0) return null;
  const isRunning = tool.state === "running";
  const whole_ = tool.artifacts.find((artifact) => artifact.kind === "command_output");
  return (
    <div class="output">
      {isOpen ? (
        <Whole output={output} version={version} isRunning={isRunning} />
      ) : (
        <>
          {last.isCut && (
            <button type="button" class="output-more" aria-expanded={false} onClick={() => setOpen(true)}>
              Show all{last.lines === undefined ? ` ${whole(output.total)} characters` : ` ${whole(last.lines)} lines`}
            </button>
          )}
          <pre class="output-text" tabIndex={0}>
            <Pieces pieces={last.pieces} />
          </pre>
        </>
      )}
      <div class="output-foot">
        {isOpen && last.isCut && (
          <button type="button" class="button button-small" aria-expanded onClick={() => setOpen(false)}>
            Show less
          </button>
        )}
        {output.omitted > 0 && (
          <span class="small soft">
            This page keeps the beginning and the end: {whole(output.omitted)} characters between them are left out.
          </span>
        )}
        {tool.outputBytes !== undefined && whole_ !== undefined && (
          <span class="small soft">
            {bytes(tool.outputBytes)} in total{whole_.isTruncated ? `, of which ${bytes(whole_.bytes)} are stored` : ""}
          </span>
        )}
        {whole_ !== undefined && <Download artifactId={whole_.artifactId} label="whole output" size={whole_.bytes} mime={whole_.mime} />}
        {isOpen && <CopyButton text={output.text()} what="output" />}
      </div>
    </div>
  );
});

function Whole({ output, version, isRunning }: { output: Output; version: number; isRunning: boolean }) {
  const ref = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const element = ref.current;
    if (element !== null && isRunning && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [version, isRunning]);
  return (
    <pre
      ref={ref}
      class="output-text output-whole"
      tabIndex={0}
      onScroll={(event) => {
        const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
    >
      <Pieces pieces={output.head} />
      {output.omitted > 0 && <span class="output-gap">{`\n… ${whole(output.omitted)} characters left out …\n`}</span>}
      <Pieces pieces={output.tail} />
    </pre>
  );
}

function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  // Escape sequences and lines go across pieces: those of one stream are parsed together.
  const runs: Piece[] = [];
  for (const piece of pieces) {
    const last = runs.at(-1);
    if (last?.stream === piece.stream) last.text += piece.text;
    else runs.push({ ...piece });
  }
  return (
    <>
      {runs.map((run, index) => (
        <span key={index} class={run.stream === "stderr" ? "stderr" : undefined}>
          <Ansi text={run.text} />
        </span>
      ))}
    </>
  );
}

interface LastLines {
  pieces: Piece[];
  isCut: boolean;
  /** Lines in total, if all of them are kept. */
  lines: number | undefined;
}

/** The last lines of an output, without looking at more of it than needed. */
function lastLines(output: Output): LastLines {
  const all = output.tail.length > 0 ? (output.omitted > 0 ? output.tail : [...output.head, ...output.tail]) : output.head;
  const pieces: Piece[] = [];
  let lines = 0;
  let length = 0;
  let isCut = output.omitted > 0;
  for (let at = all.length - 1; at >= 0; at -= 1) {
    const piece = all[at];
    if (piece === undefined) break;
    let start = piece.text.length;
    // The line end at the very end begins no line.
    if (pieces.length === 0 && piece.text.endsWith("\n")) start -= 1;
    let isDone = false;
    for (;;) {
      const newline = start <= 0 ? -1 : piece.text.lastIndexOf("\n", start - 1);
      const from = newline + 1;
      if (newline < 0) {
        start = 0;
        break;
      }
      lines += 1;
      if (lines >= LINES || length + piece.text.length - from > LOOK_BACK) {
        start = from;
        isDone = true;
        break;
      }
      start = newline;
    }
    length += piece.text.length - start;
    if (!isDone && length > LOOK_BACK) {
      start = Math.max(start, start + (length - LOOK_BACK));
      isDone = true;
    }
    pieces.unshift({ stream: piece.stream, text: piece.text.slice(start) });
    if (isDone) {
      isCut = isCut || at > 0 || start > 0;
      break;
    }
  }
  return { pieces, isCut, lines: isCut && output.omitted === 0 ? countLines(all) : undefined };
}

function countLines(pieces: readonly Piece[]): number {
  let lines = 0;
  for (const { text } of pieces) for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return pieces.at(-1)?.text.endsWith("\n") ? lines : lines + 1;
}
