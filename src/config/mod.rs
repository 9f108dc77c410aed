//! The configuration: defaults, then `config.toml`, then the environment, then flags.
//!
//! In: the sources, as they were found. Out: a [`Config`] whose every value is in its range, or all that is wrong with the
//! sources at once, each with its place and with what would be right. Never: a key that is silently ignored, a secret.

pub mod approvals;
mod error;
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

/// Every setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The HTTP server.
    pub server: Server,
    /// Who may use it.
    pub auth: Auth,
    /// Transport layer security.
    pub tls: Tls,
    /// How much each client gets.
    pub limits: Limits,
    /// What comes in.
    pub ingest: Ingest,
    /// What is taken out of it before it is kept.
    pub redaction: Redaction,
    /// What is kept.
    pub log: Log,
    /// What is stored beside the frames.
    pub artifacts: Artifacts,
    /// What is decided of the questions that runners ask.
    pub approvals: approvals::Approvals,
    /// What is checked on the way out.
    pub gate: Gate,
    /// What `hecate.v1` tells.
    pub hecate: Hecate,
    /// What framegate says about itself.
    pub telemetry: Telemetry,
    /// Where spans are sent.
    pub otlp: Otlp,
    /// The runners that it reaches out to. They stand in the file alone.
    #[serde(skip)]
    pub upstream: Vec<upstream::Upstream>,
}

/// The HTTP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address and port that it listens on.
    pub listen: SocketAddr,
    /// Host names that a request may ask for; empty: those of the loopback address and of `listen`.
    pub allowed_hosts: Vec<String>,
    /// Pages that may use the proxy from a browser, as exact origins; empty: those of the proxy's own hosts alone.
    pub cors_origins: Vec<String>,
    /// How many connections may be open at once.
    pub max_connections: usize,
    /// How many requests one HTTP/2 connection may have open at once.
    pub http2_max_streams: u32,
    /// How long an HTTP/2 connection may be silent before it is asked whether it still lives.
    pub http2_ping_ms: u64,
    /// How long it may take to say so.
    pub http2_ping_timeout_ms: u64,
    /// How long a client may take to send the head of a request.
    pub header_read_timeout_ms: u64,
    /// The largest head of a request.
    pub max_header_bytes: usize,
    /// The largest body of a request; 0 is without a limit.
    pub max_body_bytes: u64,
    /// How many bytes of events the readers of one stream in one contract share.
    pub view_bytes: usize,
    /// How long an event stream is silent before a comment is sent.
    pub heartbeat_ms: u64,
    /// How long a client is told to wait before it connects again to an event stream.
    pub sse_retry_ms: u64,
    /// How long open ingests may go on after the server was told to stop.
    pub shutdown_grace_ms: u64,
    /// How long clients may take after that to read what is left.
    pub shutdown_flush_ms: u64,
    /// How many events a page has where the client does not say.
    pub page_limit_default: usize,
    /// How many events a page has at most.
    pub page_limit_max: usize,
    /// The contract of a client that does not ask for one.
    pub default_contract: String,
    /// A file with the token that clients must send; empty: none is asked for.
    pub token_file: PathBuf,
}

/// Who may use the proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Auth {
    /// A file that names tokens, their scopes and where their secrets are; empty: none.
    pub tokens_file: PathBuf,
}

/// Transport layer security.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    /// The certificate and those above it, as PEM; empty: no TLS.
    pub certificate_file: PathBuf,
    /// The certificate's private key, as PEM.
    pub key_file: PathBuf,
    /// How long a client may take for the handshake.
    pub handshake_timeout_ms: u64,
    /// How often the files are looked at for a new certificate; 0: never.
    pub reload_interval_ms: u64,
    /// How long browsers are to ask for TLS alone, by `Strict-Transport-Security`; 0: it is not sent.
    pub hsts_seconds: u64,
}

/// How much each client gets. A client is a token; without tokens, everybody is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// How many requests each client may make in a second, in the long run; 0 is without a limit.
    pub requests_per_second: u64,
    /// How many requests it may make at once after a pause.
    pub request_burst: u64,
    /// How many bytes each client's ingests are read in a second, in the long run; 0 is without a limit.
    pub ingest_bytes_per_second: u64,
    /// How many bytes are read at once after a pause.
    pub ingest_burst_bytes: u64,
    /// How many event streams may be open at once.
    pub max_event_streams: usize,
    /// How many event streams of one client may be open at once.
    pub max_event_streams_per_client: usize,
    /// How many runs may be open at once.
    pub max_open_runs: usize,
    /// How many records one run may have.
    pub max_records_per_run: u64,
}

/// What comes in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ingest {
    /// The largest record; a larger one is reported, not read.
    pub max_record_bytes: usize,
    /// How much of a larger record is kept for the report.
    pub preview_bytes: usize,
    /// How long a runner may say nothing; 0 is for ever.
    pub idle_timeout_ms: u64,
    /// How many ingests may be open at once.
    pub max_open: usize,
    /// How many bytes of frames and artifacts one ingest may make ahead of the append that is under way; 0 is none.
    pub ahead_bytes: u64,
    /// Whether each record is compared with what is known of its runner.
    pub drift: bool,
}

/// What is taken out of what comes in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Redaction {
    /// Whether secrets are redacted.
    pub enabled: bool,
    /// Keys whose values are secrets.
    pub keys: Vec<String>,
    /// More secrets: a name, and the regular expression that finds them.
    pub patterns: BTreeMap<String, String>,
    /// Rules that are not used.
    pub disabled_rules: Vec<String>,
    /// How long a record waits for what may be the rest of a secret.
    pub hold_ms: u64,
    /// How many bytes of records wait.
    pub hold_bytes: usize,
}

impl Redaction {
    /// What is redacted; `None` where nothing is.
    ///
    /// # Errors
    /// A pattern, a rule's name or a key that is none.
    pub fn rules(&self) -> Result<Option<Rules>, SettingsError> {
        if !self.enabled {
            return Ok(None);
        }
        Rules::new(Settings {
            keys: self.keys.clone(),
            patterns: self.patterns.clone().into_iter().collect(),
            disabled: self.disabled_rules.clone(),
            hold_ms: self.hold_ms,
            hold_bytes: self.hold_bytes,
        })
        .map(Some)
    }
}

impl Default for Redaction {
    fn default() -> Self {
        let Settings { keys, patterns, disabled, hold_ms, hold_bytes } = Settings::default();
        let patterns = patterns.into_iter().collect();
        Self { enabled: true, keys, patterns, disabled_rules: disabled, hold_ms, hold_bytes }
    }
}

/// What is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// Where frames are kept.
    pub kind: LogKind,
    /// The database file of kind `sqlite`.
    pub path: PathBuf,
    /// When what is written is synced to the disk.
    pub fsync: FsyncKind,
    /// How often, where `fsync` is `interval`.
    pub fsync_interval_ms: u64,
    /// How many appends may wait to be written.
    pub queue_appends: usize,
    /// How many connections read the database at once.
    pub read_connections: usize,
    /// How many bytes of the latest frames of kind `sqlite` are in memory too; 0 is none.
    pub recent_bytes: u64,
    /// Whether the database is checked for damage before it is used.
    pub check_on_open: bool,
    /// How many runs that are over are kept.
    pub max_runs: usize,
    /// How many bytes of frames are kept.
    pub max_bytes: u64,
    /// How large the database file may become; 0 is as large as the disk has room.
    pub max_file_bytes: u64,
    /// For how long runs that are over are kept; 0 is as long as there is room.
    pub max_age_hours: u64,
    /// How many frames of one run are kept, also while it is open; 0 is all.
    pub run_max_frames: u64,
    /// How many bytes of frames of one run are kept; 0 is all.
    pub run_max_bytes: u64,
    /// For how many hours frames of one run are kept; 0 is as long as the run.
    pub run_max_age_hours: u64,
}

/// Where frames are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogKind {
    /// In the memory of this process.
    Memory,
    /// In an SQLite file.
    #[default]
    Sqlite,
}

/// When what is written is synced to the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FsyncKind {
    /// Before it is acknowledged.
    #[default]
    Always,
    /// Every so often.
    Interval,
    /// Whenever the operating system does it.
    Never,
}

/// What is stored beside the frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Artifacts {
    /// Whether anything is.
    pub enabled: bool,
    /// How much of a tool's output stream, or of a diff, may stand in frames, in bytes.
    pub inline_bytes: usize,
    /// How much of something larger stands in frames, in bytes.
    pub preview_bytes: usize,
    /// How large an artifact may be, in bytes.
    pub max_bytes: usize,
    /// How much output of tools that run one ingest holds, in bytes.
    pub max_open_bytes: usize,
    /// How many bytes of artifacts are kept.
    pub max_total_bytes: u64,
}

/// What `hecate.v1` tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hecate {
    /// What a run may cost, in millionths of a US dollar; 0 is no budget.
    pub task_budget_micros_usd: u64,
    /// Whether thinking is told.
    pub thinking: bool,
    /// Whether artifacts and edits are told.
    pub artifacts: bool,
}

/// What is checked on the way out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gate {
    /// What becomes of an event that breaks its schema.
    pub mode: GateMode,
}

/// What becomes of an event that breaks its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum GateMode {
    /// Events are not looked at.
    Off,
    /// It is sent, told on stderr and counted.
    #[default]
    Warn,
    /// It is withheld, told on stderr and counted; the contract's own error or gap event is sent in its place.
    Enforce,
}

/// What framegate says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Telemetry {
    /// How log lines are written.
    pub format: LogFormat,
    /// Which log lines are written.
    pub filter: String,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            max_connections: 1024,
            http2_max_streams: 128,
            http2_ping_ms: 20_000,
            http2_ping_timeout_ms: 10_000,
            header_read_timeout_ms: 10_000,
            max_header_bytes: 65_536,
            max_body_bytes: 0,
            view_bytes: crate::runs::VIEW_BYTES,
            heartbeat_ms: 15_000,
            sse_retry_ms: 2000,
            shutdown_grace_ms: 10_000,
            shutdown_flush_ms: 5000,
            page_limit_default: 200,
            page_limit_max: 500,
            default_contract: "frames.v2".to_owned(),
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
            max_event_streams: 10_000,
            max_event_streams_per_client: 10_000,
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
            idle_timeout_ms: 0,
            max_open: 256,
            ahead_bytes: crate::ingest::AHEAD_BYTES,
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
            // Enough for many runs that are read live, and for the marks that one of them is due.
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
