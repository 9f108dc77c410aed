//! Requests to a proxy.
//!
//! Input: a URL, perhaps a token, and what to do. Output: the proxy's answer as JSON, or why there is none. Never: a run that is started
//! twice, because a request that is sent again has the same `Idempotency-Key`; a token in an error; an answer of unbounded size.

use super::follow::Events;
use super::{Failure, nesting};
use crate::client::{Client, full, retry_after};
use crate::clock::Clock;
use anyhow::{Context, bail};
use framegate_translators::contracts::Contract;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;

/// The time for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The time for the head of an answer. The proxy itself limits how long a runner may take to begin a run, which is an hour at most.
const ANSWER: Duration = Duration::from_secs(3700);

/// The time for an ingest, from its beginning to its answer.
const INGEST: Duration = Duration::from_secs(7 * 86_400);

/// Size limit for an answer, in bytes.
const ANSWER_BYTES: usize = 64 << 20;

/// How often a request is sent.
const TRIES: usize = 4;

/// The longest time that is waited before a request is sent again.
const PAUSE: Duration = Duration::from_secs(5);

/// What to start.
#[derive(Clone, Debug, Default, Serialize)]
pub(in crate::cli) struct Order {
    /// The name of the upstream.
    pub(in crate::cli) upstream: String,
    /// The prompt.
    pub(in crate::cli) prompt: String,
    /// The files that belong to the prompt, as `POST /v1/runs` takes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::cli) files: Vec<Value>,
    /// The session that goes on; `None` for a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) session_id: Option<String>,
    /// The directory of the run; `None` for that of the upstream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) cwd: Option<String>,
    /// The model; `None` for that of the upstream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) model: Option<String>,
    /// The mode of its runner; `None` for that of the upstream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) mode: Option<String>,
}

/// A started run.
#[derive(Clone, Debug, serde::Deserialize)]
pub(in crate::cli) struct Started {
    /// The run's id.
    pub(in crate::cli) run_id: Uuid,
    /// The session's id.
    pub(in crate::cli) session_id: Uuid,
}

/// A proxy.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Proxy {
    client: Client,
    /// The URL without a slash at its end.
    base: String,
    authorization: Option<HeaderValue>,
}

impl Proxy {
    /// The proxy at a URL.
    ///
    /// # Errors
    /// The URL, the token or the certificates cannot be used.
    pub(super) fn at(url: &str, token: Option<&str>, ca_file: Option<&Path>) -> anyhow::Result<Self> {
        let parsed: Uri = url.parse().with_context(|| format!("invalid URL {url:?}"))?;
        let scheme = parsed.scheme_str().unwrap_or_default();
        if !matches!(scheme, "http" | "https") || parsed.host().is_none_or(str::is_empty) || parsed.query().is_some() {
            bail!("invalid URL {url:?}: use http://HOST:PORT or https://HOST:PORT");
        }
        let authorization = token.map(|token| {
            let mut value = HeaderValue::try_from(format!("Bearer {token}"))
                .context("the token has characters that a header cannot have")?;
            value.set_sensitive(true);
            anyhow::Ok(value)
        });
        let client = Client::new(CONNECT, scheme == "https", ca_file)?;
        Ok(Self { client, base: url.trim_end_matches('/').to_owned(), authorization: authorization.transpose()? })
    }

    /// Starts a run.
    ///
    /// # Errors
    /// Why there is no run.
    pub(in crate::cli) async fn start(&self, order: &Order) -> Result<Started, Failure> {
        let order = serde_json::to_value(order).map_err(|error| Failure::Strange(error.to_string()))?;
        let status = self.post("/v1/runs", &order).await?;
        serde_json::from_value(status).map_err(|error| Failure::Strange(error.to_string()))
    }

    /// Answers a question; `decision` is the body of the request.
    ///
    /// # Errors
    /// Why the answer was not passed on. 409 means that the question is over.
    pub(in crate::cli) async fn decide(&self, run: Uuid, approval: &str, decision: &Value) -> Result<(), Failure> {
        let approval = percent_encoding::utf8_percent_encode(approval, percent_encoding::NON_ALPHANUMERIC);
        self.post(&format!("/v1/runs/{run}/approvals/{approval}"), decision).await.map(drop)
    }

    /// Interrupts a run.
    ///
    /// # Errors
    /// Why the request was not passed on. 409 means that the run has ended.
    pub(in crate::cli) async fn interrupt(&self, run: Uuid) -> Result<(), Failure> {
        self.post(&format!("/v1/runs/{run}/interrupt"), &json!({})).await.map(drop)
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// Why there is none.
    pub(in crate::cli) async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.json(Method::GET, path, None).await
    }

    /// Sends what a runner has written. The request is not sent again: its body is not kept.
    ///
    /// # Errors
    /// Why the proxy has not taken it to its end.
    pub(in crate::cli) async fn ingest(&self, path: &str, body: crate::client::Body) -> Result<Value, Failure> {
        let mut request = self.request(Method::POST, path)?;
        *request.body_mut() = body;
        // The answer comes when the body is over, which may be long after its beginning.
        let response = self.client.send(request, INGEST).await?;
        if !response.status().is_success() {
            return Err(refusal(response).await);
        }
        let body = bytes(response).await?;
        nesting::read(&body).map_err(|error| Failure::Strange(error.to_string()))
    }

    /// The events of a run in a contract, from the first one. `options` is the rest of the query, such as `user_messages=1`.
    pub(in crate::cli) fn events(&self, run: Uuid, contract: &Contract, options: &str) -> Events {
        let more = if options.is_empty() { "" } else { "&" };
        Events::new(self.clone(), format!("/v1/runs/{run}/events?contract={}{more}{options}", contract.name))
    }

    /// The events of all runs from now on, of these types. A question that waits is repeated.
    pub(in crate::cli) fn feed(&self, contract: &Contract, types: &[&str]) -> Events {
        let (contract, types) = (contract.name, types.join(","));
        Events::new(self.clone(), format!("/v1/events?contract={contract}&after=latest&event_type={types}"))
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.json(Method::POST, path, Some(body)).await
    }

    /// Sends a request, and sends it again if the connection failed or the proxy is busy.
    async fn json(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let key = body.map(|_| format!("\"{}\"", Clock::System.new_id()));
        let body = body.map(Value::to_string);
        let mut tries = 1;
        loop {
            let mut request = self.request(method.clone(), path)?;
            if let (Some(body), Some(key)) = (&body, &key) {
                let key = HeaderValue::try_from(key.as_str()).map_err(|error| Failure::Strange(error.to_string()))?;
                request.headers_mut().insert(IDEMPOTENCY_KEY, key);
                request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                *request.body_mut() = full(body.clone());
            }
            let failure = match self.once(request).await {
                Err(failure) if failure.is_passing() && tries < TRIES => failure,
                answer => return answer,
            };
            tries += 1;
            tokio::time::sleep(failure.later().unwrap_or(Duration::from_millis(300)).min(PAUSE)).await;
        }
    }

    async fn once(&self, request: Request<crate::client::Body>) -> Result<Value, Failure> {
        let response = self.client.send(request, ANSWER).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(refusal(response).await);
        }
        let body = bytes(response).await?;
        nesting::read(&body).map_err(|error| Failure::Strange(format!("{status}, {error}")))
    }

    /// Opens an event stream after the event with this id. `None`: nothing more will come.
    pub(super) async fn stream(&self, path: &str, after: Option<&HeaderValue>) -> Result<Option<Incoming>, Failure> {
        let mut request = self.request(Method::GET, path)?;
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(after) = after {
            request.headers_mut().insert(LAST_EVENT_ID, after.clone());
        }
        let response = self.client.send(request, CONNECT * 3).await?;
        match response.status() {
            StatusCode::OK => Ok(Some(response.into_body())),
            StatusCode::NO_CONTENT => Ok(None),
            _ => Err(refusal(response).await),
        }
    }

    fn request(&self, method: Method, path: &str) -> Result<Request<crate::client::Body>, Failure> {
        let mut request = Request::new(full(Vec::new()));
        *request.method_mut() = method;
        *request.uri_mut() =
            format!("{}{path}", self.base).parse().map_err(|_| Failure::Strange(format!("the path {path:?}")))?;
        if let Some(authorization) = &self.authorization {
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }
}

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

async fn bytes(response: Response<Incoming>) -> Result<Vec<u8>, Failure> {
    let collected = Limited::new(response.into_body(), ANSWER_BYTES).collect().await;
    let body = collected.map_err(|error| Failure::Lost(crate::client::Lost::Broken(error.to_string())))?;
    Ok(body.to_bytes().into())
}

async fn refusal(response: Response<Incoming>) -> Failure {
    let pause = retry_after(response.headers(), Clock::System.now_ms());
    let status = response.status();
    // Without the body, the status is the reason.
    let body = bytes(response).await.unwrap_or_default();
    Failure::of(status, pause, &body)
}
