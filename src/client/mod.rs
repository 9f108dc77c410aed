//! The HTTP client for requests to upstreams.
//!
//! Input: a request. Output: the head of the response, and the body as it arrives; or why there is none. Never: a redirect
//! that is followed; a decompressed body; a request sent twice (if its connection turns out to be closed before the first
//! byte, the request uses another one); an unbounded wait; a secret in an error.
//!
//! It speaks HTTP/1.1, or HTTP/2 if that is asked for, over plain TCP, or over TLS with the feature `tls`. Idle connections are kept for a while and
//! reused.

#[cfg_attr(not(feature = "tls"), path = "no_tls_connector.rs")]
mod connector;
mod cursor;
mod retry_after;

#[cfg(feature = "tls")]
pub(crate) use connector::roots;
pub(crate) use cursor::Cursor;
pub(crate) use retry_after::retry_after;

use bytes::Bytes;
use connector::{Connector, connector};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError};
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, HeaderValue};
use hyper::{Request, Response};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The body of a request.
pub type Body = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);

/// How many idle connections are kept for each host.
const IDLE_CONNECTIONS: usize = 32;

/// Size limit for the head of a response, in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// Sends requests.
#[derive(Clone, Debug)]
pub struct Client {
    inner: legacy::Client<Connector, Body>,
}

/// What a client speaks. The server must speak the same: over plain TCP, nothing is negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpVersion {
    /// HTTP/1.1.
    One,
    /// HTTP/2.
    Two,
}

/// Why the client could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The certificate file is not usable.
    #[error("{}: {message}", .path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// TLS is needed, but there are no trusted certificates.
    #[error("the system has no trusted CA certificates{0}; name a file with certificates in ca_file")]
    NoRoots(String),
    /// The TLS library does not work.
    #[error("TLS is not available: {0}")]
    Tls(String),
}

/// Why a request has no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The connection failed; nothing was sent.
    #[error("cannot connect: {0}")]
    Unreachable(String),
    /// The head of the response took too long.
    #[error("no answer within {} ms", .0.as_millis())]
    Slow(Duration),
    /// The request body exceeds its size limit.
    #[error("the request is too large")]
    TooLarge,
    /// The connection broke before the head of the response arrived.
    #[error("the connection broke before the answer: {0}")]
    Broken(String),
}

/// Why the body of a response is incomplete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// The connection broke.
    #[error("the connection to the upstream broke: {0}")]
    Broken(String),
    /// Nothing arrived for too long.
    #[error("the upstream said nothing for {} ms", .0.as_millis())]
    Silent(Duration),
}

impl Client {
    /// Creates a client for HTTP/1.1 with this connect timeout. With `tls`, it trusts the certificates in `ca_file`, or those that the
    /// machine trusts if `ca_file` is `None`.
    ///
    /// # Errors
    /// There are no trusted certificates, or TLS cannot be set up.
    pub fn new(connect_timeout: Duration, tls: bool, ca_file: Option<&Path>) -> Result<Self, ClientError> {
        Self::speaking(HttpVersion::One, connect_timeout, tls, ca_file)
    }

    /// Creates a client for a version of HTTP.
    ///
    /// # Errors
    /// As for [`Client::new`].
    pub fn speaking(
        version: HttpVersion,
        connect_timeout: Duration,
        tls: bool,
        ca_file: Option<&Path>,
    ) -> Result<Self, ClientError> {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect_timeout));
        tcp.set_keepalive(Some(Duration::from_secs(60)));
        let inner = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(HEAD_BYTES)
            .http2_only(version == HttpVersion::Two)
            .http2_max_header_list_size(HEAD_BYTES as u32)
            .build(connector(tcp, version, tls, ca_file)?);
        Ok(Self { inner })
    }

    /// Sends a request and waits up to `head_timeout` for the head of the response. Dropping the future or the response body
    /// abandons the connection.
    ///
    /// # Errors
    /// Why there is no response.
    pub async fn send(
        &self,
        mut request: Request<Body>,
        head_timeout: Duration,
    ) -> Result<Response<Incoming>, NoAnswer> {
        request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        match tokio::time::timeout(head_timeout, self.inner.request(request)).await {
            Err(_) => Err(NoAnswer::Slow(head_timeout)),
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if is_too_large(&error) => Err(NoAnswer::TooLarge),
            Ok(Err(error)) if error.is_connect() => Err(NoAnswer::Unreachable(causes(&error))),
            Ok(Err(error)) => Err(NoAnswer::Broken(causes(&error))),
        }
    }
}

/// The next bytes of a body; `None` at its end.
///
/// # Errors
/// Why no more bytes arrive.
pub async fn next(body: &mut Incoming, idle: Option<Duration>) -> Result<Option<Bytes>, Lost> {
    loop {
        let frame = match idle {
            None => body.frame().await,
            Some(limit) => tokio::time::timeout(limit, body.frame()).await.map_err(|_| Lost::Silent(limit))?,
        };
        match frame {
            None => return Ok(None),
            Some(Err(error)) => return Err(Lost::Broken(causes(&error))),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data()
                    && !data.is_empty()
                {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// A body whose bytes are all available.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

fn is_too_large(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.is::<LengthLimitError>() {
            return true;
        }
        next = error.source();
    }
    false
}

/// An error and its causes in one line.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = cause.source();
    }
    text
}
