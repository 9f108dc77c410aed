//! Reads the body of one response.
//!
//! Input: its bytes, messages to its run, the request to stop. Output: the bytes in the log, and then to the client. Never: a
//! wait for the client that neither the request to stop nor the limit for slow clients ends.

use super::bounded_channel::{BoundedSender, Shut};
use super::document::Document;
use super::in_flight_request::{Answer, Outcome, Refusal, Signal};
use crate::client::{self, Lost};
use crate::ingest::{Ingest, IngestError, Listener};
use crate::runs::{Ingested, RunStatus, Runs};
use crate::telemetry::metrics::{IngestMeter, UpstreamMeter};
use crate::upstream::metering;
use crate::upstream::{Entered, Envelope, Handle, Handles, MessageError};
use bytes::Bytes;
use framegate_translators::decode::Record;
use framegate_translators::frame::{Body, Frame, SharedStr};
use framegate_translators::host::{HostMessage, SendError};
use framegate_translators::normalizer::RunEnd;
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The codes of runs whose upstream broke off or fell silent. The upstream may have continued without the proxy.
const LOST: [&str; 2] = ["upstream_lost", "upstream_silent"];

/// The codes of runs that the proxy ended. The upstream may have continued the response.
const ENDED_HERE: [&str; 7] =
    ["client_left", "interrupted", "limit", "log_failed", "log_full", "proxy_stopping", "stream_ended"];

/// Whether the upstream may have continued a response after its run ended.
pub fn broke_off(run: &RunStatus) -> bool {
    let code = run.error_code.as_deref().filter(|_| run.ended);
    code.is_some_and(|code| LOST.contains(&code) || ENDED_HERE.contains(&code))
}

/// The most bytes held back after the end of a response.
const HELD_BYTES: usize = 1 << 20;

/// The code and message of a run that is ended from outside, for example by its upstream or its client.
pub(super) struct Cut {
    code: &'static str,
    message: String,
    /// Whether the end was unwanted.
    is_failure: bool,
}

impl Cut {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), is_failure: false }
    }

    fn of(lost: &Lost) -> Self {
        let [broken, silent] = LOST;
        let code = if matches!(lost, Lost::Silent(_)) { silent } else { broken };
        Self { is_failure: true, ..Self::new(code, lost.to_string()) }
    }

    fn ended_early() -> Self {
        let [broken, _] = LOST;
        Self {
            is_failure: true,
            ..Self::new(broken, "the upstream's answer ended before it said how the response ended")
        }
    }

    fn end(&self) -> RunEnd {
        let end = if self.is_failure { RunEnd::failed } else { RunEnd::interrupted };
        end(SharedStr::from(self.code), self.message.clone())
    }
}

/// Why reading a body ended.
pub(super) enum Over {
    /// The whole body was read.
    Whole,
    Cut(Cut),
    Stopping,
}

impl Over {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            Self::Whole => "finished",
            Self::Cut(cut) => cut.code,
            Self::Stopping => "proxy_stopping",
        }
    }

    pub(super) fn reason(&self) -> String {
        match self {
            Self::Whole => "it ended without any content".to_owned(),
            Self::Cut(cut) => cut.message.clone(),
            Self::Stopping => "the proxy is stopping".to_owned(),
        }
    }
}

/// The meters of a run that is made of a response.
pub(super) struct Counted {
    pub(super) meter: IngestMeter,
    pub(super) of_upstream: UpstreamMeter,
    pub(super) runs: Arc<Runs>,
}

/// A body that is being read.
pub(super) struct Reading {
    pub(super) body: Incoming,
    pub(super) idle: Option<Duration>,
    pub(super) stop: Signal,
    pub(super) left: CancellationToken,
    /// Whether reading ends when the client leaves.
    pub(super) cancels: bool,
}

/// The next occurrence while reading.
enum Next {
    Chunk(Bytes),
    /// A buffered record is due without further bytes.
    Due,
    Message(Envelope),
    Over(Over),
}

impl Reading {
    async fn next(&mut self, patience: Option<Duration>, listening: Option<&mut mpsc::Receiver<Envelope>>) -> Next {
        let due = async {
            match patience {
                Some(patience) => tokio::time::sleep(patience).await,
                None => std::future::pending().await,
            }
        };
        let received = async {
            match listening {
                Some(listening) => listening.recv().await,
                None => None,
            }
        };
        tokio::select! {
            biased;
            () = &mut self.stop => Next::Over(Over::Stopping),
            () = self.left.cancelled(), if self.cancels => {
                let message = "the client left, and the upstream's response was given up with it (cancel_on_disconnect)";
                Next::Over(Over::Cut(Cut::new("client_left", message)))
            }
            Some(envelope) = received => Next::Message(envelope),
            chunk = client::next(&mut self.body, self.idle) => match chunk {
                Ok(Some(chunk)) => Next::Chunk(chunk),
                Ok(None) => Next::Over(Over::Whole),
                Err(lost) => Next::Over(Over::Cut(Cut::of(&lost))),
            },
            () = due => Next::Due,
        }
    }

    /// The next bytes of a body whose run accepts no messages.
    async fn chunk(&mut self) -> Result<Bytes, Over> {
        loop {
            match self.next(None, None).await {
                Next::Chunk(chunk) => return Ok(chunk),
                Next::Over(over) => return Err(over),
                Next::Due | Next::Message(_) => {}
            }
        }
    }

    /// Passes the whole body to the client. Ends if the client leaves.
    pub(super) async fn pass(mut self, sender: BoundedSender) -> Over {
        let mut sender = Some(sender);
        loop {
            let chunk = match self.chunk().await {
                Err(over) => return ended(over, sender),
                Ok(chunk) => chunk,
            };
            if let Some(over) = self.give(&mut sender, &chunk).await {
                return over;
            }
            if sender.is_none() {
                return Over::Cut(Cut::new("client_left", "the client left"));
            }
        }
    }

    /// Collects the body and passes all but the last chunk to the client. Returns the last chunk for [`Reading::end`].
    pub(super) async fn pass_document(
        &mut self,
        sender: &mut Option<BoundedSender>,
        document: &mut Document,
    ) -> (Over, Option<Bytes>) {
        let mut last: Option<Bytes> = None;
        loop {
            let chunk = match self.chunk().await {
                Err(over) => return (over, last),
                Ok(chunk) => chunk,
            };
            document.push(chunk.clone());
            if let Some(before) = last.replace(chunk)
                && let Some(over) = self.give(sender, &before).await
            {
                return (over, last);
            }
        }
    }

    /// Passes the last chunk and the end to the client.
    pub(super) async fn end(mut self, over: Over, mut sender: Option<BoundedSender>, last: Option<Bytes>) -> Over {
        if let Some(chunk) = last
            && let Some(over) = self.give(&mut sender, &chunk).await
        {
            return over;
        }
        ended(over, sender)
    }

    /// Collects the body.
    pub(super) async fn gather(&mut self, document: &mut Document) -> Over {
        loop {
            match self.chunk().await {
                Err(over) => return over,
                Ok(chunk) => document.push(chunk),
            }
        }
    }

    /// Passes a chunk to the client if it is still connected. Returns the end if the proxy stops meanwhile.
    async fn give(&mut self, sender: &mut Option<BoundedSender>, chunk: &Bytes) -> Option<Over> {
        let Self { stop, left, .. } = self;
        tokio::select! {
            biased;
            () = stop => Some(Over::Stopping),
            () = offer(sender, chunk, left) => None,
        }
    }

    /// Ingests the bytes as runs, and then passes them to the client. Answers `begun` as soon as there is a run.
    ///
    /// The event that ends a response is held until the end of the run is in the log. Redaction and other stages that wait
    /// for more bytes may release it slightly later than its bytes arrived.
    pub(super) async fn take_in(
        mut self,
        mut ingest: Ingest,
        Counted { meter, mut of_upstream, runs }: Counted,
        handles: Arc<Handles>,
        mut sender: Option<BoundedSender>,
        mut begun: Option<(oneshot::Sender<Result<Answer, Refusal>>, Answer)>,
    ) -> Over {
        let ingested = ingest.ingested();
        let mut entering = Entering { handles, registered: None, has_ended: false };
        let mut held: Vec<Bytes> = Vec::new();
        let mut failed: Option<IngestError> = None;
        let mut interrupts = Vec::new();
        let over = 'read: loop {
            let listening = entering.registered.as_mut().map(|(_, listening)| listening);
            let patience = if failed.is_none() { ingest.patience() } else { None };
            match self.next(patience, listening).await {
                Next::Over(over) => break over,
                Next::Due => {
                    failed = ingest.flush_to(&mut entering).await.err();
                }
                Next::Message(envelope) => match envelope.message {
                    HostMessage::Interrupt => {
                        let cut = Cut::new("interrupted", format!("it was interrupted by {}", envelope.by));
                        interrupts.push(envelope.done);
                        break Over::Cut(cut);
                    }
                    _ => {
                        let no_word = SendError::Unsupported("a response accepts no input except an interruption");
                        let _ = envelope.done.send(Err(MessageError::SendError(no_word)));
                    }
                },
                Next::Chunk(chunk) => {
                    meter.bytes(chunk.len());
                    if failed.is_none() {
                        failed = ingest.feed_to(&chunk, &mut entering).await.err();
                        if let Some(error) = &failed {
                            tracing::error!(%error, "a response can no longer be stored; its client still gets it");
                        }
                    }
                    held.push(chunk);
                }
            }
            let waits = failed.is_none() && entering.has_ended && ingest.patience().is_some();
            if !waits || has_ended(&ingested) || held.iter().map(Bytes::len).sum::<usize>() > HELD_BYTES {
                for chunk in std::mem::take(&mut held) {
                    if let Some(over) = self.give(&mut sender, &chunk).await {
                        break 'read over;
                    }
                }
            }
            let run = ingested.first_run();
            if let Some(run) = run {
                of_upstream.began(run.stream.id);
                if let Some((answer, run)) = begun.take() {
                    let _ = answer.send(Ok(run));
                }
            }
            // Neither the log nor a client needs the rest.
            if failed.is_some() && sender.is_none() {
                break Over::Cut(Cut::new("log", "the log took nothing more"));
            }
        };
        if matches!(over, Over::Stopping)
            && let Some(sender) = &sender
        {
            sender.word("framegate is stopping; the response continues without this client");
        }
        drop(entering);
        meter.end(if failed.is_some() { "log" } else { over.outcome() });
        let kept = close(ingest, failed.map_or(Ok(()), Err), &over).await;
        // The last bytes may have created a run.
        metering::count_ingested(&mut of_upstream, &ingested, &runs);
        for done in interrupts {
            let _ = done.send(Ok(()));
        }
        if let Some((answer, run)) = begun {
            let refusal = match kept {
                Err(error) => Some(Refusal::Nothing(error)),
                Ok(()) if ingested.entries().is_empty() => Some(Refusal::Nothing(over.reason())),
                Ok(()) => None,
            };
            let _ = answer.send(refusal.map_or(Ok(run), Err));
        }
        // After the log, so that a client that sees the end finds the run ended.
        for chunk in held {
            offer(&mut sender, &chunk, &self.left).await;
        }
        ended(over, sender)
    }
}

/// Whether the log has the end of every run of an ingest.
fn has_ended(ingested: &Ingested) -> bool {
    let mut runs = ingested.runs().into_iter();
    runs.all(|run| run.status().ended)
}

/// Registers the run before any client can see it, so that every client that sees it can send it messages.
struct Entering {
    handles: Arc<Handles>,
    registered: Option<(Entered, mpsc::Receiver<Envelope>)>,
    /// Whether a record has arrived that ends a response.
    has_ended: bool,
}

/// The types of events that end a response.
const ENDS: [&str; 5] = ["response.completed", "response.failed", "response.incomplete", "response.cancelled", "error"];

impl Listener for Entering {
    fn record(&mut self, record: &Record<'_>) {
        self.has_ended |= record.fields.str("type").is_some_and(|kind| ENDS.contains(&&*kind));
    }

    fn amend(&mut self, frames: &mut [Frame]) {
        let run = frames.iter().find(|frame| matches!(frame.body, Body::SessionStarted { .. }));
        if let (Some(run), None) = (run, &self.registered) {
            let (handle, listening) = Handle::new();
            self.registered = Some((self.handles.enter(run.stream.id, handle), listening));
        }
    }

    fn frames(&mut self, _: &[Arc<Frame>]) {}
}

/// Passes a chunk to the client if it is still connected.
async fn offer(sender: &mut Option<BoundedSender>, chunk: &Bytes, left: &CancellationToken) {
    let Some(to) = sender else { return };
    let Err(shut) = to.send(chunk, left).await else { return };
    if shut == Shut::Slow {
        tracing::warn!("an answer was closed because its client read too slowly (client_buffer_bytes, slow_client_ms)");
        to.word(
            "framegate closed this answer because the client read too slowly (client_buffer_bytes, slow_client_ms)",
        );
    }
    // Dropped without its end, the client's body breaks off.
    *sender = None;
}

/// Ends the client's body properly if the whole response was read.
fn ended(over: Over, sender: Option<BoundedSender>) -> Over {
    if let (Over::Whole, Some(sender)) = (&over, sender) {
        sender.end();
    }
    over
}

/// Closes the runs of an ingest. An ingest that failed has already closed them.
pub(super) async fn close(mut ingest: Ingest, fed: Result<(), IngestError>, over: &Over) -> Result<(), String> {
    if let Err(error) = fed {
        return Err(error.to_string());
    }
    match over {
        // The connection ended normally. Whether the response did depends on its own events.
        Over::Whole => ingest.cut_by(Cut::ended_early().end()),
        Over::Cut(cut) => ingest.cut_by(cut.end()),
        Over::Stopping => ingest.cut_by_stop(),
    }
    match ingest.finish().await {
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::error!(%error, "the end of a response could not be stored");
            Err(error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::{Session, Stream, StreamKind};
    use uuid::Uuid;

    const RUN: Uuid = Uuid::from_u128(1);

    fn started(id: Uuid) -> [Frame; 1] {
        let session = Arc::new(Session { id: Uuid::from_u128(2), name: Arc::from("own-name") });
        let stream = Stream {
            kind: StreamKind::Session,
            id,
            session,
            origin_run: None,
            provider: framegate_translators::runners::RESPONSES.provider,
        };
        let body = Body::SessionStarted { input: String::new() };
        [Frame { stream: Arc::new(stream), seq: 0, timestamp_ms: 0, parent_tool_id: None, given_id: None, body }]
    }

    #[test]
    fn a_run_can_be_addressed_before_it_is_visible() {
        let handles = Arc::new(Handles::default());
        let mut entering = Entering { handles: handles.clone(), registered: None, has_ended: false };
        let mut frames = started(RUN);
        entering.amend(&mut frames);
        assert!(handles.find(RUN).is_some(), "the run must be registered before its frames are stored");
        entering.frames(&frames.map(Arc::new));
        assert!(handles.find(RUN).is_some());
        drop(entering);
        assert!(handles.find(RUN).is_none(), "the handle must end with its reader");
    }

    #[tokio::test]
    async fn messages_over_a_runs_handle_reach_its_reader() {
        let handles = Arc::new(Handles::default());
        let mut entering = Entering { handles: handles.clone(), registered: None, has_ended: false };
        entering.amend(&mut started(RUN));
        let (handle, (_, listening)) = (handles.find(RUN).unwrap(), entering.registered.as_mut().unwrap());
        let heard = async {
            let envelope = listening.recv().await.unwrap();
            assert_eq!((&envelope.message, envelope.to), (&HostMessage::Interrupt, Some((StreamKind::Session, RUN))));
            envelope.done.send(Ok(())).unwrap();
        };
        let (sent, ()) = tokio::join!(handle.send(HostMessage::Interrupt, "ann"), heard);
        sent.unwrap();
    }
}
