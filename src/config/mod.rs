//! The configuration: defaults, then `config.toml`, then the environment, then flags.
//!
//! Input: the sources. Output: a [`Config`] in which every value is in its range, or a list of all problems in the sources,
//! each with its position and a correct alternative. Never: a key that is silently ignored, a secret.

mod agreement;
pub mod approvals;
mod error;
pub mod filter;
mod listen;
mod load;
mod otlp;
mod ranges;
mod reload;
mod source;
pub mod upstream;

pub(crate) use error::unknown;
pub use error::{ConfigError, Problem};
pub use load::{DEFAULT_FILE, Sources};
pub use otlp::Otlp;
pub use reload::Changes;

use framegate_translators::redact::{Rules, Settings, SettingsError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// All settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The HTTP server.
    pub server: Server,
    /// Who may use the server.
    pub auth: Auth,
    /// Transport layer security.
    pub tls: Tls,
    /// Limits for each client.
    pub limits: Limits,
    /// The ingest of runners' output.
    pub ingest: Ingest,
    /// The redaction of secrets before records are stored.
    pub redaction: Redaction,
    /// The frame log.
    pub log: Log,
    /// Artifacts, which are stored next to the frames.
    pub artifacts: Artifacts,
    /// How runners' approval requests are decided.
    pub approvals: approvals::Approvals,
    /// The schema check of outgoing events.
    pub gate: Gate,
    /// The optional content of `hecate.v1`.
    pub hecate: Hecate,
    /// framegate's own log output.
    pub telemetry: Telemetry,
    /// The OTLP collector for spans.
    pub otlp: Otlp,
    /// The runners that the proxy starts or connects to. They can only be configured in the file.
    #[serde(skip)]
    pub upstream: Vec<upstream::Upstream>,
}

/// The HTTP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address and port to listen on.
    #[serde(deserialize_with = "listen::read")]
    pub listen: SocketAddr,
    /// Host names that a request may name. Empty: those of the loopback address and of `listen`.
    pub allowed_hosts: Vec<String>,
    /// Exact origins of pages that may use the proxy from a browser. Empty: only the proxy's own hosts.
    pub cors_origins: Vec<String>,
    /// Proxies whose `X-Forwarded-For`, `-Proto` and `-Host` are trusted, as addresses or networks.
    pub trusted_proxies: Vec<String>,
    /// The maximum number of open connections.
    pub max_connections: usize,
    /// The number of connections beyond that which are reserved for probes.
    pub reserved_connections: usize,
    /// The size of the kernel's send buffer for each connection, in bytes; 0 leaves it to the system.
    pub send_buffer_bytes: usize,
    /// The idle time after which TCP keepalive probes a connection; 0: never.
    pub tcp_keepalive_ms: u64,
    /// The maximum number of concurrent requests on one HTTP/2 connection.
    pub http2_max_streams: u32,
    /// The idle time after which an HTTP/2 connection is pinged.
    pub http2_ping_ms: u64,
    /// The time allowed for the answer to the ping.
    pub http2_ping_timeout_ms: u64,
    /// The time a client may take to send the head of a request.
    pub header_read_timeout_ms: u64,
    /// The maximum size of a request's head.
    pub max_header_bytes: usize,
    /// The maximum size of a request's body; 0: no limit.
    pub max_body_bytes: u64,
    /// The bytes of encoded events that the readers of one stream in one contract share.
    pub view_bytes: usize,
    /// The silence on an event stream after which a comment is sent.
    pub heartbeat_ms: u64,
    /// The delay before a client reconnects to an event stream (the SSE `retry` field).
    pub sse_retry_ms: u64,
    /// How long open ingests may continue after the server was asked to stop.
    pub shutdown_grace_ms: u64,
    /// How long clients may take after that to read the remaining events.
    pub shutdown_flush_ms: u64,
    /// The number of events in a page if the client does not specify it.
    pub page_limit_default: usize,
    /// The maximum number of events in a page.
    pub page_limit_max: usize,
    /// The contract for clients that do not request one.
    pub default_contract: String,
    /// A file with the token that clients must send. Empty: no token is required.
    pub token_file: PathBuf,
}

/// Who may use the proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Auth {
    /// A file that lists tokens, their scopes and the locations of their secrets. Empty: none.
    pub tokens_file: PathBuf,
}

/// Transport layer security.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// The certificate chain, as PEM. Empty: no TLS.
    pub certificate_file: PathBuf,
    /// The certificate's private key, as PEM.
    pub key_file: PathBuf,
    /// The time a client may take for the handshake.
    pub handshake_timeout_ms: u64,
    /// How often the files are checked for a new certificate; 0: never.
    pub reload_interval_ms: u64,
    /// How long browsers must use only TLS, sent as `Strict-Transport-Security`; 0: the header is not sent.
    pub hsts_seconds: u64,
}

/// Limits for each client. A client is a token; without tokens, all callers are one client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The sustained rate of requests for each client, per second; 0: no limit.
    pub requests_per_second: u64,
    /// How many requests a client may make at once after a pause.
    pub request_burst: u64,
    /// The sustained rate at which each client's ingests are read, in bytes per second; 0: no limit.
    pub ingest_bytes_per_second: u64,
    /// How many bytes are read at once after a pause.
    pub ingest_burst_bytes: u64,
    /// The maximum number of open event streams.
    pub max_event_streams: usize,
    /// The maximum number of open event streams for each token.
    pub max_event_streams_per_client: usize,
    /// The maximum number of open event streams for each address.
    pub max_event_streams_per_address: usize,
    /// The maximum number of open ingests for each token.
    pub max_ingests_per_client: usize,
    /// The maximum number of open ingests for each address.
    pub max_ingests_per_address: usize,
    /// The maximum number of open connections for each address.
    pub max_connections_per_address: usize,
    /// The maximum number of open runs.
    pub max_open_runs: usize,
    /// The maximum number of records in one run.
    pub max_records_per_run: u64,
}

/// The ingest of runners' output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ingest {
    /// The maximum size of a record. A larger one is reported and not decoded.
    pub max_record_bytes: usize,
    /// How much of a larger record is kept for the report.
    pub preview_bytes: usize,
    /// The time an ingest may take to send its first bytes; 0: no limit.
    pub start_timeout_ms: u64,
    /// The time a runner may then be silent; 0: no limit.
    pub idle_timeout_ms: u64,
    /// The maximum ratio of decompressed to compressed bytes of a body.
    pub max_compression_ratio: u64,
    /// The maximum decompressed size of a body; 0: no limit.
    pub max_decompressed_bytes: u64,
    /// The maximum number of open ingests.
    pub max_open: usize,
    /// The maximum number of open tool calls in one ingest. Beyond it, the oldest call is closed.
    pub max_open_tools: usize,
    /// How many bytes of frames and artifacts one ingest may produce while an append is in progress; 0: none.
    pub ahead_bytes: u64,
    /// How long the end of a run waits for records that follow it.
    pub end_hold_ms: u64,
    /// Whether a run whose records are already in the log is stored only once.
    pub recognise_repeats: bool,
    /// The number of idempotency keys of finished ingests that are remembered.
    pub max_idempotency_keys: usize,
    /// How long each idempotency key is remembered.
    pub idempotency_key_ms: u64,
    /// Whether each record is compared with the known schemas of its runner.
    pub drift: bool,
}

/// The redaction of secrets in ingested records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Redaction {
    /// Whether secrets are redacted.
    pub enabled: bool,
    /// The keys whose values are secrets.
    pub keys: Vec<String>,
    /// Further secrets: a name, and the regular expression that matches them.
    pub patterns: BTreeMap<String, String>,
    /// The names of rules that are switched off.
    pub disabled_rules: Vec<String>,
    /// How long a record is held for text that may complete a secret.
    pub hold_ms: u64,
    /// How long it is held if the text already looks like a secret.
    pub hold_secret_ms: u64,
    /// The maximum number of bytes of held records.
    pub hold_bytes: usize,
}

impl Redaction {
    /// Compiles the redaction rules; `None` if redaction is off.
    ///
    /// # Errors
    /// An invalid pattern, rule name or key.
    pub fn rules(&self) -> Result<Option<Rules>, SettingsError> {
        if !self.enabled {
            return Ok(None);
        }
        Rules::new(Settings {
            keys: self.keys.clone(),
            patterns: self.patterns.clone().into_iter().collect(),
            disabled: self.disabled_rules.clone(),
            hold_ms: self.hold_ms,
            hold_secret_ms: self.hold_secret_ms,
            hold_bytes: self.hold_bytes,
        })
        .map(Some)
    }
}

impl Default for Redaction {
    fn default() -> Self {
        let Settings { keys, patterns, disabled, hold_ms, hold_secret_ms, hold_bytes } = Settings::default();
        let patterns = patterns.into_iter().collect();
        Self { enabled: true, keys, patterns, disabled_rules: disabled, hold_ms, hold_secret_ms, hold_bytes }
    }
}

/// The frame log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// The kind of storage.
    pub kind: LogKind,
    /// The database file of kind `sqlite`.
    pub path: PathBuf,
    /// When writes are synced to the disk.
    pub fsync: FsyncKind,
    /// The interval if `fsync` is `interval`.
    pub fsync_interval_ms: u64,
    /// The maximum number of appends that wait to be written.
    pub queue_appends: usize,
    /// The number of connections that read the database concurrently.
    pub read_connections: usize,
    /// For kind `sqlite`: the bytes of the latest frames that are also held in memory; 0: none.
    pub recent_bytes: u64,
    /// Whether the database is checked for damage when it is opened.
    pub check_on_open: bool,
    /// The maximum number of ended runs that are kept.
    pub max_runs: usize,
    /// The maximum number of bytes of frames that are kept.
    pub max_bytes: u64,
    /// The maximum size of the database file; 0: limited only by the disk.
    pub max_file_bytes: u64,
    /// How long ended runs are kept; 0: as long as there is room.
    pub max_age_hours: u64,
    /// The maximum number of frames kept for one run, also while it is open; 0: all.
    pub run_max_frames: u64,
    /// The maximum number of bytes of frames kept for one run; 0: all.
    pub run_max_bytes: u64,
    /// How many hours the frames of one run are kept; 0: as long as the run.
    pub run_max_age_hours: u64,
}

/// The kind of storage for frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogKind {
    /// In the memory of this process.
    Memory,
    /// In an SQLite file.
    #[default]
    Sqlite,
}

/// When writes are synced to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FsyncKind {
    /// Before an append is acknowledged.
    #[default]
    Always,
    /// At a fixed interval.
    Interval,
    /// Only when the operating system does it.
    Never,
}

/// The artifact store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Artifacts {
    /// Whether artifacts are stored.
    pub enabled: bool,
    /// The maximum size of a tool's output stream, or of a diff, that stays inline in frames, in bytes.
    pub inline_bytes: usize,
    /// The size of the inline preview of something larger, in bytes.
    pub preview_bytes: usize,
    /// The maximum size of an artifact, in bytes.
    pub max_bytes: usize,
    /// The maximum output of running tools that one ingest holds, in bytes.
    pub max_open_bytes: usize,
    /// The maximum total size of the stored artifacts, in bytes.
    pub max_total_bytes: u64,
}

/// The optional content of `hecate.v1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hecate {
    /// The budget of a run, in millionths of a US dollar; 0: no budget.
    pub task_budget_micros_usd: u64,
    /// Whether thinking is emitted.
    pub thinking: bool,
    /// Whether artifacts and edits are emitted.
    pub artifacts: bool,
    /// Whether the user's messages and attachments are emitted.
    pub user_messages: bool,
}

/// The schema check of outgoing events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// What happens to an event that breaks its schema.
    pub mode: GateMode,
}

/// What happens to an event that breaks its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum GateMode {
    /// Events are not checked.
    Off,
    /// It is sent, reported on stderr and counted.
    #[default]
    Warn,
    /// It is withheld, reported on stderr and counted; the contract's own error or gap event is sent in its place.
    Enforce,
}

/// framegate's own log output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// The format of log lines.
    pub format: LogFormat,
    /// The filter that selects log lines.
    pub filter: String,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Human-readable text.
    #[default]
    Text,
    /// One JSON object on each line.
    Json,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            max_connections: 4096,
            reserved_connections: 32,
            send_buffer_bytes: 65_536,
            tcp_keepalive_ms: 60_000,
            http2_max_streams: 128,
            http2_ping_ms: 20_000,
            http2_ping_timeout_ms: 10_000,
            header_read_timeout_ms: 10_000,
            max_header_bytes: 65_536,
            max_body_bytes: 0,
            view_bytes: crate::defaults::VIEW_BYTES,
            heartbeat_ms: 15_000,
            sse_retry_ms: 2000,
            shutdown_grace_ms: 10_000,
            shutdown_flush_ms: 5000,
            page_limit_default: 200,
            page_limit_max: 500,
            default_contract: framegate_translators::contracts::DEFAULT.name.to_owned(),
            token_file: PathBuf::new(),
        }
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self {
            certificate_file: PathBuf::new(),
            key_file: PathBuf::new(),
            handshake_timeout_ms: 10_000,
            reload_interval_ms: 60_000,
            hsts_seconds: 31_536_000,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_second: 0,
            request_burst: 100,
            ingest_bytes_per_second: 0,
            ingest_burst_bytes: 1 << 20,
            max_event_streams: 3000,
            max_event_streams_per_client: 1500,
            max_event_streams_per_address: 1500,
            max_ingests_per_client: 256,
            max_ingests_per_address: 256,
            max_connections_per_address: 2048,
            max_open_runs: 10_000,
            max_records_per_run: 10_000_000,
        }
    }
}

impl Default for Ingest {
    fn default() -> Self {
        let limits = framegate_translators::framing::Limits::default();
        Self {
            max_record_bytes: limits.record_bytes,
            preview_bytes: limits.preview_bytes,
            start_timeout_ms: 60_000,
            idle_timeout_ms: 86_400_000,
            max_compression_ratio: 200,
            max_decompressed_bytes: 4 << 30,
            max_open: 512,
            max_open_tools: framegate_translators::normalizer::MAX_OPEN_TOOLS,
            ahead_bytes: crate::defaults::AHEAD_BYTES,
            end_hold_ms: framegate_translators::normalizer::END_HOLD_MS,
            recognise_repeats: true,
            max_idempotency_keys: 10_000,
            idempotency_key_ms: 86_400_000,
            drift: true,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self {
            kind: LogKind::Sqlite,
            path: PathBuf::from("framegate.db"),
            fsync: FsyncKind::Always,
            fsync_interval_ms: 1000,
            queue_appends: 256,
            read_connections: 4,
            // Enough for many runs that are read live, and for the marks that one of them needs.
            recent_bytes: 8 << 20,
            check_on_open: false,
            max_runs: 10_000,
            max_bytes: 1 << 30,
            max_file_bytes: 0,
            max_age_hours: 0,
            run_max_frames: 0,
            run_max_bytes: 0,
            run_max_age_hours: 0,
        }
    }
}

impl Default for Artifacts {
    fn default() -> Self {
        let bounds = framegate_translators::artifacts::Bounds::default();
        Self {
            enabled: true,
            inline_bytes: bounds.inline_bytes,
            preview_bytes: bounds.preview_bytes,
            max_bytes: bounds.max_bytes,
            max_open_bytes: bounds.max_open_bytes,
            max_total_bytes: 256 << 20,
        }
    }
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}
