//! What one proxy asks another one that has a runner: to deliver a message, or to continue a session.
//!
//! Input: the request of a client, and the stream whose proxy has the runner. Output: the outcome there, as if the runner were here. Never: a request
//! that is passed on twice, or that two proxies carry out.

mod messages;
mod starts;

pub use messages::{send_to_run, send_to_session};
pub use starts::{Start, start};

use super::{Handles, Upstreams};
use crate::log::{LogError, Request, StreamId};
use crate::runs::Runs;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// A request between proxies.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    Deliver(messages::Letter),
    Start(starts::Order),
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
enum AskError {
    /// The request was not sent: it is too large.
    #[error("{0}")]
    TooLarge(LogError),
    /// The request was not delivered, and can be sent again.
    #[error("{0}")]
    Undelivered(LogError),
    /// The other proxy may have carried it out.
    #[error("{0}")]
    Failed(LogError),
    #[error("the answer of the proxy that has the run cannot be read: {0}")]
    Unreadable(serde_json::Error),
}

impl Ask {
    /// Sends the request to the proxy that wrote a stream last; `None` if that is this one, or it does not live.
    async fn send<A: DeserializeOwned>(
        &self,
        runs: &Runs,
        stream: StreamId,
        within: Duration,
    ) -> Option<Result<A, AskError>> {
        // Requests consist of strings and numbers.
        let request = Bytes::from(serde_json::to_vec(self).unwrap_or_default());
        let answer = runs.log().shared()?.ask_writer(stream, request, within).await?;
        Some(match answer {
            Ok(answer) => serde_json::from_slice(&answer).map_err(AskError::Unreadable),
            Err(error @ LogError::TooLarge { .. }) => Err(AskError::TooLarge(error)),
            Err(error @ LogError::ProxyAway) => Err(AskError::Undelivered(error)),
            Err(error) => Err(AskError::Failed(error)),
        })
    }
}

/// Carries out the requests of other proxies, for as long as this one lives.
pub async fn serve(runs: Arc<Runs>, handles: Arc<Handles>, upstreams: Upstreams) {
    let Some(mut requests) = runs.log().shared().and_then(|shared| shared.take_requests()) else { return };
    while let Some(Request { payload, answer }) = requests.recv().await {
        let (runs, handles, upstreams) = (runs.clone(), handles.clone(), upstreams.clone());
        tokio::spawn(async move {
            let outcome = match serde_json::from_slice(&payload) {
                Ok(Ask::Deliver(letter)) => serde_json::to_vec(&messages::deliver(&handles, letter).await),
                Ok(Ask::Start(order)) => serde_json::to_vec(&starts::carry_out(&runs, &upstreams, order).await),
                Err(error) => {
                    // Another version asks. It gets no answer that it could take for an outcome.
                    tracing::warn!(%error, "the request of another proxy cannot be read");
                    return;
                }
            };
            // The other proxy may wait no longer.
            let _ = answer.send(Bytes::from(outcome.unwrap_or_default()));
        });
    }
}
