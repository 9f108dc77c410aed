// The traces that a view shows: of one contract, or of two beside each other, and the search for findings.
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Source, TraceItem } from "../../api/source";
import { useRedraw } from "../../components/hooks";
import { TraceBlocks } from "../../model/trace-blocks";
import { FindingScan } from "../../model/trace-scan";

export interface TraceOptions {
  /** The contract of the events; empty for none. */
  contract: string;
  /** The contract in place of the records; empty for the records. */
  second: string;
  experimental: boolean;
  userMessages: boolean;
}

export interface Trace {
  blocks: TraceBlocks;
  /** Of the second contract. */
  others: TraceBlocks | undefined;
  scan: FindingScan;
  /** Says that a row exists, until the returned function is called. */
  show(seq: number): () => void;
  /** Frames that are needed though no row shows them. */
  need(seqs: readonly number[]): void;
  retry(): void;
}

export function useTrace(source: Source, runId: string, options: TraceOptions, total: number): Trace {
  const redraw = useRedraw();
  const { contract, second, experimental, userMessages } = options;
  const trace = useMemo(() => {
    const load = (name: string) => (after: number, limit: number, signal: AbortSignal) =>
      source.trace(
        runId,
        {
          contract: name, limit, ...(after >= 0 ? { after } : {}),
          ...(experimental ? { experimental } : {}), ...(userMessages ? { user_messages: true } : {}),
        },
        { signal },
      ); // prettier-ignore
    const blocks = new TraceBlocks(load(contract), redraw);
    const others = second === "" ? undefined : new TraceBlocks(load(second), redraw);
    const scan = new FindingScan(load(contract), redraw);
    return { blocks, others, scan };
  }, [source, runId, contract, second, experimental, userMessages]);
  useEffect(
    () => () => {
      trace.blocks.close();
      trace.others?.close();
      trace.scan.stop();
    },
    [trace],
  );

  trace.blocks.total = total;
  if (trace.others) trace.others.total = total;

  const latest = useRef(trace);
  latest.current = trace;
  // Rows come and go many at a time: what is visible is said once for all of them.
  const wanting = useMemo(() => {
    const visible = new Map<number, number>();
    let needed: readonly number[] = [];
    let isPending = false;
    const want = () => {
      if (isPending) return;
      isPending = true;
      queueMicrotask(() => {
        isPending = false;
        const seqs = [...visible.keys(), ...needed];
        latest.current.blocks.want(seqs);
        latest.current.others?.want(seqs);
      });
    };
    const show = (seq: number) => {
      visible.set(seq, (visible.get(seq) ?? 0) + 1);
      want();
      return () => {
        const count = (visible.get(seq) ?? 1) - 1;
        if (count > 0) visible.set(seq, count);
        else visible.delete(seq);
        want();
      };
    };
    const need = (seqs: readonly number[]) => {
      if (seqs.join() === needed.join()) return;
      needed = seqs;
      want();
    };
    return { want, show, need };
  }, []);
  useEffect(wanting.want, [trace, total]);
  const { show, need } = wanting;

  return {
    ...trace,
    show,
    need,
    retry() {
      trace.blocks.retry();
      trace.others?.retry();
      redraw();
    },
  };
}

/** How far back the record of a frame is looked for. */
const FAR = 5_000;

/** The item with the record that a frame came from; `missing`: the number of a frame that must be read to find it. */
export function recordOf(blocks: TraceBlocks, item: TraceItem): { item?: TraceItem; missing?: number } {
  if (item.frame.type === "provider_event") return { item };
  if (item.record === null) return {};
  for (let seq = item.frame.seq - 1; seq >= 0 && item.frame.seq - seq < FAR; seq--) {
    const state = blocks.state(seq);
    if (state.state === "loading") return { missing: seq };
    if (state.state !== "loaded") return {};
    if (state.item.frame.type === "provider_event" && state.item.record === item.record) return { item: state.item };
  }
  return {};
}
