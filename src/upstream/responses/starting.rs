//! Runs of kind `responses` that are started with a prompt, like those of the other kinds.
//!
//! Input: a prompt, a model, and the conversation to continue. Output: the request for a streamed response, and its run.
//! Never: a client's own credentials (a prompt carries none); a response that ends because the client that requested it left.

use super::in_flight_request::{Answer, InFlightRequest, Mode};
use super::{Asking, Credentials, KIND, NoPlace, Responses};
use crate::auth::Restriction;
use crate::client::full;
use crate::shutdown::Phase;
use crate::upstream::{Host, Modes, StartError, Upstream, files};
use async_trait::async_trait;
use framegate_translators::host::Opening;
use framegate_translators::runners::{RESPONSES, Runner};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method};
use serde::Serialize;
use std::sync::Arc;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Starts runs at one upstream of kind `responses`.
pub struct Starting {
    responses: Arc<Responses>,
    host: Host,
}

impl Starting {
    /// Starts runs at this upstream.
    pub fn new(responses: Arc<Responses>, host: Host) -> Self {
        Self { responses, host }
    }

    /// The body of the request.
    fn body(&self, opening: &Opening) -> Result<Vec<u8>, StartError> {
        #[derive(Serialize)]
        struct Asked<'o> {
            model: &'o str,
            input: &'o str,
            #[serde(skip_serializing_if = "Option::is_none")]
            conversation: Option<&'o str>,
            stream: bool,
        }
        let refused = |why: &str| Err(StartError::Refused(why.to_owned()));
        if opening.cwd.is_some() {
            return refused("a response has no working directory; omit cwd");
        }
        Modes::none().choose(opening.mode.clone())?;
        files::check(None, &opening.files)?;
        if opening.prompt.trim().is_empty() {
            return refused("the prompt is empty");
        }
        let Some(model) = opening.model.as_deref().filter(|model| !model.is_empty()) else {
            return refused("a response needs a model: set model");
        };
        let asked = Asked { model, input: &opening.prompt, conversation: opening.session.as_deref(), stream: true };
        let body = serde_json::to_vec(&asked).map_err(|error| StartError::Failed(error.to_string()))?;
        let most = self.responses.settings().max_request_bytes;
        if body.len() as u64 > most {
            return refused(&format!("the request has more than {most} bytes (max_request_bytes of the upstream)"));
        }
        Ok(body)
    }
}

/// The refusal without "try again later", which [`StartError::Busy`] appends itself.
fn no_place(error: &NoPlace) -> String {
    error.to_string().trim_end_matches("; try again later").to_owned()
}

#[async_trait]
impl Upstream for Starting {
    fn name(&self) -> &str {
        &self.responses.settings().name
    }

    fn kind(&self) -> &'static str {
        KIND
    }

    fn runner(&self) -> &'static Runner {
        RESPONSES
    }

    fn path(&self) -> Option<String> {
        Some(format!("/v1/responses?upstream={}", self.name()))
    }

    fn takes_prompts(&self) -> bool {
        self.responses.settings().credentials != Credentials::OfTheClient
    }

    fn takes_messages(&self) -> bool {
        false
    }

    async fn start(&self, opening: Opening, restriction: Arc<Restriction>) -> Result<Uuid, StartError> {
        if !self.takes_prompts() {
            let why = "requests to this upstream use the credentials of their client; use POST /v1/responses instead";
            return Err(StartError::Refused(why.to_owned()));
        }
        let body = self.body(&opening)?;
        if self.host.shutdown.is_draining() {
            return Err(StartError::Busy("the proxy is stopping".to_owned()));
        }
        let kept = self.host.runs.log().check_writable().await;
        kept.map_err(|error| {
            let detail = format!("the response could not be stored: {error}");
            if error.is_full() { StartError::LogFull(detail) } else { StartError::Busy(detail) }
        })?;
        let place = self.responses.place().await.map_err(|error| StartError::Busy(no_place(&error)))?;
        let ingest_place = self.host.ingests.clone().try_acquire_owned();
        let ingest_place = ingest_place
            .map_err(|_| StartError::Busy("the maximum number of ingests is open (ingest.max_open)".to_owned()))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let mut request = self
            .responses
            .request(Method::POST, "/responses", &headers, &HeaderMap::new(), full(body))
            .map_err(|error| StartError::Failed(error.to_string()))?;
        // Set regardless of the configured list of client headers that pass.
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut phase = self.host.shutdown.phase();
        let (answer, answered) = oneshot::channel();
        let host = self.host.clone();
        let (conversation, prompt) = (opening.session.unwrap_or_default(), opening.prompt);
        let in_flight = InFlightRequest {
            upstream: self.responses.clone(),
            request,
            asking: Asking::new(&HeaderMap::new()),
            mode: Mode::Translated,
            // The client that started the run is not its reader.
            cancels: false,
            make: Box::new(move |framing, _| {
                // Not every server repeats the conversation.
                let ingest = host.factory.ingest(Some(RESPONSES), framing, restriction);
                let mut ingest = ingest.within_session(&conversation);
                ingest.expect_prompt(&prompt, &[]);
                (ingest, host.runs.metrics().ingest(RESPONSES.name))
            }),
            document_bytes: self.host.factory.settings().limits.record_bytes,
            handles: self.host.handles.clone(),
            runs: self.host.runs.clone(),
            stop: Box::pin(async move {
                let _ = phase.wait_for(|phase| *phase >= Phase::Cutting).await;
            }),
            answer,
        };
        in_flight.spawn((place, ingest_place));
        match answered.await {
            Ok(Ok(Answer::Run { ingested, left, .. })) => {
                // Do not tie the response to the client that started the run.
                left.disarm();
                let run = ingested.first_run();
                run.map(|entry| entry.stream.id)
                    .ok_or_else(|| StartError::Failed("the upstream's answer does not belong to a run".to_owned()))
            }
            Ok(Ok(Answer::Own { status, .. })) => {
                Err(StartError::Failed(format!("the upstream answered {status} instead of a response that is a run")))
            }
            Ok(Err(refusal)) => Err(StartError::Failed(refusal.to_string())),
            Err(_) => Err(StartError::Failed("the request could not be sent".to_owned())),
        }
    }
}
