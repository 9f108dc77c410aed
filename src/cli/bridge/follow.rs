//! Follows the events of a run, across lost connections.
//!
//! Input: the path of an event stream. Output: the data of each event, in order. Never: an event twice; an endless wait for a proxy
//! that does not come back.

use super::{Failure, Proxy};
use crate::client::{self, Cursor};
use framegate_translators::framing::{Limits, SseReader};
use hyper::StatusCode;
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a lost proxy is waited for.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(60);

/// How long a proxy that has never answered is waited for, if a lost one is waited for without an end.
const UNANSWERED: Duration = Duration::from_secs(5);

/// The silence after which a connection counts as lost. The proxy sends a comment every 15 seconds unless it is configured otherwise.
const SILENCE: Duration = Duration::from_secs(300);

/// The least and the longest pause before a reconnect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The events of one run, or of a feed.
pub(in crate::cli) struct Events {
    proxy: Proxy,
    path: String,
    body: Option<Incoming>,
    reader: SseReader,
    cursor: Cursor,
    ready: VecDeque<Vec<u8>>,
    /// Since when the stream is lost, and the next pause.
    lost: Option<(Instant, Duration)>,
    /// Why the stream is lost, for other tasks; empty while it is not.
    trouble: Arc<Mutex<String>>,
    /// How long a lost proxy is waited for; `None` for ever.
    patience: Option<Duration>,
    has_answered: bool,
}

impl Events {
    pub(super) fn new(proxy: Proxy, path: String) -> Self {
        let (reader, cursor) = (SseReader::new(Limits::default()), Cursor::default());
        let (ready, trouble) = (VecDeque::new(), Arc::default());
        let patience = Some(GIVEN_UP_AFTER);
        Self { proxy, path, body: None, reader, cursor, ready, lost: None, trouble, patience, has_answered: false }
    }

    /// The same, but a lost proxy is waited for without an end, once it has answered.
    pub(in crate::cli) fn patient(self) -> Self {
        Self { patience: None, ..self }
    }

    /// Why the stream is lost at the moment; empty while it is not.
    pub(in crate::cli) fn trouble(&self) -> Arc<Mutex<String>> {
        self.trouble.clone()
    }

    fn report(&self, failure: Option<&Failure>) {
        let text = failure.map(Failure::to_string).unwrap_or_default();
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// The data of the next event; `None` after the last one. The future may be dropped without loss.
    ///
    /// # Errors
    /// The proxy refuses the stream, or does not come back.
    pub(in crate::cli) async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            if let Some(data) = self.ready.pop_front() {
                return Ok(Some(data));
            }
            let Some(body) = &mut self.body else {
                match self.proxy.stream(&self.path, self.cursor.last_event_id()).await {
                    Ok(None) => return Ok(None),
                    Ok(body) => {
                        self.report(None);
                        self.has_answered = true;
                        self.body = body;
                    }
                    Err(failure) => self.pause(failure).await?,
                }
                continue;
            };
            match client::next(body, Some(SILENCE)).await {
                Ok(Some(chunk)) => self.take(&chunk),
                // The proxy answers 204 to the next request if this was the end.
                Ok(None) => self.disconnect(),
                Err(lost) => {
                    self.disconnect();
                    self.pause(lost.into()).await?;
                }
            }
        }
    }

    fn take(&mut self, chunk: &[u8]) {
        self.lost = None;
        self.cursor.feed(chunk);
        let ready = &mut self.ready;
        self.reader.feed(chunk, &mut |unit| {
            if !unit.payload.is_empty() && unit.oversized.is_none() {
                ready.push_back(unit.payload.to_vec());
            }
        });
    }

    /// Forgets an event that was cut off: it comes again.
    fn disconnect(&mut self) {
        self.body = None;
        self.cursor.lost();
        self.reader = SseReader::new(Limits::default());
    }

    /// Waits before a reconnect.
    async fn pause(&mut self, failure: Failure) -> Result<(), Failure> {
        let gateway = [Some(StatusCode::BAD_GATEWAY), Some(StatusCode::GATEWAY_TIMEOUT)];
        if !failure.is_passing() && !gateway.contains(&failure.status()) {
            return Err(failure);
        }
        let (least, longest) = PAUSES;
        let (since, pause) = *self.lost.get_or_insert((Instant::now(), least));
        let patience = if self.has_answered { self.patience } else { self.patience.or(Some(UNANSWERED)) };
        if patience.is_some_and(|patience| since.elapsed() >= patience) {
            return Err(failure);
        }
        self.report(Some(&failure));
        self.lost = Some((since, (pause * 2).min(longest)));
        tokio::time::sleep(failure.later().unwrap_or(pause).min(longest)).await;
        Ok(())
    }
}
