//! One connection: its permit, TLS if enabled, then HTTP/1.1 or HTTP/2.
//!
//! Input: a socket. Output: answered requests. Never: an unlimited wait for a client before its first request; more streams
//! or larger heads on one HTTP/2 connection than the settings allow; a probe kept out by other connections.
//!
//! A connection that finds no permit receives a reserved one for a short time. Probes are answered there; every other request
//! gets 503 with `Retry-After`.
//!
//! With TLS, ALPN selects the HTTP version. Without TLS, the first bytes do (RFC 9113, section 3.3: prior knowledge).

use super::places::{Bounds, Client, Kind, Place, Tally};
use super::router::answer;
use super::shared::Shared;
use super::tls::{Acceptor, Tls};
use super::visit::Visit;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// The preface of an HTTP/2 client (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How many unsent bytes one HTTP/2 stream may hold: about what a reader takes at a time.
const SEND_BUFFER: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Http1,
    Http2,
}

/// How long a connection may hold a reserved permit.
const RESERVED_TIME: Duration = Duration::from_secs(5);

/// How long a connection with a reserved permit may take to begin a request.
const RESERVED_HEAD: Duration = Duration::from_millis(500);

/// How many connections may wait for each reserved permit.
const WAITING: usize = 4;

/// Admits connections.
pub(super) struct Door {
    shared: Arc<Shared>,
    places: Arc<Tally>,
    reserved: Arc<Semaphore>,
}

/// The permit that a connection holds.
pub(super) enum Entered {
    Place(Place),
    /// A position in the queue for the reserved permits.
    Waiting(Place),
}

impl Door {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let reserved = Arc::new(Semaphore::new(shared.settings.reserved_connections));
        Self { places: shared.meters.places.clone(), reserved, shared }
    }

    /// Acquires a permit for a connection; `None` if there is none and the queue is full.
    pub(super) fn enter(&self, peer: IpAddr) -> Option<Entered> {
        let (client, live) = (Client::at(peer), self.shared.control.live());
        let all = self.shared.settings.max_connections;
        // A trusted proxy holds the connections of all its clients.
        let is_proxy = live.trusted_proxies.iter().any(|network| network.has(peer));
        let per_address = if is_proxy { all } else { live.rates.connections_per_address };
        let bounds = Bounds { all, per_token: all, per_address };
        if let Ok(place) = self.places.take(Kind::Connection, &client, bounds) {
            return Some(Entered::Place(place));
        }
        // One address may take at most half of the queue.
        let all = self.shared.settings.reserved_connections.saturating_mul(WAITING);
        let bounds = Bounds { all, per_token: all, per_address: all.div_ceil(2) };
        self.places.take(Kind::Reserved, &client, bounds).ok().map(Entered::Waiting)
    }

    /// Serves a connection until it ends or `watcher` requests a shutdown.
    pub(super) async fn serve(self: Arc<Self>, stream: TcpStream, peer: IpAddr, entered: Entered, watcher: Watcher) {
        match entered {
            Entered::Place(place) => {
                serve(stream, self.shared.clone(), peer, false, watcher).await;
                drop(place);
            }
            Entered::Waiting(place) => {
                let waited = tokio::time::timeout(RESERVED_TIME, self.reserved.acquire()).await;
                if let Ok(Ok(permit)) = waited {
                    let served = Box::pin(serve(stream, self.shared.clone(), peer, true, watcher));
                    let _ = tokio::time::timeout(RESERVED_TIME, served).await;
                    drop(permit);
                }
                drop(place);
            }
        }
    }
}

/// Each step is boxed separately: most connections are idle, and an idle connection keeps only the memory of its current
/// step.
async fn serve(stream: TcpStream, shared: Arc<Shared>, peer: IpAddr, is_reserved: bool, watcher: Watcher) {
    let tls = shared.control.live().tls.as_ref().map(Tls::acceptor);
    let visit = Visit { peer, is_secure: tls.is_some(), is_reserved };
    match tls {
        Some(tls) => Box::pin(secured(stream, tls, shared, visit, watcher)).await,
        None => {
            if let Some((stream, version)) = Box::pin(begun(stream, &shared, visit)).await {
                Box::pin(speak(stream, version, shared, visit, watcher)).await;
            }
        }
    }
}

/// How long the client may take to begin; `limit` applies to connections without a reserved permit.
fn patience(limit: Duration, visit: Visit) -> Duration {
    if visit.is_reserved { limit.min(RESERVED_HEAD) } else { limit }
}

async fn secured(stream: TcpStream, tls: Acceptor, shared: Arc<Shared>, visit: Visit, watcher: Watcher) {
    let handshake = Box::pin(tls.accept(stream));
    match within(patience(shared.settings.tls_handshake, visit), &shared.closing, handshake).await {
        Some(Ok((stream, is_http2))) => {
            let version = if is_http2 { Version::Http2 } else { Version::Http1 };
            Box::pin(speak(stream, version, shared, visit, watcher)).await;
        }
        Some(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        None => {}
    }
}

/// The connection, with the HTTP version that its first bytes select.
async fn begun(stream: TcpStream, shared: &Shared, visit: Visit) -> Option<(Begun, Version)> {
    let outcome =
        within(patience(shared.settings.header_read_timeout, visit), &shared.closing, Begun::read(stream)).await?;
    outcome.inspect_err(|error| tracing::debug!(%error, "a connection ended before its first request")).ok()
}

/// Runs a step before the first request; `None` if it takes too long or the server stops.
async fn within<F: Future>(
    limit: Duration,
    stopping: &tokio_util::sync::CancellationToken,
    work: F,
) -> Option<F::Output> {
    tokio::select! {
        outcome = tokio::time::timeout(limit, work) => {
            if outcome.is_err() {
                tracing::debug!("a connection was closed: its client took too long to send the first request");
            }
            outcome.ok()
        }
        () = stopping.cancelled() => None,
    }
}

async fn speak<S>(stream: S, version: Version, shared: Arc<Shared>, visit: Visit, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let settings = shared.settings.clone();
    // Boxed because the connection keeps the memory of its response future, and an event stream lasts long.
    let service = service_fn(move |request: hyper::Request<Incoming>| Box::pin(answer(request, visit, shared.clone())));
    let stream = TokioIo::new(stream);
    let ended = match version {
        Version::Http1 => {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                // The responses set their own date, which works with any clock.
                .auto_date_header(false)
                .keep_alive(!visit.is_reserved)
                .header_read_timeout(patience(settings.header_read_timeout, visit))
                .max_buf_size(settings.max_header_bytes.max(8192))
                .half_close(true)
                .serve_connection(stream, service);
            Box::pin(watcher.watch(connection)).await
        }
        Version::Http2 => {
            // The library counts streams that are opened and reset immediately, and closes the connection if there are too
            // many.
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .auto_date_header(false)
                .max_concurrent_streams(settings.http2_max_streams)
                .max_header_list_size(u32::try_from(settings.max_header_bytes).unwrap_or(u32::MAX))
                .max_send_buf_size(SEND_BUFFER)
                .keep_alive_interval(settings.http2_ping)
                .keep_alive_timeout(settings.http2_ping_timeout)
                .serve_connection(stream, service);
            Box::pin(watcher.watch(connection)).await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended with an error");
    }
}

/// A stream whose first bytes were read; it replays them first.
struct Begun {
    stream: TcpStream,
    front: [u8; PREFACE.len()],
    /// Positions in `front`: the next byte to return, and the end.
    given: usize,
    end: usize,
}

impl Begun {
    /// Reads as many bytes as are needed to determine the version.
    async fn read(mut stream: TcpStream) -> io::Result<(Self, Version)> {
        let mut front = [0; PREFACE.len()];
        let mut end = 0;
        while let Some(free) = front.get_mut(end..) {
            let read = stream.read(free).await?;
            end += read;
            let is_so_far = front.get(..end).is_some_and(|begin| PREFACE.starts_with(begin));
            if read == 0 || end == PREFACE.len() || !is_so_far {
                break;
            }
        }
        let version = if front == PREFACE { Version::Http2 } else { Version::Http1 };
        Ok((Self { stream, front, given: 0, end }, version))
    }
}

impl AsyncRead for Begun {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        match this.front.get(this.given..this.end).filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                let taken = rest.get(..rest.len().min(into.remaining())).unwrap_or_default();
                into.put_slice(taken);
                this.given += taken.len();
                // Also read from the socket in the same call: a reader that first receives only a part doubles its buffer. An
                // error here recurs at the next read.
                if this.given == this.end {
                    let _ = Pin::new(&mut this.stream).poll_read(context, into);
                }
                Poll::Ready(Ok(()))
            }
            None => Pin::new(&mut this.stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Begun {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
