// The timeline of a run. (Placeholder.)
import { useApp } from "../../app/context";
import type { Query } from "../../app/router";
import { Empty } from "../../components/states";
import { useRunSession } from "../../state/run-session";
import { RunFrame } from "../run/header";

export function TimelineView({ runId }: { runId: string; query: Query }) {
  const { source } = useApp();
  const session = useRunSession(source, runId);
  return (
    <RunFrame session={session}>
      <Empty title="Timeline" />
    </RunFrame>
  );
}
