// Statistics. (Placeholder.)
import type { Query } from "../../app/router";
import { Empty } from "../../components/states";

export function StatsView(_props: { query: Query }) {
  return <Empty title="Statistics" />;
}
