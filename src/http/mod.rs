//! The HTTP server: hyper, with framegate's own accept loop.
//!
//! Input: requests. Output: statuses, pages and event streams. Never: a connection beyond the limit; an unlimited wait for a
//! header; a stream delayed by a buffer; a payload in a log line.

mod access;
mod ag_ui;
mod artifacts;
mod body;
mod charset;
mod chat_completions;
mod coding;
mod connection;
mod control;
mod conversations;
mod cors;
mod decision;
mod digest;
mod error;
mod etag;
mod events;
mod feeds;
mod guard;
mod hecate;
mod idempotency;
mod ingest;
mod json_body;
mod kept_responses;
mod lease;
mod limits;
mod live;
mod models;
mod negotiate;
mod one_time;
mod open_responses;
mod openapi;
mod own_access;
#[cfg_attr(not(feature = "ui"), path = "no_page.rs")]
mod page;
mod percent;
mod places;
mod probes;
mod problem;
mod prompt_files;
mod prompted;
mod query;
#[cfg(test)]
mod reference;
mod repeats;
mod reply;
mod response_id;
mod responses;
mod responses_api;
mod route;
mod router;
mod routes;
mod run_status;
mod schemas;
mod sdk_errors;
mod search;
mod security_headers;
mod segment;
mod sessions;
mod settings;
mod shared;
mod silent;
mod socket;
mod stats;
mod stop;
mod stored_events;
mod threads;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
mod trace;
mod transcript;
mod ui_message_stream;
mod upload;
mod upstreams;
mod visit;

pub use error::ServeError;
pub use limits::{Rate, Rates};
pub use live::{Control, Live};
pub use settings::{OneTime, Settings};
pub use tls::{Tls, TlsError};

use crate::auth::Caller;
use crate::budgets::Budgets;
use crate::runs::Runs;
use crate::search::Search;
use crate::shutdown::Shutdown;
use crate::upstream::responses::Starting;
use crate::upstream::sse::SseUpstream;
use crate::upstream::{Handles, Host, Upstreams, elsewhere};
use hyper_util::server::graceful::GracefulShutdown;
use shared::Shared;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// A bound address on which no connection is accepted yet.
pub struct Listening {
    listener: TcpListener,
    control: Control,
}

impl Listening {
    /// Binds the address in the settings.
    ///
    /// # Errors
    /// The address is reachable from other machines without a token, or is not available.
    pub async fn at(settings: &Settings) -> Result<Self, ServeError> {
        let address = settings.listen;
        let control = Control::new(address, settings.live.clone())?;
        let listener = TcpListener::bind(address).await.map_err(|reason| ServeError::Listen { address, reason })?;
        if !address.ip().is_loopback() && settings.live.tls.is_none() {
            tracing::warn!(
                %address,
                "tokens and events cross the network unencrypted: set tls.certificate_file, or use a TLS proxy"
            );
        }
        Ok(Self { listener, control })
    }
}

/// A server with its socket.
pub struct Server {
    listener: TcpListener,
    feeds: Vec<Arc<SseUpstream>>,
    shared: Arc<Shared>,
}

impl Server {
    /// Creates a server on an address that was bound with the same settings.
    ///
    /// # Errors
    /// The TLS client for an upstream could not be set up.
    pub fn on(listening: Listening, mut settings: Settings, runs: Arc<Runs>) -> Result<Self, ServeError> {
        let Listening { listener, control } = listening;
        let address = settings.listen.ip();
        if let Some(rules) = &settings.ingest.redaction {
            runs.metrics().redacts(rules.names().map(str::to_owned));
        }
        let ingests = Arc::new(Semaphore::new(settings.max_ingests));
        let shutdown = Arc::<Shutdown>::default();
        let host = Host {
            ingests: ingests.clone(),
            policy: settings.policy.clone(),
            shutdown: shutdown.clone(),
            ..Host::new(runs.clone(), settings.ingest.clone())
        };
        let idempotency_keys = idempotency::Keys::new(settings.max_idempotency_keys, settings.idempotency_key_lifetime);
        let repeats = repeats::Repeats::new(repeats::Bounds {
            max: settings.max_prompt_requests,
            lifetime: settings.idempotency_key_lifetime,
            repeat: settings.prompt_repeat,
        });
        let conversations = conversations::Conversations::new(settings.max_conversations);
        let threads = threads::Threads::new(settings.max_conversations);
        let kept_responses = kept_responses::KeptResponses::new(settings.max_conversations);
        let secrets = settings.one_time.take();
        let secrets = secrets.as_ref().map(|secrets| (&*secrets.code, &*secrets.token));
        let one_time = one_time::OneTime::new(secrets);
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
            host,
            meters: Arc::default(),
            silent: Arc::default(),
            idempotency_keys: Arc::new(idempotency_keys),
            repeats: Arc::new(repeats),
            conversations: Arc::new(conversations),
            kept_responses: Arc::new(kept_responses),
            threads: Arc::new(threads),
            one_time: Arc::new(one_time),
            control,
            search: None,
            budgets: None,
            shutdown,
            closing: CancellationToken::new(),
            caller: Caller::nobody(),
            address,
        };
        Ok(Self { listener, feeds, shared: Arc::new(shared) })
    }

    /// Adds a search over the runs.
    #[must_use]
    pub fn with_search(self, search: Arc<Search>) -> Self {
        Self { shared: Arc::new(Shared { search: Some(search), ..Shared::clone(&self.shared) }), ..self }
    }

    /// Refuses prompts that would count for a spent budget.
    #[must_use]
    pub fn with_budgets(self, budgets: Arc<Budgets>) -> Self {
        Self { shared: Arc::new(Shared { budgets: Some(budgets), ..Shared::clone(&self.shared) }), ..self }
    }

    /// Where messages to the runs that this server drives are sent.
    pub fn handles(&self) -> Arc<Handles> {
        self.shared.host.handles.clone()
    }

    /// The address on which it listens. If port 0 was requested, this has the assigned port.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr().unwrap_or(self.shared.settings.listen)
    }

    /// The handle that changes the settings while the server runs.
    pub fn control(&self) -> Control {
        self.shared.control.clone()
    }

    /// Serves until `stop`, then drains: refuses new work, lets ingests finish or cuts them, and lets clients read the rest.
    /// `at_once` ends the server regardless of what is open.
    pub async fn serve(self, stop: impl Future<Output = ()>, at_once: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let mut background = JoinSet::new();
        if let Some(every) = self.shared.settings.tls_reload {
            let (current, control) = (self.shared.control.clone(), self.shared.control.clone());
            background.spawn(tls::watch(move || current.live().tls.clone(), move |tls| control.set_tls(tls), every));
        }
        let host = &self.shared.host;
        background.spawn(elsewhere::serve(host.runs.clone(), host.handles.clone(), self.shared.upstreams.clone()));
        for feed in &self.feeds {
            let feed = feed.clone();
            background.spawn(async move { feed.follow().await });
        }
        let stopped = async {
            // While draining, the server still responds, so that clients with new work are refused properly.
            tokio::select! {
                () = self.accept(&graceful) => {}
                () = async { stop.await; stop::drain(&self.shared).await } => {}
            }
            drop(self.listener);
            self.shared.closing.cancel();
            if tokio::time::timeout(self.shared.settings.shutdown_flush, graceful.shutdown()).await.is_err() {
                tracing::warn!(
                    "some clients had not read all events when the proxy stopped (server.shutdown_flush_ms)"
                );
            }
        };
        tokio::select! {
            () = stopped => {}
            () = at_once => tracing::warn!("stopped immediately; open ingests and streams were cut off"),
        }
    }

    /// Accepts connections for ever.
    async fn accept(&self, graceful: &GracefulShutdown) {
        let door = Arc::new(connection::Door::new(self.shared.clone()));
        let mut number = 0u64;
        loop {
            let (stream, peer) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let span = tracing::info_span!("connection", number, %peer);
            number += 1;
            let Some(entered) = door.enter(peer.ip()) else {
                tracing::debug!(parent: &span, "a connection was closed: even all reserved connections are in use");
                continue;
            };
            socket::tune(&stream, &self.shared.settings);
            let served = door.clone().serve(stream, peer.ip(), entered, graceful.watcher());
            tokio::spawn(served.instrument(span));
        }
    }
}
