//! Upstreams of kind `responses`: servers of the Responses API that clients reach through the proxy.
//!
//! Input: a client's request. Output: the request for the upstream, with the configured credentials; the upstream's response,
//! byte for byte, while the same bytes become a run. Never passed on: the proxy's own token, a hop-by-hop header, a cookie.
//! Never sent: a second request for one client request.

mod asking;
mod background;
mod bounded_channel;
mod document;
mod in_flight_request;
mod places;
mod reading;
mod starting;

pub use asking::{Asking, Said};
pub use bounded_channel::{BoundedReceiver, Patience, Torn};
pub use in_flight_request::{Answer, InFlightRequest, MakeIngest, Mode, Outcome, Refusal, Signal};
pub use places::NoPlace;
pub use reading::broke_off;
pub use starting::Starting;

use crate::client::{Body, Client, ClientError, NoAnswer};
use crate::headers::Passing;
use background::Background;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, Uri};
use places::Places;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// The kind of these upstreams, as in the configuration.
pub const KIND: &str = "responses";

/// Which credentials a request to the upstream carries.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// None.
    None,
    /// The proxy's own.
    Own {
        /// The header that carries them.
        header: HeaderName,
        /// Its value, marked as sensitive so that it appears in no log line.
        value: HeaderValue,
    },
    /// Those that the client sent for the upstream.
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
    /// The proxy's credentials in the given header: prefixed with the scheme in `Authorization`, unchanged in any other
    /// header.
    ///
    /// # Errors
    /// The secret contains bytes that a header value cannot have.
    pub fn own(header: HeaderName, scheme: &str, secret: &str) -> Result<Self, hyper::header::InvalidHeaderValue> {
        let text = if header == AUTHORIZATION { format!("{scheme} {secret}") } else { secret.to_owned() };
        let mut value = HeaderValue::from_str(&text)?;
        value.set_sensitive(true);
        Ok(Self::Own { header, value })
    }
}

/// The settings of an upstream of this kind.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Name in the configuration.
    pub name: String,
    /// Base URL such as `https://api.openai.com/v1`; `/responses` is appended to it.
    pub url: Uri,
    /// The credentials that requests carry.
    pub credentials: Credentials,
    /// Request headers that pass.
    pub request_headers: Passing,
    /// Response headers that pass.
    pub response_headers: Passing,
    /// File of certificates to trust; `None`: those that the machine trusts.
    pub ca_file: Option<PathBuf>,
    /// Timeout for connecting.
    pub connect_timeout: Duration,
    /// Timeout for the head of a response.
    pub head_timeout: Duration,
    /// Longest silence within a response body; `None`: unlimited.
    pub idle_timeout: Option<Duration>,
    /// Size limit for a request body, in bytes.
    pub max_request_bytes: u64,
    /// Whether the response is cancelled when its client leaves.
    pub cancel_on_disconnect: bool,
    /// How long the proxy waits for a slow client.
    pub patience: Patience,
    /// Whether a response that the proxy has kept is served without asking the upstream.
    pub gives_kept: bool,
    /// Maximum number of connections at a time.
    pub max_connections: usize,
    /// Maximum number of requests that wait for a connection.
    pub max_queued: usize,
    /// How long a request waits for a connection.
    pub queue_timeout: Duration,
}

/// One upstream.
#[derive(Debug)]
pub struct Responses {
    settings: Settings,
    client: Client,
    places: Places,
    background: Arc<Background>,
}

impl Responses {
    /// Creates the upstream. Nothing is sent to it yet.
    ///
    /// # Errors
    /// The client could not be created, for example because there are no trusted certificates.
    pub fn new(settings: Settings) -> Result<Self, ClientError> {
        let tls = settings.url.scheme_str() == Some("https");
        let client = Client::new(settings.connect_timeout, tls, settings.ca_file.as_deref())?;
        let places = Places::new(settings.max_connections, settings.max_queued, settings.queue_timeout);
        Ok(Self { settings, client, places, background: Arc::default() })
    }

    /// The upstream's settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Acquires a connection slot for one more request, immediately or after a wait.
    ///
    /// # Errors
    /// Why no slot is available.
    pub async fn place(&self) -> Result<OwnedSemaphorePermit, NoPlace> {
        self.places.take().await
    }

    /// Records that the upstream deleted a response, so that it no longer counts as continuing there.
    pub fn deleted(&self, id: &str) {
        self.background.forget(id);
    }

    /// Whether a response is known to continue at the upstream after its answer ended.
    pub fn goes_on(&self, id: &str) -> bool {
        self.background.said(id).is_some()
    }

    /// Builds a request to the upstream. `path`, with its query, is appended to the upstream's URL. `own` holds the client's
    /// own credentials for the upstream; they are sent only if [`Credentials::OfTheClient`] is configured.
    ///
    /// # Errors
    /// `path` does not form a valid URI.
    pub fn request(
        &self,
        method: Method,
        path: &str,
        headers: &HeaderMap,
        own: &HeaderMap,
        body: Body,
    ) -> Result<Request<Body>, hyper::http::Error> {
        let base = &self.settings.url;
        let scheme = base.scheme_str().unwrap_or("http");
        let authority = base.authority().map_or("", |authority| authority.as_str());
        let uri = format!("{scheme}://{authority}{}{path}", base.path().trim_end_matches('/'));
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
                for (name, value) in own {
                    to.insert(name.clone(), value.clone());
                }
            }
        }
        Ok(request)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// Why there is no response.
    pub async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, NoAnswer> {
        self.client.send(request, self.settings.head_timeout).await
    }
}
