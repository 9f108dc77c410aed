// The list of runs. (Placeholder.)
import type { Query } from "../../app/router";
import { Empty } from "../../components/states";

export function RunsView(_props: { query: Query }) {
  return <Empty title="Runs" />;
}
