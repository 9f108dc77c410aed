//! The queue of ended spans, and the task that sends them.
//!
//! Input: ended spans. Output: batches, to the collector. Never: a caller that waits; more spans or bytes in the queue than its bounds. What
//! does not fit, and what the collector does not take after its attempts, is dropped and counted.

use super::collector::{Batch, Collector, Refused};
use super::{Span, size_of};
use crate::config::Otlp;
use crate::telemetry::metrics::Metrics;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How often a batch is tried.
const ATTEMPTS: u32 = 3;
/// The longest pause between two attempts, even if the collector asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Accepts ended spans.
pub(super) struct Queue {
    spans: mpsc::Sender<Span>,
    bytes: Arc<AtomicUsize>,
    most_bytes: usize,
    metrics: Arc<Metrics>,
}

/// The task that exports the queued spans.
pub struct Sending {
    stop: CancellationToken,
    task: JoinHandle<()>,
    timeout: Duration,
}

struct Sender {
    collector: Collector,
    spans: mpsc::Receiver<Span>,
    /// The bytes of the spans in the queue.
    bytes: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
    stop: CancellationToken,
    most: usize,
    most_bytes: usize,
    interval: Duration,
    /// Whether the last batch was accepted, so that an outage is logged once.
    is_well: bool,
}

/// Starts the task. Must be called within a runtime.
pub(super) fn start(collector: Collector, settings: &Otlp, metrics: Arc<Metrics>) -> (Queue, Sending) {
    let (to, spans) = mpsc::channel(settings.queue_spans.max(1));
    let bytes = Arc::new(AtomicUsize::new(0));
    let stop = CancellationToken::new();
    let sender = Sender {
        collector,
        spans,
        bytes: bytes.clone(),
        metrics: metrics.clone(),
        stop: stop.clone(),
        most: settings.batch_spans.max(1),
        most_bytes: settings.batch_bytes,
        interval: Duration::from_millis(settings.interval_ms),
        is_well: true,
    };
    let task = tokio::spawn(sender.run());
    let queue = Queue { spans: to, bytes, most_bytes: settings.queue_bytes, metrics };
    (queue, Sending { stop, task, timeout: Duration::from_millis(settings.timeout_ms) })
}

impl Queue {
    /// Queues a span, or drops and counts it.
    pub(super) fn push(&self, span: Span) {
        let size = size_of(&span);
        // Counted first, so that the sender never subtracts what is not counted yet.
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        let reason = if before.saturating_add(size) > self.most_bytes {
            "queue_full"
        } else {
            match self.spans.try_send(span) {
                Ok(()) => return,
                Err(TrySendError::Full(_)) => "queue_full",
                Err(TrySendError::Closed(_)) => "stopped",
            }
        };
        self.bytes.fetch_sub(size, Ordering::Relaxed);
        self.metrics.spans_dropped(reason, 1);
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

impl Sender {
    async fn run(mut self) {
        loop {
            let first = tokio::select! {
                biased;
                span = self.spans.recv() => span,
                () = self.stop.cancelled() => None,
            };
            // Without a span, the queue is empty and the export is stopping.
            let Some(first) = first else { return };
            let mut size = size_of(&first);
            let mut batch = vec![first];
            if !self.fill(&mut batch, &mut size) {
                tokio::select! {
                    () = tokio::time::sleep(self.interval) => {}
                    () = self.stop.cancelled() => {}
                }
                self.fill(&mut batch, &mut size);
            }
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            let count = batch.len() as u64;
            match self.collector.batch(batch) {
                Ok(batch) => self.send(&batch).await,
                Err(error) => {
                    tracing::error!(%error, "spans cannot be encoded; they are dropped and counted");
                    self.metrics.spans_dropped("not_taken", count);
                }
            }
        }
    }

    /// Adds queued spans to a batch. Returns whether it is full.
    fn fill(&mut self, batch: &mut Vec<Span>, size: &mut usize) -> bool {
        while batch.len() < self.most && *size < self.most_bytes {
            let Ok(span) = self.spans.try_recv() else { return false };
            *size += size_of(&span);
            batch.push(span);
        }
        true
    }

    /// Exports a batch with retries, then drops it.
    async fn send(&mut self, batch: &Batch) {
        for attempt in 1..=ATTEMPTS {
            let (error, after) = match self.collector.send(batch).await {
                Ok(accepted) => {
                    let rejected = accepted.rejected.min(batch.spans);
                    self.metrics.spans_sent(batch.spans - rejected);
                    self.metrics.spans_dropped("not_taken", rejected);
                    if rejected > 0 || !accepted.message.is_empty() {
                        let message = accepted.message;
                        tracing::warn!(rejected, message, "the collector accepted only a part of the spans");
                    }
                    if !std::mem::replace(&mut self.is_well, true) {
                        tracing::info!("the collector accepts spans again");
                    }
                    return;
                }
                Err(Refused::Later { message, after }) if attempt < ATTEMPTS && !self.stop.is_cancelled() => {
                    (message, after)
                }
                Err(error) => {
                    if std::mem::replace(&mut self.is_well, false) {
                        tracing::warn!(%error, "the collector does not accept spans; they are dropped and counted");
                    }
                    self.metrics.spans_dropped("not_taken", batch.spans);
                    return;
                }
            };
            tracing::debug!(error, attempt, "the collector does not accept spans yet");
            let pause = (self.interval * attempt).max(after.unwrap_or_default()).min(LONGEST_PAUSE);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stop.cancelled() => {}
            }
        }
    }
}
