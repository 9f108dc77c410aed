// Records, frames and events side by side. (Placeholder.)
import { useApp } from "../../app/context";
import type { Query } from "../../app/router";
import { Empty } from "../../components/states";
import { useRunSession } from "../../state/run-session";
import { RunFrame } from "../run/header";

export function TraceView({ runId }: { runId: string; query: Query }) {
  const { source } = useApp();
  const session = useRunSession(source, runId);
  return (
    <RunFrame session={session}>
      <Empty title="Frames" />
    </RunFrame>
  );
}

export function FrameView({ runId, seq }: { runId: string; seq: number; query: Query }) {
  const { source } = useApp();
  const session = useRunSession(source, runId);
  return (
    <RunFrame session={session}>
      <Empty title={`Frame ${seq}`} />
    </RunFrame>
  );
}
