//! Exports spans of runs, turns and tools to an OpenTelemetry collector, by OTLP over HTTP (feature `otel`).
//!
//! Input: frames as the log keeps them. Output: ended spans, in batches, to the collector. Never: an ingest that waits for the
//! collector; content (a prompt, text, argument or output) unless the settings ask for it; an error message. A span that finds the queue
//! full is dropped and counted.
//!
//! The modules `attributes`, `fold` and `content` do no I/O.

mod attributes;
mod collector;
mod content;
mod fold;
mod sender;

pub(crate) use collector::{Collector, Refused};
pub(crate) use fold::{Bounds, Open};
pub(crate) use opentelemetry_proto::tonic::trace::v1::Span;
pub use sender::Sending;

use super::Watcher;
use super::metrics::Metrics;
use crate::client::ClientError;
use crate::config::Otlp;
use framegate_translators::frame::Frame;
use prost::Message;
use sender::Queue;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// The variable with a list of headers cannot be used.
    #[error("otlp: the headers of the variable {0}: {1}")]
    HeaderList(String, String),
}

/// Turns frames into spans and queues them for export.
pub struct Spans {
    open: Mutex<Open>,
    queue: Queue,
    metrics: Arc<Metrics>,
    bounds: Bounds,
}

/// Starts exporting spans to the configured collector. Must be called within a runtime.
///
/// # Errors
/// Why the export cannot start.
pub fn start(settings: &Otlp, metrics: Arc<Metrics>) -> Result<(Arc<Spans>, Sending), SpansError> {
    let (queue, sending) = sender::start(Collector::new(settings)?, settings, metrics.clone());
    let bounds = Bounds::of(settings);
    let open = Mutex::new(Open::new(bounds));
    Ok((Arc::new(Spans { open, queue, metrics, bounds }), sending))
}

impl Watcher for Spans {
    fn kept(&self, frames: &[Arc<Frame>]) {
        if !frames.iter().any(|frame| self.bounds.matters(frame)) {
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
            self.queue.push(span);
        }
    }
}

/// The size of a span in a request, before compression.
pub(crate) fn size_of(span: &Span) -> usize {
    span.encoded_len()
}
