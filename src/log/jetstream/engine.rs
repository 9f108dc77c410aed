//! The connection to the servers, and requests to their API.
//!
//! Input: subjects, messages and requests. Output: the servers' answers, or that there was none in time. Never: a wait longer than
//! the timeout of a request, or an error of the servers that is taken for an answer.

use super::names::Names;
use super::{JetstreamOptions, Role, StorageKind, access};
use crate::log::LogError;
use async_nats::connection::State;
use async_nats::{Client, Event, HeaderMap, Message, Request, RequestErrorKind};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A connection.
pub(super) struct Engine {
    pub(super) client: Client,
    pub(super) names: Names,
    pub(super) replicas: usize,
    pub(super) storage: StorageKind,
    /// How long a request may take.
    pub(super) timeout: Duration,
    /// How long to wait for servers that do not answer.
    pub(super) patience: Duration,
    /// Whether nothing is written.
    pub(super) is_read_only: bool,
    servers: String,
    pub(super) seen: Arc<Seen>,
}

/// What the connection went through, for metrics.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) disconnects: AtomicU64,
    pub(super) slow: AtomicU64,
    /// Whether the last append or request was answered.
    pub(super) silent: AtomicBool,
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The servers did not answer: it is unknown whether they did what was asked.
    Silent(String),
    /// Nothing has subscribed to the subject, so the request was not delivered.
    Undelivered,
    /// The servers refused.
    Refused(ApiError),
    /// The answer cannot be read.
    Odd(String),
}

/// An error that the servers report.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ApiError {
    pub(super) code: u32,
    #[serde(default)]
    pub(super) err_code: u32,
    #[serde(default)]
    pub(super) description: String,
}

/// The message of [`Failure::Undelivered`].
const UNDELIVERED: &str = "nothing answers at this subject";

/// The stream, or the message, does not exist.
pub(super) const NOT_FOUND: u32 = 404;

impl ApiError {
    /// Whether the server's replicas have no leader at the moment, or the request met a change of leaders.
    pub(super) fn is_passing(&self) -> bool {
        // 10008 and 10009: the cluster does not answer, or has no quorum. 10074 and 10118: the leader changes.
        self.code == 503 && matches!(self.err_code, 10008 | 10009 | 10074 | 10118) || self.err_code == 10005
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}/{})", self.description, self.code, self.err_code)
    }
}

impl Engine {
    /// Connects to the first server that answers.
    ///
    /// # Errors
    /// None answers in time, or the credentials or certificates cannot be used.
    pub(super) async fn connect(options: &JetstreamOptions) -> Result<Self, LogError> {
        let servers = options.servers.join(",");
        let failed = |detail: String| LogError::Servers { servers: servers.clone(), detail };
        let seen = Arc::new(Seen::default());
        let connecting = access::connect_options(options).await.map_err(failed)?;
        let noting = seen.clone();
        let connecting = connecting.event_callback(move |event| {
            let seen = noting.clone();
            async move { note(&seen, &event) }
        });
        let addresses: Result<Vec<async_nats::ServerAddr>, _> = options.servers.iter().map(|url| url.parse()).collect();
        let addresses = addresses.map_err(|error: std::io::Error| failed(error.to_string()))?;
        let connected = tokio::time::timeout(options.patience, connecting.connect(addresses)).await;
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(_) => return Err(failed("none of them answers".to_owned())),
        };
        Ok(Self {
            client,
            names: Names::new(&options.prefix),
            replicas: options.replicas,
            storage: options.storage,
            timeout: options.timeout,
            patience: options.patience,
            is_read_only: options.role == Role::Observer,
            servers,
            seen,
        })
    }

    /// Whether there is a connection to a server.
    pub(super) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// The log's error for a request that failed.
    pub(super) fn error(&self, failure: &Failure) -> LogError {
        let detail = match failure {
            Failure::Silent(why) | Failure::Odd(why) => why.clone(),
            Failure::Undelivered => UNDELIVERED.to_owned(),
            Failure::Refused(error) => error.to_string(),
        };
        match failure {
            Failure::Refused(error) if !error.is_passing() => {
                LogError::Servers { servers: self.servers.clone(), detail }
            }
            Failure::Odd(_) => LogError::Servers { servers: self.servers.clone(), detail },
            _ => LogError::Unreachable { servers: self.servers.clone(), detail },
        }
    }

    /// The error for a log that does not exist.
    pub(super) fn absent(&self, prefix: &str) -> LogError {
        LogError::Absent { servers: self.servers.clone(), prefix: prefix.to_owned() }
    }

    /// Where the log is, for messages.
    pub(super) fn place(&self) -> String {
        format!("{} at {}", self.names.frames_stream(), self.servers)
    }

    /// Checks that this process may write.
    ///
    /// # Errors
    /// It only reads.
    pub(super) fn check_writable(&self) -> Result<(), Failure> {
        if self.is_read_only {
            return Err(Failure::Odd("the log was opened for reading only".to_owned()));
        }
        Ok(())
    }

    /// A request to a subject, and the answer.
    pub(super) async fn ask(
        &self,
        subject: String,
        headers: Option<HeaderMap>,
        payload: Bytes,
    ) -> Result<Message, Failure> {
        let answer = self.ask_within(self.timeout, subject, headers, payload).await;
        self.seen.silent.store(answer.is_err(), Ordering::Relaxed);
        answer
    }

    /// As [`Engine::ask`], with a time limit, to a recipient that need not be a server.
    pub(super) async fn ask_within(
        &self,
        limit: Duration,
        subject: String,
        headers: Option<HeaderMap>,
        payload: Bytes,
    ) -> Result<Message, Failure> {
        let request = Request::new().payload(payload).timeout(Some(limit));
        let request = match headers {
            Some(headers) => request.headers(headers),
            None => request,
        };
        let answer = self.client.send_request(subject, request).await;
        answer.map_err(|error| match error.kind() {
            RequestErrorKind::MaxPayloadExceeded | RequestErrorKind::InvalidSubject => Failure::Odd(error.to_string()),
            RequestErrorKind::TimedOut => Failure::Silent(format!("no answer within {} ms", limit.as_millis())),
            RequestErrorKind::NoResponders => Failure::Undelivered,
            RequestErrorKind::Other => Failure::Silent(error.to_string()),
        })
    }

    /// A request to JetStream's API.
    pub(super) async fn api(&self, what: &str, body: &Value) -> Result<Value, Failure> {
        let payload = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let answer = self.ask(format!("$JS.API.{what}"), None, payload).await?;
        let answer: Value = read(&answer.payload)?;
        match answer.get("error") {
            Some(error) => match serde_json::from_value(error.clone()) {
                Ok(error) => Err(Failure::Refused(error)),
                Err(_) => Err(Failure::Odd(format!("an error that cannot be read: {error}"))),
            },
            None => Ok(answer),
        }
    }

    /// As [`Engine::api`], repeated while the servers do not answer, for as long as the configuration allows.
    pub(super) async fn api_patiently(&self, what: &str, body: &Value) -> Result<Value, Failure> {
        self.patiently(|| self.api(what, body)).await
    }

    /// Repeats what can be repeated while the servers do not answer, for as long as the configuration allows.
    pub(super) async fn patiently<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<T, Failure> {
        let (begun, mut pause) = (crate::clock::Moment::now(), PAUSE.0);
        loop {
            match attempt().await {
                Err(failure) if is_passing(&failure) && begun.elapsed() + pause < self.patience => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE.1);
                }
                done => return done,
            }
        }
    }

    /// The sequence of the last message that a stream got, from its leader.
    pub(super) async fn last_sequence(&self, stream: &str) -> Result<u64, Failure> {
        let info = self.api(&format!("STREAM.INFO.{stream}"), &Value::Null).await?;
        number(&info, "/state/last_seq")
    }

    /// The subjects of a stream that match the filter.
    pub(super) async fn subjects(&self, stream: &str, filter: &str) -> Result<Vec<String>, Failure> {
        let (what, mut found) = (format!("STREAM.INFO.{stream}"), Vec::new());
        loop {
            let body = json!({"subjects_filter": filter, "offset": found.len()});
            let info = self.api_patiently(&what, &body).await?;
            let page = info.pointer("/state/subjects").and_then(Value::as_object);
            let Some(page) = page.filter(|page| !page.is_empty()) else { return Ok(found) };
            found.extend(page.keys().cloned());
            let total = info.get("total").and_then(Value::as_u64).unwrap_or_default();
            if found.len() as u64 >= total {
                return Ok(found);
            }
        }
    }

    /// Removes the messages of a subject, with `before` only those before that sequence.
    pub(super) async fn purge(&self, stream: &str, subject: &str, before: Option<u64>) -> Result<(), Failure> {
        self.check_writable()?;
        let body = match before {
            Some(seq) => json!({"filter": subject, "seq": seq}),
            None => json!({"filter": subject}),
        };
        self.api_patiently(&format!("STREAM.PURGE.{stream}"), &body).await.map(drop)
    }
}

/// The first and the longest pause before a request is repeated.
pub(super) const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// Whether the request may succeed a little later.
pub(super) fn is_passing(failure: &Failure) -> bool {
    match failure {
        Failure::Silent(_) | Failure::Undelivered => true,
        Failure::Refused(error) => error.is_passing(),
        Failure::Odd(_) => false,
    }
}

/// Reads an answer.
pub(super) fn read<T: for<'de> Deserialize<'de>>(payload: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(payload).map_err(|error| Failure::Odd(format!("an answer that cannot be read: {error}")))
}

/// A number in an answer.
pub(super) fn number(answer: &Value, at: &str) -> Result<u64, Failure> {
    let found = answer.pointer(at).and_then(Value::as_u64);
    found.ok_or_else(|| Failure::Odd(format!("an answer without {at}")))
}

fn note(seen: &Seen, event: &Event) {
    match event {
        Event::Connected => tracing::info!("connected to a NATS server"),
        Event::Disconnected => {
            seen.disconnects.fetch_add(1, Ordering::Relaxed);
            tracing::warn!("the connection to the NATS server is lost; trying to connect again");
        }
        Event::SlowConsumer(_) => {
            seen.slow.fetch_add(1, Ordering::Relaxed);
            tracing::warn!("messages from the NATS server were not read in time and are read again");
        }
        Event::Draining | Event::Closed => tracing::debug!("the connection to the NATS server is closed"),
        other => tracing::warn!(event = %other, "the NATS client reports an event"),
    }
}
