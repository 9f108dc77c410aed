//! The HTTP client with which the proxy reaches out to upstreams.
//!
//! In: a request. Out: the head of its answer, and the body as it comes; or why there is none. Never: a redirect followed, a
//! body decompressed, a request sent twice (one that found its connection closed before a byte of it was sent is put on
//! another), a wait without a bound, a secret in an error.
//!
//! HTTP/1.1 over plain TCP or TLS. Connections that are idle are kept for a while, and used again.

mod headers;

pub use headers::{AllowList, NotAllowed};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError};
use hyper::body::Incoming;
use hyper::header::{ACCEPT_ENCODING, HeaderValue};
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// What a request carries.
pub type Body = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// How long a connection that is idle is kept.
const IDLE: Duration = Duration::from_secs(30);

/// How many of them are kept for each host.
const IDLE_CONNECTIONS: usize = 32;

/// The largest head of an answer, in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// Sends requests.
#[derive(Clone, Debug)]
pub struct Client {
    inner: legacy::Client<HttpsConnector<HttpConnector>, Body>,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The file of certificates is of no use.
    #[error("{}: {message}", .path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// TLS is to be spoken, and there is nobody to trust.
    #[error("the machine has no certificates of authorities that could be trusted (ca_file names a file with some){0}")]
    NoRoots(String),
    /// The TLS library does not work.
    #[error("TLS cannot be spoken: {0}")]
    Tls(String),
}

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// There is no connection: nothing was sent.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// Its head took too long.
    #[error("it did not answer within {} ms", .0.as_millis())]
    Slow(Duration),
    /// The request's own body is larger than it may be.
    #[error("the request is larger than it may be")]
    TooLarge,
    /// The connection broke before the head was there.
    #[error("the connection broke before it answered: {0}")]
    Broken(String),
}

/// Why the body of an answer is not whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Lost {
    /// The connection broke.
    #[error("the connection to the upstream broke: {0}")]
    Broken(String),
    /// Nothing came for too long.
    #[error("the upstream said nothing for {} ms", .0.as_millis())]
    Silent(Duration),
}

impl Client {
    /// A client that waits so long for a connection. With `tls`, it trusts the certificates of `ca_file`, or those that the
    /// machine trusts where none is named.
    ///
    /// # Errors
    /// There is nobody to trust.
    pub fn new(connect_timeout: Duration, tls: bool, ca_file: Option<&Path>) -> Result<Self, ClientError> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| ClientError::Tls(error.to_string()))?;
        let roots = if tls { roots(ca_file)? } else { RootCertStore::empty() };
        let config = builder.with_root_certificates(roots).with_no_client_auth();
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect_timeout));
        tcp.set_keepalive(Some(Duration::from_secs(60)));
        let connector = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1();
        let inner = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .http1_max_buf_size(HEAD_BYTES)
            .build(connector.wrap_connector(tcp));
        Ok(Self { inner })
    }

    /// Sends a request, and waits that long for the head of its answer. Dropping the future, or the answer's body, gives the
    /// connection up.
    ///
    /// # Errors
    /// Why there is no answer.
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
            Ok(Err(error)) if error.is_connect() => Err(NoAnswer::Unreachable(told(&error))),
            Ok(Err(error)) => Err(NoAnswer::Broken(told(&error))),
        }
    }
}

/// The next bytes of a body; `None` at its end.
///
/// # Errors
/// Why no more come.
pub async fn next(body: &mut Incoming, idle: Option<Duration>) -> Result<Option<Bytes>, Lost> {
    loop {
        let frame = match idle {
            None => body.frame().await,
            Some(limit) => tokio::time::timeout(limit, body.frame()).await.map_err(|_| Lost::Silent(limit))?,
        };
        match frame {
            None => return Ok(None),
            Some(Err(error)) => return Err(Lost::Broken(told(&error))),
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

/// A body that is there already.
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

/// An error and what it comes of, in one line.
fn told(error: &dyn Error) -> String {
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

/// The certificates of a file, or those that the machine trusts.
pub(crate) fn roots(ca_file: Option<&Path>) -> Result<RootCertStore, ClientError> {
    let mut store = RootCertStore::empty();
    let Some(path) = ca_file else {
        let found = rustls_native_certs::load_native_certs();
        store.add_parsable_certificates(found.certs);
        if store.is_empty() {
            let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
            return Err(ClientError::NoRoots(why));
        }
        return Ok(store);
    };
    let wrong = |message: String| ClientError::Roots { path: path.to_owned(), message };
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| wrong(format!("cannot be read as PEM: {error}")))?;
    for certificate in certificates {
        store.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    if store.is_empty() {
        return Err(wrong("there is no \"BEGIN CERTIFICATE\" in it".to_owned()));
    }
    Ok(store)
}
