//! The HTTP interface: hyper, with an accept loop of our own.
//!
//! In: requests. Out: status, pages and event streams. Never: a connection beyond the limit, a header that takes for ever,
//! a stream held back by a buffer, a payload in a log line.

mod access;
mod artifacts;
mod body;
mod connection;
mod control;
mod cors;
mod events;
mod feeds;
mod guard;
mod hecate;
mod ingest;
mod limits;
mod live;
mod negotiate;
mod openapi;
mod order;
mod percent;
mod probes;
mod problem;
mod protect;
mod responses;
mod router;
mod routes;
mod run_status;
mod schemas;
mod stop;
mod tls;
mod upstreams;

pub use limits::{Rate, Rates};
pub use live::{Control, Live};
pub use tls::{Tls, TlsError};

use crate::auth::Caller;
use crate::config::upstream::Upstream;
use crate::runs::{Entry, Runs};
use crate::stopping::Stopping;
use crate::upstream::client::ClientError;
use crate::upstream::responses::{Responses, Starting};
use crate::upstream::sse::{self, SseUpstream};
use crate::upstream::{Host, Policy, Upstreams};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Limits;
use framegate_translators::redact::Rules;
use hyper_util::server::graceful::GracefulShutdown;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use uuid::Uuid;

/// What the interface is set to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// What may change while the server runs.
    pub live: Live,
    /// Connections at a time.
    pub max_connections: usize,
    /// Requests at a time on one HTTP/2 connection.
    pub http2_max_streams: u32,
    /// How long an HTTP/2 connection may be silent before it is asked whether it still lives.
    pub http2_ping: Duration,
    /// How long it may take to say so.
    pub http2_ping_timeout: Duration,
    /// How long a TLS handshake may take.
    pub tls_handshake: Duration,
    /// How often the certificate's files are looked at; `None`: never.
    pub tls_reload: Option<Duration>,
    /// How long a request's header may take.
    pub header_read_timeout: Duration,
    /// How large a request's header may be, in bytes.
    pub max_header_bytes: usize,
    /// How large a request's body may be, in bytes; `None`: as large as it likes.
    pub max_body_bytes: Option<u64>,
    /// How long an event stream may be silent before a comment is sent.
    pub heartbeat: Duration,
    /// How long a client is told to wait before it connects again to an event stream.
    pub sse_retry: Duration,
    /// How long ingests get to come to their end when the proxy stops.
    pub shutdown_grace: Duration,
    /// How long clients get to read what is left after that.
    pub shutdown_flush: Duration,
    /// How long an ingest may be silent; `None`: as long as it likes.
    pub ingest_idle: Option<Duration>,
    /// Ingests at a time.
    pub max_ingests: usize,
    /// Runs at a time that are open.
    pub max_open_runs: usize,
    /// Records in a run.
    pub max_records_per_run: u64,
    /// How many bytes of frames and artifacts an ingest may make ahead of the append that is under way.
    pub ingest_ahead_bytes: u64,
    /// Whether the records of ingests are compared with what is known of their runners.
    pub drift: bool,
    /// What is redacted in the records of ingests, if anything.
    pub redaction: Option<Arc<Rules>>,
    /// What bounds a record.
    pub limits: Limits,
    /// Events on a page, unless the client says otherwise.
    pub page_default: usize,
    /// Events on a page at most.
    pub page_max: usize,
    /// The contract for clients that name none.
    pub default_contract: &'static Contract,
    /// What every client gets of a contract, whatever it asks for besides.
    pub encoder: EncoderOptions,
    /// The upstreams of the Responses API, the one that is meant where none is named first.
    pub responses: Vec<Arc<Responses>>,
    /// The feeds that are followed.
    pub feeds: Vec<sse::Settings>,
    /// The runners that the proxy reaches out to.
    pub upstreams: Vec<Upstream>,
    /// What is decided before anybody is asked, and where nobody answers.
    pub policy: Arc<Policy>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            live: Live::default(),
            max_connections: 1024,
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
            ingest_idle: None,
            max_ingests: 256,
            max_open_runs: 10_000,
            max_records_per_run: 10_000_000,
            ingest_ahead_bytes: crate::ingest::AHEAD_BYTES,
            drift: true,
            redaction: None,
            limits: Limits::default(),
            page_default: 200,
            page_max: 500,
            default_contract: &framegate_translators::contracts::frames::V2,
            encoder: EncoderOptions::default(),
            responses: Vec::new(),
            feeds: Vec::new(),
            upstreams: Vec::new(),
            policy: Arc::default(),
        }
    }
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Everybody could reach it, and nobody would be asked for a token.
    #[error(
        "server.listen is {0}, which other machines can reach, and there is no token: set server.token_file or auth.tokens_file, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// The address is not to be had.
    #[error("cannot listen on server.listen, {address}: {reason}; {}", remedy(.reason))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// An upstream cannot be reached over TLS.
    #[error("upstream {0:?}: {1}")]
    Upstream(String, #[source] ClientError),
}

/// What whoever cannot have an address may do.
fn remedy(reason: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    match reason.kind() {
        AddrInUse => "another process listens there: stop it, or name another port (0 takes one that is free)",
        AddrNotAvailable => "it must be an address of this machine: 127.0.0.1, or 0.0.0.0 for all of them",
        PermissionDenied => "ports below 1024 are for privileged processes: name a higher one",
        _ => "name another address",
    }
}

/// What a request sees: what all of them share, and who asks.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) runs: Arc<Runs>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) ingests: Arc<Semaphore>,
    open_runs: Arc<Semaphore>,
    /// What upstreams are given of all this.
    host: Host,
    /// The upstreams that start runs.
    upstreams: Upstreams,
    meters: Arc<limits::Meters>,
    control: Control,
    stopping: Arc<Stopping>,
    /// Cancelled when connections are to end that have not begun to ask.
    closing: CancellationToken,
    /// Who asks; nobody, until that is known.
    caller: Arc<Caller>,
}

impl Shared {
    /// A stream that the caller sees. What it does not see does not exist for it.
    fn find(&self, kind: StreamKind, id: Uuid) -> Option<Arc<Entry>> {
        self.runs.find((kind, id)).filter(|entry| self.sees(entry))
    }

    /// The same, whatever it is the stream of.
    fn find_any(&self, id: Uuid) -> Option<Arc<Entry>> {
        self.runs.find_any(id).filter(|entry| self.sees(entry))
    }

    fn sees(&self, entry: &Entry) -> bool {
        self.caller.restriction.admits(&entry.stream)
    }

    /// What an event stream of the caller holds while it is open.
    fn stream(&self) -> Result<body::Lease, problem::Problem> {
        let slot = self.meters.stream(&self.meters.of(&self.caller.name), &self.control.live().rates)?;
        Ok(body::Lease::new(slot, self.caller.clone(), self.control.watch()))
    }
}

/// A server that has its socket.
pub struct Server {
    listener: TcpListener,
    feeds: Vec<Arc<SseUpstream>>,
    shared: Arc<Shared>,
}

impl Server {
    /// Takes the socket.
    ///
    /// # Errors
    /// The address is open to others without a token, or not to be had.
    pub async fn bind(settings: Settings, runs: Arc<Runs>) -> Result<Self, ServeError> {
        let address = settings.listen;
        let control = Control::new(address, settings.live.clone())?;
        let listener = TcpListener::bind(address).await.map_err(|reason| ServeError::Listen { address, reason })?;
        if !address.ip().is_loopback() && settings.live.tls.is_none() {
            tracing::warn!(%address, "tokens and events cross the network in clear: set tls.certificate_file, or put TLS in front");
        }
        if let Some(rules) = &settings.redaction {
            runs.metrics().redacts(rules.names().map(str::to_owned));
        }
        let ingests = Arc::new(Semaphore::new(settings.max_ingests));
        let open_runs = Arc::new(Semaphore::new(settings.max_open_runs));
        let stopping = Arc::<Stopping>::default();
        let host = Host {
            ingests: ingests.clone(),
            open_runs: open_runs.clone(),
            records_per_run: settings.max_records_per_run,
            ahead_bytes: settings.ingest_ahead_bytes,
            limits: settings.limits,
            drift: settings.drift,
            redaction: settings.redaction.clone(),
            policy: settings.policy.clone(),
            stopping: stopping.clone(),
            ..Host::new(runs.clone())
        };
        let mut feeds = Vec::new();
        for feed in &settings.feeds {
            let name = feed.name.clone();
            let feed = SseUpstream::new(feed.clone(), host.clone());
            feeds.push(Arc::new(feed.map_err(|error| ServeError::Upstream(name, error))?));
        }
        let starting = feeds.iter().map(|feed| feed.clone() as Arc<dyn crate::upstream::Upstream>);
        let forwarding = settings.responses.iter().map(|upstream| {
            Arc::new(Starting::new(upstream.clone(), host.clone())) as Arc<dyn crate::upstream::Upstream>
        });
        let shared = Shared {
            upstreams: Upstreams::new(&settings.upstreams, &host).with(starting).with(forwarding),
            runs,
            settings: Arc::new(settings),
            ingests,
            open_runs,
            host,
            meters: Arc::default(),
            control,
            stopping,
            closing: CancellationToken::new(),
            caller: Caller::nobody(),
        };
        Ok(Self { listener, feeds, shared: Arc::new(shared) })
    }

    /// Where it listens; with port 0 asked for, the port that it got.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap_or(self.shared.settings.listen)
    }

    /// What changes it while it runs.
    pub fn control(&self) -> Control {
        self.shared.control.clone()
    }

    /// Serves until `stop`, then drains: new work is turned away, ingests come to their end or are cut, clients get what is
    /// left. `at_once` ends it whatever is open.
    pub async fn serve(self, stop: impl Future<Output = ()>, at_once: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let mut background = JoinSet::new();
        if let Some(every) = self.shared.settings.tls_reload {
            background.spawn(tls::watch(self.shared.control.clone(), every));
        }
        for feed in &self.feeds {
            let feed = feed.clone();
            background.spawn(async move { feed.follow().await });
        }
        let stopped = async {
            // While it drains it still answers, so that whoever sends work here is told not to.
            tokio::select! {
                () = self.accept(&graceful) => {}
                () = async { stop.await; stop::drain(&self.shared).await } => {}
            }
            drop(self.listener);
            self.shared.closing.cancel();
            if tokio::time::timeout(self.shared.settings.shutdown_flush, graceful.shutdown()).await.is_err() {
                tracing::warn!("clients had not read everything when the proxy stopped (server.shutdown_flush_ms)");
            }
        };
        tokio::select! {
            () = stopped => {}
            () = at_once => tracing::warn!("stopped at once; what was open is cut"),
        }
    }

    /// Accepts connections for ever.
    async fn accept(&self, graceful: &GracefulShutdown) {
        let connections = Arc::new(Semaphore::new(self.shared.settings.max_connections));
        let mut number = 0u64;
        loop {
            // A connection beyond the limit waits in the kernel's queue.
            let Ok(permit) = connections.clone().acquire_owned().await else { return };
            let (stream, peer) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Events are small and must not wait for each other.
            let _ = stream.set_nodelay(true);
            let (shared, watcher) = (self.shared.clone(), graceful.watcher());
            let span = tracing::info_span!("connection", number, %peer);
            number += 1;
            let served = async move {
                connection::serve(stream, shared, watcher).await;
                drop(permit);
            };
            tokio::spawn(served.instrument(span));
        }
    }
}
