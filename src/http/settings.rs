//! The settings of the HTTP interface that stay as they are while the server runs, and their defaults.

use super::live::Live;
use crate::config::upstream::Upstream;
use crate::ingest;
use crate::policy::Policy;
use crate::upstream::responses::Responses;
use crate::upstream::sse;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EncoderOptions;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// The settings of the server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Whether `/` serves the page.
    pub page: bool,
    /// A token that can be fetched once, with a code; `None`: no code is accepted.
    pub one_time: Option<OneTime>,
    /// The settings that can change while the server runs.
    pub live: Live,
    /// Maximum number of connections.
    pub max_connections: usize,
    /// Additional connections that are reserved for probes.
    pub reserved_connections: usize,
    /// How many unread bytes the system may buffer for a client, in bytes; `None`: the system's default.
    pub send_buffer: Option<usize>,
    /// After how long TCP probes a silent connection; `None`: never.
    pub tcp_keepalive: Option<Duration>,
    /// Maximum number of concurrent requests on one HTTP/2 connection.
    pub http2_max_streams: u32,
    /// After how long a silent HTTP/2 connection is pinged.
    pub http2_ping: Duration,
    /// How long the reply to an HTTP/2 ping may take.
    pub http2_ping_timeout: Duration,
    /// Timeout for a TLS handshake.
    pub tls_handshake: Duration,
    /// How often the certificate files are checked for changes; `None`: never.
    pub tls_reload: Option<Duration>,
    /// Timeout for the header of a request.
    pub header_read_timeout: Duration,
    /// Size limit for the header of a request, in bytes.
    pub max_header_bytes: usize,
    /// Size limit for the body of a request, in bytes; `None`: unlimited.
    pub max_body_bytes: Option<u64>,
    /// How long an event stream may be silent before a comment is sent.
    pub heartbeat: Duration,
    /// The reconnect delay that event streams announce to clients.
    pub sse_retry: Duration,
    /// How long ingests may continue when the proxy stops.
    pub shutdown_grace: Duration,
    /// How long clients may read the rest after that.
    pub shutdown_flush: Duration,
    /// How long an ingest may take to send its first bytes; `None`: unlimited.
    pub ingest_start: Option<Duration>,
    /// How long an ingest may be silent after that; `None`: unlimited.
    pub ingest_idle: Option<Duration>,
    /// Largest ratio of decompressed to compressed size of a body; applies beyond 1 MiB.
    pub max_compression: u64,
    /// Size limit for a decompressed body, in bytes; `None`: only `max_body_bytes` applies.
    pub max_decompressed: Option<u64>,
    /// Maximum number of open ingests.
    pub max_ingests: usize,
    /// How the input of ingests is read, from clients and from upstreams alike.
    pub ingest: ingest::Settings,
    /// Whether a run whose records are already in the log is kept only once.
    pub recognise_repeats: bool,
    /// Maximum number of idempotency keys of finished ingests that are remembered.
    pub max_idempotency_keys: usize,
    /// How long each of these keys is remembered.
    pub idempotency_key_lifetime: Duration,
    /// Size limit for the body of a request with a prompt, in bytes.
    pub max_prompt_body: usize,
    /// Maximum number of requests with prompts that are remembered, to recognise those that are sent again.
    pub max_prompt_requests: usize,
    /// For how long after the end of its run a request without `Idempotency-Key` is recognised.
    pub prompt_repeat: Duration,
    /// Maximum number of conversations whose sessions are remembered.
    pub max_conversations: usize,
    /// Events on a page, unless the client requests another number.
    pub page_default: usize,
    /// Maximum number of events on a page.
    pub page_max: usize,
    /// The contract for clients that name none.
    pub default_contract: &'static Contract,
    /// Encoder options that apply to every client, in addition to those that it requests.
    pub encoder: EncoderOptions,
    /// The upstreams of the Responses API. The first is the default.
    pub responses: Vec<Arc<Responses>>,
    /// The feeds to follow.
    pub feeds: Vec<sse::Settings>,
    /// The runners that the proxy contacts itself.
    pub upstreams: Vec<Upstream>,
    /// The rules that decide questions without a person, and the decision if no answer arrives in time.
    pub policy: Arc<Policy>,
}

/// A code, and the token that it can be exchanged for once.
#[derive(Clone)]
pub struct OneTime {
    /// The code, which is in a link.
    pub code: String,
    /// The token, which is one of [`Live::tokens`].
    pub token: String,
}

/// Shows neither the code nor the token.
impl std::fmt::Debug for OneTime {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("OneTime")
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            page: true,
            one_time: None,
            live: Live::default(),
            max_connections: 4096,
            reserved_connections: 32,
            send_buffer: Some(64 << 10),
            tcp_keepalive: Some(Duration::from_secs(60)),
            http2_max_streams: 128,
            http2_ping: Duration::from_secs(20),
            http2_ping_timeout: Duration::from_secs(10),
            tls_handshake: Duration::from_secs(10),
            tls_reload: Some(Duration::from_secs(60)),
            header_read_timeout: Duration::from_secs(10),
            max_header_bytes: 64 << 10,
            max_body_bytes: None,
            heartbeat: Duration::from_secs(15),
            sse_retry: Duration::from_secs(2),
            shutdown_grace: Duration::from_secs(10),
            shutdown_flush: Duration::from_secs(5),
            ingest_start: Some(Duration::from_secs(60)),
            ingest_idle: Some(Duration::from_secs(86_400)),
            max_compression: 200,
            max_decompressed: Some(4 << 30),
            max_ingests: 512,
            ingest: ingest::Settings {
                drift: true,
                max_open_runs: 10_000,
                max_records_per_run: 10_000_000,
                ..ingest::Settings::default()
            },
            recognise_repeats: true,
            max_idempotency_keys: 10_000,
            idempotency_key_lifetime: Duration::from_secs(86_400),
            max_prompt_body: 16 << 20,
            max_prompt_requests: 10_000,
            prompt_repeat: Duration::from_secs(60),
            max_conversations: 10_000,
            page_default: 200,
            page_max: 500,
            default_contract: framegate_translators::contracts::DEFAULT,
            encoder: EncoderOptions::default(),
            responses: Vec::new(),
            feeds: Vec::new(),
            upstreams: Vec::new(),
            policy: Arc::default(),
        }
    }
}
