//! Requests from one proxy to another.
//!
//! Input: a request for the proxy that writes a stream. Output: its answer, or that there was none. Never: a request that is sent twice, or
//! that is carried out by two proxies.

use super::JetstreamLog;
use super::engine::Failure;
use crate::log::{LogError, Request, StreamId};
use bytes::Bytes;
use futures_util::StreamExt;
use std::sync::Weak;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How many requests of other proxies may wait. Those beyond it are refused by silence.
pub(super) const WAITING: usize = 256;

/// The pause before requests are received again after an error.
const PAUSE: Duration = Duration::from_millis(500);

/// Receives requests until the log is closed.
pub(super) async fn receive(log: Weak<JetstreamLog>, requests: mpsc::Sender<Request>) {
    while let Some(log) = log.upgrade() {
        let subject = log.engine.names.requests(log.proxy);
        let client = log.engine.client.clone();
        drop(log);
        if let Ok(mut received) = client.subscribe(subject).await {
            while let Some(message) = received.next().await {
                let Some(reply) = message.reply else { continue };
                let (answer, answered) = oneshot::channel();
                if requests.try_send(Request { payload: message.payload, answer }).is_err() {
                    if requests.is_closed() {
                        return;
                    }
                    tracing::warn!("too many requests of other proxies wait; one is left out");
                    continue;
                }
                let client = client.clone();
                tokio::spawn(async move {
                    if let Ok(answer) = answered.await
                        && let Err(error) = client.publish(reply, answer).await
                    {
                        tracing::warn!(%error, "an answer to another proxy could not be sent");
                    }
                });
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl JetstreamLog {
    /// Sends a request to the proxy that wrote a stream last; `None` if that is this one, or it does not live.
    pub(super) async fn ask_the_writer(
        &self,
        id: StreamId,
        payload: Bytes,
        within: Duration,
    ) -> Option<Result<Bytes, LogError>> {
        // A session goes on after its last run has ended.
        let writer = self.index().get(id)?.writer;
        if writer == self.proxy || !self.leases.membership().lives(writer) {
            return None;
        }
        let subject = self.engine.names.requests(writer);
        let most = self.engine.client.max_payload();
        if payload.len() > most {
            return Some(Err(LogError::TooLarge { bytes: payload.len() as u64, most: most as u64 }));
        }
        let answer = self.engine.ask_within(within, subject, None, payload).await;
        Some(match answer {
            Ok(answer) => Ok(answer.payload),
            Err(Failure::Undelivered) => Err(LogError::ProxyAway),
            Err(Failure::Silent(why)) => {
                Err(self.engine.error(&Failure::Silent(format!("the proxy that has the run does not answer: {why}"))))
            }
            Err(failure) => Err(self.engine.error(&failure)),
        })
    }
}
