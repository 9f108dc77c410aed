//! Every setting of the sections of `config.toml`, in the order of that file.
//!
//! This is the place to add or change a setting. `FRAMEGATE_BLESS=1 cargo test --lib config` then writes `config.toml` and the
//! reference in `docs`. The macro `settings!` in `table.rs` explains the form of a declaration.

use super::approvals::Rule;
use super::budgets::Limit;
use super::choices::{
    FsyncKind, GateMode, LogFormat, LogKind, OtlpCompression, OtlpProtocol, SpanContent, StorageKind, UiEnabled,
    Unanswered,
};
use super::table::settings;
use super::webhooks::Endpoint;
use crate::defaults;
use framegate_translators::artifacts::Bounds;
use framegate_translators::redact::Settings as Rules;
use framegate_translators::{framing, normalizer};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The HTTP library does not accept less.
const LEAST_HEADER_BYTES: u64 = 8192;

settings! {
    /// The HTTP server.
    pub struct Server {
        /// Address and port to listen on. A port alone ("8080", ":8080") means loopback.
        listen: SocketAddr = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)), read by "super::listen::read";
        /// Host names that requests may use, besides loopback and the host of `listen`. This prevents DNS rebinding.
        allowed_hosts: Vec<String> = Vec::new() => reloads;
        /// Origins whose pages may use the proxy from a browser, spelled exactly as the browser sends them
        /// ("https://ui.example"). Empty: only pages of its own hosts.
        cors_origins: Vec<String> = Vec::new() => reloads;
        /// Reverse proxies whose X-Forwarded-For, -Proto and -Host are trusted, as addresses or networks
        /// ("10.0.0.0/8"). Empty: none.
        trusted_proxies: Vec<String> = Vec::new() => reloads;
        /// Maximum number of open connections. Another one gets a reserved connection, or is closed.
        max_connections: usize = 4096, in 1..=1_000_000;
        /// Connections beyond that, for a few seconds each. They serve probes; everything else gets 503.
        reserved_connections: usize = 32, in 0..=100_000;
        /// Bytes of an answer that the system may buffer for a client that does not read; the system counts twice as
        /// many. 0: the system decides.
        send_buffer_bytes: usize = 65_536, in 0..=1 << 30;
        /// Silence in milliseconds after which TCP checks whether a connection is alive. 0: never.
        tcp_keepalive_ms: u64 = 60_000, in 0..=86_400_000;
        /// Maximum number of open requests on one HTTP/2 connection.
        http2_max_streams: u32 = 128, in 1..=100_000;
        /// Silence in milliseconds after which an HTTP/2 connection is pinged.
        http2_ping_ms: u64 = 20_000, in 100..=3_600_000;
        /// Time in milliseconds to answer the ping before the connection is closed.
        http2_ping_timeout_ms: u64 = 10_000, in 100..=600_000;
        /// Time in milliseconds for a client to send the head of a request.
        header_read_timeout_ms: u64 = 10_000, in 100..=600_000;
        /// Maximum size of the head of a request in bytes. A larger one gets 431.
        max_header_bytes: usize = 65_536, in LEAST_HEADER_BYTES..=16 << 20;
        /// Maximum size of the body of a request in bytes. 0: no limit, which ingest streams need.
        max_body_bytes: u64 = 0, in 0..=1 << 50;
        /// Bytes of events that the readers of one stream in one contract share. A reader further behind encodes for
        /// itself.
        view_bytes: usize = defaults::VIEW_BYTES, in 0..=4 << 30;
        /// Silence of an event stream in milliseconds after which a comment keeps it open.
        heartbeat_ms: u64 = 15000, in 100..=3_600_000;
        /// Time in milliseconds that clients should wait before they reconnect to an event stream (`retry:`).
        sse_retry_ms: u64 = 2000, in 0..=3_600_000;
        /// Time in milliseconds for open ingests to finish when the server stops. Then their runs are interrupted.
        shutdown_grace_ms: u64 = 10_000, in 0..=3_600_000;
        /// Time in milliseconds after that for clients to read the rest of their event streams.
        shutdown_flush_ms: u64 = 5000, in 0..=3_600_000;
        /// Events on a page if the request has no limit.
        page_limit_default: usize = 200, in 1..=100_000;
        /// Maximum number of events on a page.
        page_limit_max: usize = 500, in 1..=100_000;
        /// Contract for clients that do not ask for one.
        default_contract: String = framegate_translators::contracts::DEFAULT.name.to_owned();
        /// File with a token that may do everything; clients send it as `Authorization: Bearer`. Empty: there is no
        /// such token.
        token_file: PathBuf = PathBuf::new() => reloads;
    }
}

settings! {
    /// The page in a browser.
    pub struct Ui {
        /// Whether `/` serves the page on which runs can be looked at (docs/page.md): auto (if `server.listen` is a
        /// loopback address), on, or off. The page itself has no data, so it needs no token; what it shows needs one.
        enabled: UiEnabled = UiEnabled::Auto;
    }
}

settings! {
    /// Who may use the proxy.
    pub struct Auth {
        /// TOML file of `[[token]]` tables with name, scopes, and file or env (docs/security.md). Empty: there are no
        /// such tokens.
        tokens_file: PathBuf = PathBuf::new() => reloads;
    }
}

settings! {
    /// Transport layer security.
    pub struct Tls {
        /// Certificate of the server and its issuers, as PEM. Empty: no TLS. The proxy reloads it while it runs.
        certificate_file: PathBuf = PathBuf::new() => reloads;
        /// Private key of the certificate, as PEM.
        key_file: PathBuf = PathBuf::new() => reloads;
        /// Time in milliseconds for the TLS handshake.
        handshake_timeout_ms: u64 = 10_000, in 100..=600_000;
        /// Interval in milliseconds at which both files are checked for a new certificate. 0: never.
        reload_interval_ms: u64 = 60_000, in 0..=86_400_000;
        /// Seconds for which browsers must use TLS (Strict-Transport-Security). 0: the header is not sent.
        hsts_seconds: u64 = 31_536_000, in 0..=1 << 32 => reloads;
    }
}

settings! {
    /// Limits for each client. A client is a token; without tokens, all callers are one client.
    pub struct Limits {
        /// Requests per second of one client (a token; without tokens, all clients together). Beyond it: 429. 0: no
        /// limit.
        requests_per_second: u64 = 0, in 0..=1_000_000_000 => reloads;
        /// Requests that a client may make at once after a pause.
        request_burst: u64 = 100, in 1..=1_000_000_000 => reloads;
        /// Bytes per second read from all ingests of one client; faster input waits. 0: no limit.
        ingest_bytes_per_second: u64 = 0, in 0..=1 << 50 => reloads;
        /// Bytes that are read at once after a pause.
        ingest_burst_bytes: u64 = 1 << 20, in 1..=1 << 50 => reloads;
        /// Maximum number of open event streams. Beyond it: 503.
        max_event_streams: usize = 3000, in 1..=100_000_000 => reloads;
        /// Maximum number of open event streams of one token. Beyond it: 429.
        max_event_streams_per_client: usize = 1500, in 1..=100_000_000 => reloads;
        /// Maximum number of open event streams of one address. Beyond it: 429.
        max_event_streams_per_address: usize = 1500, in 1..=100_000_000 => reloads;
        /// Maximum number of open ingests of one token. Beyond it: 429.
        max_ingests_per_client: usize = 256, in 1..=1_000_000 => reloads;
        /// Maximum number of open ingests of one address. Beyond it: 429.
        max_ingests_per_address: usize = 256, in 1..=1_000_000 => reloads;
        /// Maximum number of open runs that one token started with prompts. Beyond it: 429.
        max_started_runs_per_client: usize = 64, in 1..=1_000_000 => reloads;
        /// Maximum number of open connections of one address that is not a trusted proxy. Another one gets a reserved
        /// connection.
        max_connections_per_address: usize = 2048, in 1..=1_000_000 => reloads;
        /// Maximum number of open runs. An ingest that starts another one ends with 503.
        max_open_runs: usize = 10_000, in 1..=100_000_000;
        /// Maximum number of records of one run. An ingest with a longer run ends with 413.
        max_records_per_run: u64 = 10_000_000, in 1..=1 << 50;
    }
}

settings! {
    /// The ingest of runners' output.
    pub struct Ingest {
        /// Maximum size of a record in bytes. A larger one is reported and not read.
        max_record_bytes: usize = framing::Limits::default().record_bytes, in 1024..=4 << 30;
        /// Bytes of a larger record that are kept for the report.
        preview_bytes: usize = framing::Limits::default().preview_bytes, in 0..=1 << 20;
        /// Time in milliseconds for an ingest to send its first bytes. Beyond it: 408. 0: no limit.
        start_timeout_ms: u64 = 60_000, in 0..=604_800_000;
        /// Silence of a runner in milliseconds after which its stream ends with 408. 0: no limit.
        idle_timeout_ms: u64 = 86_400_000, in 0..=604_800_000;
        /// Decompressed bytes per byte of a compressed body, beyond the first 1 MiB. Beyond it: 413.
        max_compression_ratio: u64 = 200, in 1..=1_000_000;
        /// Decompressed bytes of a compressed body in total. Beyond it: 413. 0: no limit.
        max_decompressed_bytes: u64 = 4 << 30, in 0..=1 << 50;
        /// Maximum number of open ingests. Beyond it: 503.
        max_open: usize = 512, in 1..=1_000_000;
        /// Maximum number of open tool calls of an ingest, and of open questions, subagents and texts of a run. Beyond
        /// it, the oldest is given up.
        max_open_tools: usize = normalizer::MAX_OPEN_TOOLS, in 16..=1_000_000;
        /// Bytes of frames and artifacts that one ingest may produce while an append is in progress. 0: it waits for
        /// the append.
        ahead_bytes: u64 = defaults::AHEAD_BYTES, in 0..=1 << 30;
        /// Time in milliseconds that the last frame of a run waits for records that still belong to the run. 0: it does
        /// not wait.
        end_hold_ms: u64 = normalizer::END_HOLD_MS, in 0..=10_000;
        /// Keep a run once if it is sent again with the same records.
        recognise_repeats: bool = true;
        /// Number of Idempotency-Key values of finished ingests that are remembered. Beyond it, the oldest is
        /// forgotten.
        max_idempotency_keys: usize = 10_000, in 0..=1_000_000;
        /// Time in milliseconds for which each of them is remembered.
        idempotency_key_ms: u64 = 86_400_000, in 0..=2_678_400_000;
        /// Compare each record with what is known of its runner. Differences are logged, and counted on the status of
        /// the run.
        drift: bool = true;
    }
}

settings! {
    /// The redaction of secrets in ingested records.
    pub struct Redaction {
        /// Redact secrets before anything is kept, logged or sent.
        enabled: bool = true;
        /// Keys whose values are secrets, in any spelling (apiKey, API-KEY). A leading * matches any words. For a key
        /// that is not a default, every value is redacted.
        keys: Vec<String> = Rules::default().keys;
        /// Your own secrets: a name that replaces the secret, and a regular expression that finds it,
        /// as { badge = "BDG-[0-9]{8}" }.
        patterns: BTreeMap<String, String> = BTreeMap::new();
        /// Rules that are not used, as ["jwt", "url-password"]. `framegate rules` lists them.
        disabled_rules: Vec<String> = Vec::new();
        /// Time in milliseconds that a record waits for the next one if its text ends in what may be the start of a
        /// secret format.
        hold_ms: u64 = Rules::default().hold_ms, in 0..=60_000;
        /// The same if the text looks like a secret but is still too short to tell.
        hold_secret_ms: u64 = Rules::default().hold_secret_ms, in 0..=60_000;
        /// Bytes of records that may wait in this way, per ingest.
        hold_bytes: usize = Rules::default().hold_bytes, in 1024..=64 << 20;
    }
}

settings! {
    /// The frame log.
    pub struct Log {
        /// Where frames are kept: sqlite (a file, which survives the process), memory, or jetstream (NATS servers, whose
        /// log several proxies share; for a build with the feature jetstream).
        kind: LogKind = LogKind::Sqlite;
        /// Database file of the kind sqlite. Files that end in -wal, -shm, -lock and -mark belong to it.
        path: PathBuf = PathBuf::from("framegate.db");
        /// When the kind sqlite syncs data to disk: always (before it is acknowledged), interval, or never.
        /// docs/storage.md says what each survives.
        fsync: FsyncKind = FsyncKind::Always;
        /// Interval in milliseconds between syncs if fsync is interval.
        fsync_interval_ms: u64 = 1000, in 10..=3_600_000;
        /// Appends that may wait until the kind sqlite writes them. Beyond it, ingests wait.
        queue_appends: usize = 256, in 1..=65_536;
        /// Number of connections that read the database at the same time.
        read_connections: usize = 4, in 1..=256;
        /// Bytes of the latest frames that the kinds sqlite and jetstream also keep in memory, for live readers. The kind
        /// jetstream also keeps as many bytes of frames that were read lately. 0: none.
        recent_bytes: u64 = 8 << 20, in 0..=1 << 40;
        /// Check the database for damage before it is used. The check takes longer for a larger database.
        check_on_open: bool = false;
        /// Number of finished runs that are kept, and of tasks, and of threads. Those without an append for longest are
        /// dropped first.
        max_runs: usize = 100_000, in 1..=100_000_000;
        /// Bytes of frames that are kept, at least 1048576. Everything except open runs makes room for new frames. Open
        /// runs may use seven eighths and are ended beyond that. 0: 8 GiB for the kind sqlite, 1 GiB for the others.
        max_bytes: u64 = 0, in 0..=1 << 50;
        /// Maximum size of the database file in bytes; beyond it, old runs are dropped for new ones. 0: as large as the
        /// disk allows.
        max_file_bytes: u64 = 0, in 0..=1 << 43;
        /// Hours after the last append for which everything except open runs is kept. 0: as long as there is room.
        max_age_hours: u64 = 0, in 0..=1_000_000;
        /// Frames of one run that are kept, also while it is open. The oldest are dropped, and readers are informed. 0:
        /// all.
        run_max_frames: u64 = 0, in 0..=1 << 40;
        /// Bytes of frames of one run that are kept. 0: all.
        run_max_bytes: u64 = 0, in 0..=1 << 50;
        /// Hours for which frames of one run are kept. 0: as long as the run.
        run_max_age_hours: u64 = 0, in 0..=1_000_000;
        /// Servers of the kind jetstream, as URLs: nats://HOST:PORT, or tls://HOST:PORT, which requires TLS. Up to 32, all
        /// of one cluster.
        servers: Vec<String> = vec!["nats://127.0.0.1:4222".to_owned()];
        /// File with the JWT and the nkey seed with which the proxy signs in at these servers (.creds). Empty: none.
        credentials_file: PathBuf = PathBuf::new();
        /// File with the nkey seed (SU...) with which it signs in instead. Empty: none.
        nkey_file: PathBuf = PathBuf::new();
        /// Certificates to trust for these servers, as PEM. Empty: the machine's.
        tls_ca_file: PathBuf = PathBuf::new();
        /// Certificate that the proxy shows to these servers, and its issuers, as PEM. Empty: none.
        tls_cert_file: PathBuf = PathBuf::new();
        /// Private key of that certificate, as PEM. Empty: none.
        tls_key_file: PathBuf = PathBuf::new();
        /// Beginning of the names of streams and subjects at these servers: 1 to 32 of a-z, 0-9, _ and -. Proxies with the
        /// same prefix share a log.
        prefix: String = "framegate".to_owned();
        /// Number of servers that keep each frame of the kind jetstream: 1, 3 or 5.
        replicas: usize = 1, in 1..=5;
        /// Where these servers keep frames: file, or memory (a server that stops loses them).
        storage: StorageKind = StorageKind::File;
        /// Time in milliseconds for these servers to answer one request.
        timeout_ms: u64 = 2000, in 100..=60_000;
        /// Time in milliseconds that an append waits for servers that do not answer, before it fails. At least timeout_ms.
        patience_ms: u64 = 10_000, in 100..=600_000;
        /// Time in milliseconds after which a proxy of the kind jetstream that has not renewed its lease counts as lost.
        lease_ms: u64 = 15_000, in 5000..=600_000;
        /// Maximum size in bytes of the stream of frames at these servers, at least max_bytes. 0: four times max_bytes.
        max_stream_bytes: u64 = 0, in 0..=1 << 52;
    }
}

settings! {
    /// The artifact store.
    pub struct Artifacts {
        /// Store large outputs, patches and images as artifacts. If false, outputs are complete in frames, and images
        /// are not stored.
        enabled: bool = true;
        /// Bytes of each stream of a tool output, or of a diff, that may be in frames. Anything larger is stored.
        inline_bytes: usize = Bounds::default().inline_bytes, in 0..=1 << 30;
        /// Size in bytes of the preview that stays in frames when something larger is stored.
        preview_bytes: usize = Bounds::default().preview_bytes, in 0..=1 << 20;
        /// Maximum size of an artifact in bytes. A longer output is cut and says so; anything else stays only in its
        /// record.
        max_bytes: usize = Bounds::default().max_bytes, in 1024..=4 << 30;
        /// Bytes of output of running tools that one ingest holds for its artifacts. The rest is cut.
        max_open_bytes: usize = Bounds::default().max_open_bytes, in 1024..=1 << 40;
        /// Bytes of artifacts that are kept. Those of dropped runs are dropped with them, then the oldest.
        max_total_bytes: u64 = 256 << 20, in 1 << 20..=1 << 50;
    }
}

settings! {
    /// Requests that start runs with prompts.
    pub struct Prompts {
        /// Maximum size of a request that starts a run with a prompt, in bytes. Beyond it: 413.
        max_request_bytes: usize = 16 << 20, in 1024..=1 << 30;
        /// Number of requests that are remembered, to recognise those that are sent again. Beyond it, the oldest is
        /// forgotten.
        max_requests: usize = 10_000, in 0..=1_000_000;
        /// Time in milliseconds after the end of a run in which the same request for a chat completion or a response, without an
        /// Idempotency-Key, may get that run (docs/clients.md says when).
        repeat_ms: u64 = 60_000, in 0..=86_400_000;
        /// Number of prompts of chat completions, of responses, and of chats and threads, that are remembered to find what goes on.
        /// Beyond it, the oldest is forgotten.
        max_conversations: usize = 10_000, in 0..=1_000_000;
    }
}

settings! {
    /// How runners' approval requests are decided.
    pub struct Approvals {
        /// Time in milliseconds to answer a question of a runner. Then the next setting answers it.
        timeout_ms: u64 = 600_000, in 1000..=604_800_000;
        /// The answer to a question that no client answered in time: deny or allow. A question that wants a choice or a
        /// text is always denied.
        unanswered: Unanswered = Unanswered::Deny;
    }
    /// Rules that answer questions before a client is asked; the first one that matches counts (docs/upstreams.md). For
    /// example:
    ///
    /// ```toml
    /// [[approvals.rule]]
    /// name = "look, do not touch"
    /// tool = "Bash|bash"
    /// arguments = { command = "git (status|diff|log)" }
    /// decision = "allow"
    /// ```
    with rule: Vec<Rule>;
}

settings! {
    /// What tokens cost.
    pub struct Prices {
        /// TOML file of `[[price]]` tables whose prices go before those of the program (docs/costs.md). Empty: there is no
        /// such file. A reload reads it again.
        file: PathBuf = PathBuf::new() => reloads;
    }
}

settings! {
    /// What runs may cost.
    pub struct Budgets {
        /// Accounts that each budget keeps besides those with open runs, such as one for each session. Beyond it, the older half is forgotten.
        max_accounts: usize = 20_000, in 10..=10_000_000;
    }
    /// Budgets (docs/costs.md#budgets). A reload applies changes. For example:
    ///
    /// ```toml
    /// [[budgets.limit]]
    /// name = "team-per-day"
    /// per = ["label:team", "day"]
    /// usd = "25"
    /// action = "stop"
    /// ```
    with limit: Vec<Limit>;
}

settings! {
    /// Full-text search.
    pub struct Search {
        /// Index the texts of runs, so that they can be searched.
        enabled: bool = false;
        /// The file of the index. Empty: beside the database of log.path; in memory if the log is; no index with a log at
        /// NATS servers, because each proxy would read all frames from there.
        path: PathBuf = PathBuf::new();
        /// How many bytes of a prompt, an answer or a tool's input are indexed; words after them are not found.
        text_bytes: usize = 256 << 10, in 1024..=64 << 20;
        /// Maximum time of a search, in milliseconds. Beyond it: 503.
        timeout_ms: u64 = 10_000, in 1..=600_000;
    }
}

settings! {
    /// Notifications over HTTP.
    pub struct Webhooks {
        /// Folder for deliveries that were given up, which `framegate webhooks` lists and sends again. Empty: beside the database of log.path;
        /// with a log of another kind, they are only logged.
        failed_folder: PathBuf = PathBuf::new();
        /// Deliveries that are kept there. Beyond it, the oldest is removed.
        max_failed: usize = 1000, in 1..=1_000_000;
        /// Events of runs that may wait until they are queued for the endpoints. Beyond it, an event is lost and counted.
        queue_events: usize = 4096, in 1..=1_000_000;
        /// Bytes of a final text, an error message or a reason that a notification has; the rest is cut.
        text_bytes: usize = 4096, in 0..=1 << 20;
        /// Time in milliseconds for the last deliveries when the proxy stops. The rest is given up.
        stop_timeout_ms: u64 = 5000, in 0..=600_000;
    }
    /// The systems that are notified when a run ends or waits for an answer (docs/webhooks.md has every setting). A reload applies changes.
    /// For example:
    ///
    /// ```toml
    /// [[webhooks.endpoint]]
    /// name = "ci"
    /// url = "https://ci.example/hooks/framegate"
    /// secret_files = ["/run/secrets/webhook"]
    /// events = ["run.completed", "run.failed"]
    /// ```
    with endpoint: Vec<Endpoint>;
}

settings! {
    /// The schema check of outgoing events.
    pub struct Gate {
        /// What happens to an event that breaks its schema: off (nothing), warn (logged and counted), enforce (also
        /// replaced by an error event).
        mode: GateMode = GateMode::Warn;
    }
}

settings! {
    /// The optional content of `hecate.v1`.
    pub struct Hecate {
        /// Budget of a run in millionths of a US dollar: hecate.v1 warns at 80 % of it, and reports when it is
        /// exceeded. 0: no budget.
        task_budget_micros_usd: u64 = 0, in 0..=1 << 50;
        /// Show the model's thinking in hecate.v1 also to clients that do not ask for experimental events.
        thinking: bool = false;
        /// Show artifacts and edits in hecate.v1 also to clients that do not ask for experimental events.
        artifacts: bool = false;
        /// Emit user.message and user.attachment, which are not part of the core of hecate.v1, also to clients that do
        /// not ask for them. Other contracts that leave out the user's messages then write them too.
        user_messages: bool = false;
    }
}

settings! {
    /// framegate's own log output.
    pub struct Telemetry {
        /// Format of log lines on stderr: text or json.
        format: LogFormat = LogFormat::Text;
        /// Log lines that are written: a level (off, error, warn, info, debug, trace), or targets such as
        /// "warn,framegate=debug".
        filter: String = "info".to_owned() => reloads;
    }
}

settings! {
    /// The OTLP collector, and the limits of the export. The standard variables OTEL_… set what is not set here.
    pub struct Otlp {
        /// URL of an OpenTelemetry collector that receives traces over HTTP ("http://127.0.0.1:4318/v1/traces") or gRPC
        /// ("http://127.0.0.1:4317"). Empty: the collector of OTEL_EXPORTER_OTLP_ENDPOINT, if there is one.
        endpoint: String = String::new();
        /// Protocol of the collector, and encoding of the spans: "http/protobuf", "http/json" or "grpc".
        protocol: OtlpProtocol = OtlpProtocol::Protobuf;
        /// Compression of the requests: "none" or "gzip".
        compression: OtlpCompression = OtlpCompression::None;
        /// Certificates to trust for a collector with https, as PEM. Empty: the machine's.
        ca_file: PathBuf = PathBuf::new();
        /// Headers of each request whose values are in files, as { x-api-key = "/run/secrets/collector" }.
        header_files: BTreeMap<String, PathBuf> = BTreeMap::new();
        /// Headers of each request whose values are in environment variables,
        /// as { authorization = "COLLECTOR_AUTHORIZATION" }.
        header_env: BTreeMap<String, String> = BTreeMap::new();
        /// Environment variable with a list of further headers, as "name=value,name=value" with percent-encoded values.
        /// Empty: none.
        header_list_env: String = String::new();
        /// Name of this proxy in traces, the resource attribute service.name.
        service_name: String = "framegate".to_owned();
        /// Further resource attributes of all spans, as { "deployment.environment.name" = "staging" }.
        resource_attributes: BTreeMap<String, String> = BTreeMap::new();
        /// How many of a million runs are sent. A run's id decides, so all proxies select the same runs.
        sampled_per_million: u64 = 1_000_000, in 0..=1_000_000;
        /// What spans contain of prompts, answers, and the arguments and results of tools: "none" or "messages".
        content: SpanContent = SpanContent::None;
        /// Maximum number of bytes of text in one attribute with content. The rest is left out.
        content_bytes: usize = 65_536, in 256..=16 << 20;
        /// Maximum number of bytes of content that the open spans of all runs hold. Further content is left out.
        max_content_bytes: usize = 64 << 20, in 0..=64 << 30;
        /// Time in milliseconds to connect to the collector.
        connect_timeout_ms: u64 = 5000, in 100..=600_000;
        /// Time in milliseconds for the collector to answer, and to receive the rest when the proxy stops.
        timeout_ms: u64 = 10_000, in 100..=600_000;
        /// Finished spans that may wait to be sent. Further ones are dropped and counted.
        queue_spans: usize = 8192, in 1..=1_000_000;
        /// Maximum number of bytes of the finished spans that wait. Further spans are dropped and counted.
        queue_bytes: usize = 64 << 20, in 65_536..=64 << 30;
        /// Spans that are sent in one request.
        batch_spans: usize = 512, in 1..=65_536;
        /// Bytes of spans after which a request is not extended by another span, before compression.
        batch_bytes: usize = 2 << 20, in 1024..=64 << 20;
        /// Time in milliseconds that a span waits for others to be sent with it.
        interval_ms: u64 = 1000, in 1..=600_000;
        /// Maximum number of open spans of all runs. Further ones are not sent, and counted.
        max_open_spans: usize = 65_536, in 1..=10_000_000;
    }
}
