//! One endpoint, ready to be used: its secrets are read, and its certificates are known.
//!
//! Input: the settings of an endpoint; an event. Output: whether the endpoint is notified of the event; the answer to an attempt. Never: a redirect
//! that is followed; a secret in an error.

use super::event::{Event, Note};
use super::outbox::Bounds;
use super::retry::{Answer, Backoff};
use super::sign::{Secret, signatures};
use crate::client::{Client, ClientError, full, next, retry_after};
use crate::clock::Clock;
use crate::config::webhooks::{Endpoint, EventKind};
use crate::runs::RunStatus;
use crate::runs::labels::{Label, Labels};
use framegate_translators::runners::runner;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use hyper::{Request, Uri};
use std::path::Path;
use std::time::Duration;

/// How many bytes of an answer's body are read, so that its connection can be used again.
const ANSWER_BYTES: usize = 64 << 10;

/// Why an endpoint cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("webhooks, endpoint {name:?}, {problem}")]
pub struct TargetError {
    name: String,
    problem: String,
}

/// One endpoint.
#[derive(Debug)]
pub struct Target {
    pub(super) name: String,
    url: Uri,
    secrets: Vec<Secret>,
    client: Client,
    timeout: Duration,
    kinds: Vec<EventKind>,
    filters: Filters,
    pub(super) approval_delay: Duration,
    pub(super) attempts: u32,
    pub(super) backoff: Backoff,
    pub(super) max_age_ms: u64,
    pub(super) bounds: Bounds,
}

/// Whose runs count.
#[derive(Debug)]
struct Filters {
    upstreams: Vec<String>,
    runners: Vec<&'static str>,
    labels: Vec<Label>,
}

impl Filters {
    fn admit(&self, run: &RunStatus, upstream: Option<&str>) -> bool {
        let is_of_upstream = |name: &str| self.upstreams.iter().any(|known| known == name);
        (self.upstreams.is_empty() || upstream.is_some_and(is_of_upstream))
            && (self.runners.is_empty() || self.runners.contains(&run.runner))
            && run.labels.have(&self.labels)
    }
}

impl Target {
    /// Reads the secrets and certificates of an endpoint.
    ///
    /// # Errors
    /// One of them cannot be used.
    pub fn read(endpoint: &Endpoint) -> Result<Self, TargetError> {
        Self::of(endpoint).map_err(|problem| TargetError { name: endpoint.name.clone(), problem })
    }

    fn of(endpoint: &Endpoint) -> Result<Self, String> {
        let ms = Duration::from_millis;
        let url: Uri = endpoint.url.parse().map_err(|_| "url: is not a URL".to_owned())?;
        let ca_file = Some(endpoint.ca_file.as_path()).filter(|path| !path.as_os_str().is_empty());
        let has_tls = url.scheme_str() == Some("https");
        let client = Client::new(ms(endpoint.connect_timeout_ms), has_tls, ca_file);
        let labels = Labels::of_map(&endpoint.labels).map_err(|error| format!("labels: {error}"))?;
        Ok(Self {
            name: endpoint.name.clone(),
            url,
            secrets: secrets(endpoint)?,
            client: client.map_err(|error: ClientError| format!("ca_file: {error}"))?,
            timeout: ms(endpoint.timeout_ms),
            kinds: endpoint.events.iter().filter_map(|name| EventKind::find(name)).collect(),
            filters: Filters {
                upstreams: endpoint.upstreams.clone(),
                runners: endpoint.runners.iter().filter_map(|name| Some(runner(name)?.name)).collect(),
                labels: labels.iter().cloned().collect(),
            },
            approval_delay: ms(endpoint.approval_delay_ms),
            attempts: endpoint.attempts,
            backoff: Backoff { least: ms(endpoint.backoff_min_ms), most: ms(endpoint.backoff_max_ms) },
            max_age_ms: endpoint.max_age_ms,
            bounds: Bounds { deliveries: endpoint.queue, requests: endpoint.max_requests },
        })
    }

    /// Whether the endpoint is notified.
    pub(super) fn wants(&self, note: &Note, run: &RunStatus, upstream: Option<&str>) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&note.kind)) && self.filters.admit(run, upstream)
    }

    /// Sends an event once.
    pub(super) async fn post(&self, event: &Event) -> Answer {
        let timestamp = (Clock::System.now_ms() / 1000).to_string();
        let request = Request::post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, concat!("framegate/", env!("CARGO_PKG_VERSION")))
            .header("webhook-id", &event.id)
            .header("webhook-timestamp", &timestamp)
            .header("webhook-signature", signatures(&self.secrets, &event.id, &timestamp, &event.body))
            .body(full(event.body.clone()));
        let request = match request {
            Ok(request) => request,
            Err(error) => return Answer::Nothing(format!("the request cannot be written: {error}")),
        };
        match self.client.send(request, self.timeout).await {
            Err(error) => Answer::Nothing(error.to_string()),
            Ok(response) => {
                let (head, mut body) = response.into_parts();
                let asked = retry_after(&head.headers, Clock::System.now_ms());
                // The status is known. What follows it only decides whether the connection is used again.
                let mut left = ANSWER_BYTES;
                let rest = async {
                    while let Ok(Some(bytes)) = next(&mut body, None).await {
                        left = left.saturating_sub(bytes.len());
                        if left == 0 {
                            break;
                        }
                    }
                };
                let _ = tokio::time::timeout(self.timeout, rest).await;
                Answer::Status(head.status.as_u16(), asked)
            }
        }
    }
}

fn secrets(endpoint: &Endpoint) -> Result<Vec<Secret>, String> {
    let of_file = |path: &Path| {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        Secret::read(&text).map_err(|error| format!("{shown} {error}"))
    };
    let of_variable = |name: &String| {
        let text = std::env::var(name).map_err(|_| format!("there is no environment variable {name}"))?;
        Secret::read(&text).map_err(|error| format!("{name} {error}"))
    };
    let files = endpoint.secret_files.iter().map(|path| of_file(path).map_err(|why| format!("secret_files: {why}")));
    let variables =
        endpoint.secret_env.iter().map(|name| of_variable(name).map_err(|why| format!("secret_env: {why}")));
    files.chain(variables).collect()
}
