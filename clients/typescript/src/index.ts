export { type Artifact, ArtifactDownload } from "./artifact.js";
export {
  type EventOptions,
  type FeedOptions,
  Framegate,
  type IngestBody,
  type IngestOptions,
  type KeyedOptions,
  type Labels,
  type PendingApproval,
  type RunFilter,
  type Runner,
  type RunState,
  type StatsQuery,
  type Upstream,
} from "./client.js";
export * from "./errors.js";
export type * from "./generated/api.js";
export * from "./generated/contracts.js";
export type { CallOptions, ClientOptions, FetchLike } from "./http.js";
export { EventStream, type StreamOptions } from "./stream.js";
