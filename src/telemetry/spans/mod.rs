//! Exports spans of runs, turns and tools to an OpenTelemetry collector, by OTLP over HTTP (feature `otel`).
//!
//! Input: frames as the log keeps them. Output: ended spans, in batches, to the collector. Never: a payload (no prompt, text,
//! argument, output or error message); an ingest that waits for the collector. A span that finds the queue full is dropped
//! and counted.
//!
//! The SDK's own batch processor is not used because it does not report what it drops.

mod client;
mod fold;

use super::Watcher;
use super::metrics::Metrics;
use crate::client::{Client, ClientError};
use crate::config::Otlp;
use client::Collector;
use fold::Open;
use framegate_translators::frame::Frame;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::KeyValue;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How often a batch is tried.
const ATTEMPTS: u32 = 3;

/// Why spans cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpansError {
    /// The HTTP client could not be created: there are no trusted certificates, or TLS does not work.
    #[error("otlp: {0}")]
    Client(#[from] ClientError),
    /// The value of a header is not available.
    #[error("otlp: the header {0:?}: {1}")]
    Header(String, String),
    /// The exporter rejects the settings, or its environment variables.
    #[error("otlp: {0}")]
    Exporter(String),
}

/// Turns frames into spans and queues them for export.
pub struct Spans {
    open: Mutex<Open>,
    queue: mpsc::Sender<SpanData>,
    metrics: Arc<Metrics>,
}

/// The task that exports the queued spans.
pub struct Sending {
    stop: CancellationToken,
    task: JoinHandle<()>,
    timeout: Duration,
}

/// Starts exporting spans to the configured collector. Must be called within a runtime.
///
/// # Errors
/// Why the export cannot start.
pub fn start(settings: &Otlp, metrics: Arc<Metrics>) -> Result<(Arc<Spans>, Sending), SpansError> {
    let timeout = Duration::from_millis(settings.timeout_ms);
    let tls = settings.endpoint.starts_with("https:");
    let ca_file = Some(settings.ca_file.as_path()).filter(|path| !path.as_os_str().is_empty());
    let client = Client::new(Duration::from_millis(settings.connect_timeout_ms), tls, ca_file)?;
    let mut exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Collector::new(client, timeout, headers(settings)?))
        .with_endpoint(&settings.endpoint)
        .with_protocol(Protocol::HttpJson)
        .with_timeout(timeout)
        .build()
        .map_err(|error| SpansError::Exporter(error.to_string()))?;
    exporter.set_resource(&resource());
    let (queue, spans) = mpsc::channel(settings.queue_spans.max(1));
    let stop = CancellationToken::new();
    let sender = Sender {
        exporter,
        spans,
        metrics: metrics.clone(),
        stop: stop.clone(),
        most: settings.batch_spans.max(1),
        interval: Duration::from_millis(settings.interval_ms),
        timeout,
    };
    let task = tokio::spawn(sender.run());
    let open = Mutex::new(Open::new(settings.max_open_spans));
    Ok((Arc::new(Spans { open, queue, metrics }), Sending { stop, task, timeout }))
}

impl Watcher for Spans {
    fn kept(&self, frames: &[Arc<Frame>]) {
        if !frames.iter().any(|frame| fold::matters(frame)) {
            return;
        }
        let mut done = Vec::new();
        let refused = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            frames.iter().for_each(|frame| open.frame(frame, &mut done));
            open.take_refused()
        };
        self.metrics.spans_dropped("too_many_open", refused);
        for span in done {
            match self.queue.try_send(span) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => self.metrics.spans_dropped("queue_full", 1),
                Err(TrySendError::Closed(_)) => self.metrics.spans_dropped("stopped", 1),
            }
        }
    }
}

impl Sending {
    /// Exports what is queued, for at most one request timeout, and ends.
    pub async fn stop(self) {
        self.stop.cancel();
        let abort = self.task.abort_handle();
        if tokio::time::timeout(self.timeout, self.task).await.is_err() {
            abort.abort();
            tracing::warn!("the collector did not accept the last spans in time");
        }
    }
}

struct Sender {
    exporter: SpanExporter,
    spans: mpsc::Receiver<SpanData>,
    metrics: Arc<Metrics>,
    stop: CancellationToken,
    most: usize,
    interval: Duration,
    timeout: Duration,
}

impl Sender {
    async fn run(mut self) {
        let mut is_well = true;
        loop {
            let mut batch = Vec::new();
            tokio::select! {
                biased;
                _ = self.spans.recv_many(&mut batch, self.most) => {}
                () = self.stop.cancelled() => {}
            }
            if batch.is_empty() {
                // The queue is empty and the export is stopping.
                return;
            }
            if batch.len() < self.most {
                tokio::select! {
                    () = tokio::time::sleep(self.interval) => {}
                    () = self.stop.cancelled() => {}
                }
                while batch.len() < self.most
                    && let Ok(span) = self.spans.try_recv()
                {
                    batch.push(span);
                }
            }
            is_well = self.send(batch, is_well).await;
        }
    }

    /// Exports a batch with retries, then drops it. Logs an outage once. Returns whether the collector accepted the batch.
    async fn send(&self, batch: Vec<SpanData>, was_well: bool) -> bool {
        let spans = batch.len() as u64;
        for attempt in 1..=ATTEMPTS {
            let error = match tokio::time::timeout(self.timeout, self.exporter.export(batch.clone())).await {
                Ok(Ok(())) => {
                    self.metrics.spans_sent(spans);
                    if !was_well {
                        tracing::info!("the collector accepts spans again");
                    }
                    return true;
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {} ms", self.timeout.as_millis()),
            };
            if attempt == ATTEMPTS || self.stop.is_cancelled() {
                if was_well {
                    tracing::warn!(%error, "the collector does not accept spans; they are dropped and counted");
                }
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(self.interval * attempt) => {}
                () = self.stop.cancelled() => {}
            }
        }
        self.metrics.spans_dropped("not_taken", spans);
        false
    }
}

fn headers(settings: &Otlp) -> Result<HeaderMap, SpansError> {
    let mut headers = HeaderMap::new();
    let mut add = |name: &String, value: Result<String, String>| -> Result<(), SpansError> {
        let checked = value.and_then(|value| {
            let value = HeaderValue::from_str(value.trim()).ok().filter(|value| !value.is_empty());
            value.ok_or_else(|| "the value cannot be sent in a header".to_owned())
        });
        let mut value = checked.map_err(|message| SpansError::Header(name.clone(), message))?;
        value.set_sensitive(true);
        // The configuration has validated the name.
        let parsed = HeaderName::from_bytes(name.as_bytes());
        let parsed = parsed.map_err(|_| SpansError::Header(name.clone(), "it is not a header name".to_owned()))?;
        headers.insert(parsed, value);
        Ok(())
    };
    for (name, path) in &settings.header_files {
        add(name, read(path))?;
    }
    for (name, variable) in &settings.header_env {
        add(
            name,
            std::env::var(variable)
                .map_err(|_| format!("there is no environment variable {variable:?} with a valid value")),
        )?;
    }
    Ok(headers)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn resource() -> Resource {
    Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", "framegate"),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        ])
        .build()
}
