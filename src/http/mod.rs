//! The HTTP interface: hyper, with an accept loop of our own.
//!
//! In: requests. Out: status, pages and event streams. Never: a connection beyond the limit, a header that takes for ever,
//! a stream held back by a buffer, a payload in a log line.

mod artifacts;
mod body;
mod events;
mod feeds;
mod guard;
mod hecate;
mod ingest;
mod negotiate;
mod openapi;
mod probes;
mod problem;
mod router;
mod routes;
mod run_status;
mod schemas;
mod stop;

use crate::runs::Runs;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::framing::Limits;
use framegate_translators::redact::Rules;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tracing::Instrument;

/// What the interface is set to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Host names besides loopback that may be asked for, and that pages may come from.
    pub allowed_hosts: Vec<String>,
    /// The token that every request must carry; without one, only loopback is listened on.
    pub token: Option<String>,
    /// Connections at a time.
    pub max_connections: usize,
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
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            allowed_hosts: Vec::new(),
            token: None,
            max_connections: 1024,
            header_read_timeout: Duration::from_secs(10),
            max_header_bytes: 64 << 10,
            max_body_bytes: None,
            heartbeat: Duration::from_secs(15),
            sse_retry: Duration::from_secs(2),
            shutdown_grace: Duration::from_secs(10),
            shutdown_flush: Duration::from_secs(5),
            ingest_idle: None,
            max_ingests: 256,
            drift: true,
            redaction: None,
            limits: Limits::default(),
            page_default: 200,
            page_max: 500,
            default_contract: &framegate_translators::contracts::frames::V2,
            encoder: EncoderOptions::default(),
        }
    }
}

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Everybody could reach it, and nobody would be asked for a token.
    #[error(
        "server.listen is {0}, which other machines can reach, and server.token_file is not set: set a token, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// The address is not to be had.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] std::io::Error),
}

/// What every request sees.
pub(crate) struct Shared {
    pub(crate) runs: Arc<Runs>,
    pub(crate) settings: Settings,
    pub(crate) ingests: Arc<Semaphore>,
    stopping: stop::Stopping,
}

/// A server that has its socket.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

impl Server {
    /// Takes the socket.
    ///
    /// # Errors
    /// The address is open to others without a token, or not to be had.
    pub async fn bind(settings: Settings, runs: Arc<Runs>) -> Result<Self, ServeError> {
        let address = settings.listen;
        if !address.ip().is_loopback() && settings.token.is_none() {
            return Err(ServeError::Open(address));
        }
        let listener = TcpListener::bind(address).await.map_err(|error| ServeError::Listen(address, error))?;
        if let Some(rules) = &settings.redaction {
            runs.metrics().redacts(rules.names().map(str::to_owned));
        }
        let ingests = Arc::new(Semaphore::new(settings.max_ingests));
        Ok(Self { listener, shared: Arc::new(Shared { runs, settings, ingests, stopping: stop::Stopping::default() }) })
    }

    /// Where it listens; with port 0 asked for, the port that it got.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap_or(self.shared.settings.listen)
    }

    /// Serves until `stop`, then drains: new work is turned away, ingests come to their end or are cut, clients get what is
    /// left. `at_once` ends it whatever is open.
    pub async fn serve(self, stop: impl Future<Output = ()>, at_once: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let stopped = async {
            // While it drains it still answers, so that whoever sends work here is told not to.
            tokio::select! {
                () = self.accept(&graceful) => {}
                () = async { stop.await; stop::drain(&self.shared).await } => {}
            }
            drop(self.listener);
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
            let shared = self.shared.clone();
            let service = service_fn(move |request| router::answer(request, shared.clone()));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(self.shared.settings.header_read_timeout)
                .max_buf_size(self.shared.settings.max_header_bytes.max(8192))
                .half_close(true)
                .serve_connection(TokioIo::new(stream), service);
            let connection = graceful.watch(connection);
            let span = tracing::info_span!("connection", number, %peer);
            number += 1;
            let served = async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection ended badly");
                }
                drop(permit);
            };
            tokio::spawn(served.instrument(span));
        }
    }
}
