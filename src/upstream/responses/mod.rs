//! Upstreams of kind `responses`: servers that speak the Responses API, which the proxy stands in front of.
//!
//! In: a client's request. Out: the request for the upstream, with the credentials that are configured; its answer, byte for
//! byte, while the same bytes become a run. Never: a header that is not listed, the proxy's own token, a second request for
//! one of the client's.

mod document;
mod exchange;
mod outlet;
mod reading;
mod starting;

pub use exchange::{Answer, Exchange, MakeIngest, Mode, Outcome, Refusal, Signal};
pub use outlet::{Inlet, Patience, Torn};
pub use reading::LOST;
pub use starting::Starting;

use super::client::{AllowList, Body, Client, ClientError, NoAnswer};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, Uri};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Whose credentials a request to the upstream has.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Nobody's.
    None,
    /// The proxy's.
    Own {
        /// The header that carries them.
        header: HeaderName,
        /// Its value, which no log line has.
        value: HeaderValue,
    },
    /// The client's own.
    OfTheClient,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Own { .. } => "Own",
            Self::OfTheClient => "OfTheClient",
        })
    }
}

impl Credentials {
    /// The proxy's, in that header: in `Authorization` behind the scheme, elsewhere as they are.
    ///
    /// # Errors
    /// The secret cannot stand in a header.
    pub fn own(header: HeaderName, scheme: &str, secret: &str) -> Result<Self, hyper::header::InvalidHeaderValue> {
        let text = if header == AUTHORIZATION { format!("{scheme} {secret}") } else { secret.to_owned() };
        let mut value = HeaderValue::from_str(&text)?;
        value.set_sensitive(true);
        Ok(Self::Own { header, value })
    }
}

/// What an upstream of this kind is set to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name.
    pub name: String,
    /// Where it is, such as `https://api.openai.com/v1`: what `/responses` stands behind.
    pub url: Uri,
    /// Whose credentials requests have.
    pub credentials: Credentials,
    /// Headers of requests that pass.
    pub request_headers: AllowList,
    /// Headers of answers that pass.
    pub response_headers: AllowList,
    /// The certificates to trust; `None`: those that the machine trusts.
    pub ca_file: Option<PathBuf>,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// How long the head of an answer may take.
    pub head_timeout: Duration,
    /// How long an answer may be silent.
    pub idle_timeout: Option<Duration>,
    /// The largest body of a request.
    pub max_request_bytes: u64,
    /// Whether a client that leaves takes its response with it.
    pub cancel_on_disconnect: bool,
    /// How a client is waited for.
    pub patience: Patience,
    /// Whether a response that is kept is given from what is kept.
    pub gives_kept: bool,
    /// Responses at a time.
    pub max_runs: usize,
}

/// One upstream.
#[derive(Debug)]
pub struct Responses {
    settings: Settings,
    client: Client,
    places: Arc<Semaphore>,
}

impl Responses {
    /// The upstream; nothing is sent to it yet.
    ///
    /// # Errors
    /// There is nobody to trust.
    pub fn new(settings: Settings) -> Result<Self, ClientError> {
        let tls = settings.url.scheme_str() == Some("https");
        let client = Client::new(settings.connect_timeout, tls, settings.ca_file.as_deref())?;
        let places = Arc::new(Semaphore::new(settings.max_runs));
        Ok(Self { settings, client, places })
    }

    /// What it is set to.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// A place for one response more; `None` where all are taken.
    pub fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// A request to the upstream. `rest` is what stands behind `/responses`: a path and a query. `credentials` are the
    /// client's own, which go along only where they are to.
    ///
    /// # Errors
    /// The path is none.
    pub fn request(
        &self,
        method: Method,
        rest: &str,
        headers: &HeaderMap,
        credentials: Option<&HeaderValue>,
        body: Body,
    ) -> Result<Request<Body>, hyper::http::Error> {
        let base = &self.settings.url;
        let scheme = base.scheme_str().unwrap_or("http");
        let authority = base.authority().map_or("", |authority| authority.as_str());
        let uri = format!("{scheme}://{authority}{}/responses{rest}", base.path().trim_end_matches('/'));
        let mut request = Request::builder().method(method).uri(uri).body(body)?;
        let to = request.headers_mut();
        self.settings.request_headers.copy(headers, to);
        if let Some(accept) = headers.get(ACCEPT) {
            to.insert(ACCEPT, accept.clone());
        }
        match &self.settings.credentials {
            Credentials::None => {}
            Credentials::Own { header, value } => {
                to.insert(header.clone(), value.clone());
            }
            Credentials::OfTheClient => {
                if let Some(value) = credentials {
                    to.insert(AUTHORIZATION, value.clone());
                }
            }
        }
        Ok(request)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, NoAnswer> {
        self.client.send(request, self.settings.head_timeout).await
    }
}
