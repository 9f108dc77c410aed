//! One connection: TLS where it is on, then HTTP/1.1 or HTTP/2.
//!
//! In: a socket. Out: answered requests. Never: a client that is waited for without a limit before its first request, more
//! streams or larger heads on one HTTP/2 connection than the settings say.
//!
//! With TLS, ALPN says which version it is; without, the first bytes do (RFC 9113, section 3.3: the client knows beforehand).

use super::Shared;
use super::router::answer;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::Watcher;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// What an HTTP/2 client begins with (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How many bytes one HTTP/2 stream may hold that the client does not take: about what a reader takes at a time.
const SEND_BUFFER: usize = 64 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    Http1,
    Http2,
}

/// Serves the connection until it ends, or until `watcher` tells it to.
///
/// Each step is a future in a box of its own: most connections idle, and one keeps only the room of what it is at.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>, watcher: Watcher) {
    let tls = shared.control.live().tls.as_ref().map(|tls| tls.config.clone());
    match tls {
        Some(config) => Box::pin(secured(stream, config, shared, watcher)).await,
        None => {
            if let Some((stream, version)) = Box::pin(begun(stream, &shared)).await {
                Box::pin(speak(stream, version, shared, watcher)).await;
            }
        }
    }
}

async fn secured(stream: TcpStream, config: Arc<ServerConfig>, shared: Arc<Shared>, watcher: Watcher) {
    let handshake = Box::pin(TlsAcceptor::from(config).accept(stream));
    match within(shared.settings.tls_handshake, &shared.closing, handshake).await {
        Some(Ok(stream)) => {
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            let version = if is_http2 { Version::Http2 } else { Version::Http1 };
            Box::pin(speak(stream, version, shared, watcher)).await;
        }
        Some(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        None => {}
    }
}

/// The connection with the version that its first bytes tell.
async fn begun(stream: TcpStream, shared: &Shared) -> Option<(Begun, Version)> {
    let outcome = within(shared.settings.header_read_timeout, &shared.closing, Begun::read(stream)).await?;
    outcome.inspect_err(|error| tracing::debug!(%error, "a connection ended before its first request")).ok()
}

/// What a connection does before its first request; `None` where that takes too long, or the server stops.
async fn within<F: Future>(
    limit: Duration,
    stopping: &tokio_util::sync::CancellationToken,
    work: F,
) -> Option<F::Output> {
    tokio::select! {
        outcome = tokio::time::timeout(limit, work) => {
            if outcome.is_err() {
                tracing::debug!("a connection was closed: its client took too long to begin");
            }
            outcome.ok()
        }
        () = stopping.cancelled() => None,
    }
}

async fn speak<S>(stream: S, version: Version, shared: Arc<Shared>, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let settings = shared.settings.clone();
    // In a box of its own: the connection keeps the room of what it answers with, and an event stream lasts.
    let service = service_fn(move |request: hyper::Request<Incoming>| Box::pin(answer(request, shared.clone())));
    let stream = TokioIo::new(stream);
    let ended = match version {
        Version::Http1 => {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(settings.header_read_timeout)
                .max_buf_size(settings.max_header_bytes.max(8192))
                .half_close(true)
                .serve_connection(stream, service);
            Box::pin(watcher.watch(connection)).await
        }
        Version::Http2 => {
            // Streams that are opened and reset at once are counted by the library, which closes the connection for it.
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
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
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// A stream of which the first bytes were read; they are read again first.
struct Begun {
    stream: TcpStream,
    front: [u8; PREFACE.len()],
    /// Of `front`: the next to give out, and the end.
    given: usize,
    end: usize,
}

impl Begun {
    /// Reads as much as it takes to know the version.
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
                // What came with it in the same read: a reader that gets a part first makes its buffer twice as large. An
                // error here is the next read's.
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
