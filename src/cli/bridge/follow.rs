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
use std::time::Duration;
use tokio::time::Instant;

/// How long a lost proxy is waited for.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(60);

/// The silence after which a connection counts as lost. The proxy sends a comment every 15 seconds unless it is configured otherwise.
const SILENCE: Duration = Duration::from_secs(300);

/// The least and the longest pause before a reconnect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// The events of one run.
pub(in crate::cli) struct Events {
    proxy: Proxy,
    path: String,
    body: Option<Incoming>,
    reader: SseReader,
    cursor: Cursor,
    ready: VecDeque<Vec<u8>>,
    /// Since when the stream is lost, and the next pause.
    lost: Option<(Instant, Duration)>,
}

impl Events {
    pub(super) fn new(proxy: Proxy, path: String) -> Self {
        let (reader, cursor) = (SseReader::new(Limits::default()), Cursor::default());
        Self { proxy, path, body: None, reader, cursor, ready: VecDeque::new(), lost: None }
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
                    Ok(body) => self.body = body,
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
        if since.elapsed() >= GIVEN_UP_AFTER {
            return Err(failure);
        }
        self.lost = Some((since, (pause * 2).min(longest)));
        tokio::time::sleep(failure.later().unwrap_or(pause).min(longest)).await;
        Ok(())
    }
}
