//! The reading of one answer's body.
//!
//! In: its bytes, what somebody wants said, the order to stop. Out: the bytes in the log, and then with the client. Never: a
//! wait for the client that the order to stop, or the patience with it, does not end.

use super::document::Document;
use super::exchange::{Answer, Outcome, Refusal, Signal};
use super::outlet::{Outlet, Shut};
use crate::ingest::{Ingest, IngestError, Listener};
use crate::runs::Runs;
use crate::telemetry::metrics::{IngestMeter, UpstreamMeter};
use crate::upstream::client::{self, Lost};
use crate::upstream::{Entered, Link, Links, Said, SayError};
use bytes::Bytes;
use framegate_translators::decode::Record;
use framegate_translators::frame::{Body, Frame, Name, StreamKind};
use framegate_translators::host::{Unsayable, Wish};
use framegate_translators::ledger::RunEnd;
use hyper::body::Incoming;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// The codes of runs whose upstream broke off or fell silent: it may have gone on without us.
pub const LOST: [&str; 2] = ["upstream_lost", "upstream_silent"];

/// Code and message of a run that ends because its upstream, its client or somebody else ended it.
pub(super) struct Cut {
    code: &'static str,
    message: String,
    /// Nobody wanted it to end.
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
        end(Name::from(self.code), self.message.clone())
    }
}

/// What ended the reading of a body.
pub(super) enum Over {
    /// It was read.
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
            Self::Whole => "it ended before it said anything".to_owned(),
            Self::Cut(cut) => cut.message.clone(),
            Self::Stopping => "the proxy is stopping".to_owned(),
        }
    }
}

/// What counts a run that is made of an answer.
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
    /// Whether a client that leaves ends it.
    pub(super) cancels: bool,
}

/// What comes next of it.
enum Next {
    Chunk(Bytes),
    /// A record waits for no more bytes.
    Due,
    Said(Said),
    Over(Over),
}

impl Reading {
    async fn next(&mut self, patience: Option<Duration>, listening: Option<&mut mpsc::Receiver<Said>>) -> Next {
        let due = async {
            match patience {
                Some(patience) => tokio::time::sleep(patience).await,
                None => std::future::pending().await,
            }
        };
        let said = async {
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
            Some(said) = said => Next::Said(said),
            chunk = client::next(&mut self.body, self.idle) => match chunk {
                Ok(Some(chunk)) => Next::Chunk(chunk),
                Ok(None) => Next::Over(Over::Whole),
                Err(lost) => Next::Over(Over::Cut(Cut::of(&lost))),
            },
            () = due => Next::Due,
        }
    }

    /// The next bytes, of a body that nobody speaks to.
    async fn chunk(&mut self) -> Result<Bytes, Over> {
        loop {
            match self.next(None, None).await {
                Next::Chunk(chunk) => return Ok(chunk),
                Next::Over(over) => return Err(over),
                Next::Due | Next::Said(_) => {}
            }
        }
    }

    /// Gives the client all of it, and keeps it where there is somewhere to keep it; else nobody is left when the client
    /// leaves.
    pub(super) async fn pass(mut self, outlet: Outlet, mut document: Option<&mut Document>) -> Over {
        let mut outlet = Some(outlet);
        loop {
            let chunk = match self.chunk().await {
                Err(over) => return ended(over, outlet),
                Ok(chunk) => chunk,
            };
            if let Some(over) = self.give(&mut outlet, &chunk).await {
                return over;
            }
            match &mut document {
                Some(document) => document.push(chunk),
                None if outlet.is_none() => return Over::Cut(Cut::new("client_left", "the client left")),
                None => {}
            }
        }
    }

    /// Keeps all of it.
    pub(super) async fn gather(&mut self, document: &mut Document) -> Over {
        loop {
            match self.chunk().await {
                Err(over) => return over,
                Ok(chunk) => document.push(chunk),
            }
        }
    }

    /// Gives the client a chunk, if it is still there; says so where the proxy stops meanwhile.
    async fn give(&mut self, outlet: &mut Option<Outlet>, chunk: &Bytes) -> Option<Over> {
        let Self { stop, left, .. } = self;
        tokio::select! {
            biased;
            () = stop => Some(Over::Stopping),
            () = offer(outlet, chunk, left) => None,
        }
    }

    /// Takes the bytes in as runs, and then gives them to the client. `begun` is answered as soon as there is a run.
    pub(super) async fn take_in(
        mut self,
        mut ingest: Ingest,
        Counted { meter, mut of_upstream, runs }: Counted,
        links: Arc<Links>,
        mut outlet: Option<Outlet>,
        mut begun: Option<(oneshot::Sender<Result<Answer, Refusal>>, Answer)>,
    ) -> Over {
        let ingested = ingest.ingested();
        let mut entering = Entering { links, linked: None };
        let mut failed: Option<IngestError> = None;
        let mut interrupts = Vec::new();
        let over = loop {
            let listening = entering.linked.as_mut().map(|(_, listening)| listening);
            let patience = if failed.is_none() { ingest.patience() } else { None };
            match self.next(patience, listening).await {
                Next::Over(over) => break over,
                Next::Due => {
                    failed = ingest.flush_to(&mut entering).await.err();
                }
                Next::Said(said) => match said.wish {
                    Wish::Interrupt => {
                        let cut = Cut::new("interrupted", format!("it was interrupted by {}", said.by));
                        interrupts.push(said.done);
                        break Over::Cut(cut);
                    }
                    _ => {
                        let no_word = Unsayable::NoWord("a response takes nothing but an interruption");
                        let _ = said.done.send(Err(SayError::Unsayable(no_word)));
                    }
                },
                Next::Chunk(chunk) => {
                    meter.bytes(chunk.len());
                    if failed.is_none() {
                        failed = ingest.feed_to(&chunk, &mut entering).await.err();
                        if let Some(error) = &failed {
                            tracing::error!(%error, "a response is not kept any more; its client gets it to its end");
                        }
                    }
                    if let Some(over) = self.give(&mut outlet, &chunk).await {
                        break over;
                    }
                }
            }
            let run = ingested.entries().into_iter().find(|entry| entry.stream.kind == StreamKind::Session);
            if let Some(run) = run {
                of_upstream.began(run.stream.id);
                if let Some((answer, run)) = begun.take() {
                    let _ = answer.send(Ok(run));
                }
            }
            // Nobody is left to read for.
            if failed.is_some() && outlet.is_none() {
                break Over::Cut(Cut::new("log", "the log took nothing more"));
            }
        };
        if matches!(over, Over::Stopping)
            && let Some(outlet) = &outlet
        {
            outlet.word("framegate is stopping; the response goes on without this client");
        }
        drop(entering);
        meter.end(if failed.is_some() { "log" } else { over.outcome() });
        let kept = close(ingest, failed.map_or(Ok(()), Err), &over).await;
        // The last of it may have made one.
        of_upstream.told(&ingested, &runs);
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
        // Behind the log, so that whoever sees the end finds the run ended.
        ended(over, outlet)
    }
}

/// Enters the run before anybody sees it, so that whoever does can speak to it.
struct Entering {
    links: Arc<Links>,
    linked: Option<(Entered, mpsc::Receiver<Said>)>,
}

impl Listener for Entering {
    fn record(&mut self, _: &Record<'_>) {}

    fn amend(&mut self, frames: &mut [Frame]) {
        let run = frames.iter().find(|frame| matches!(frame.body, Body::SessionStarted { .. }));
        if let (Some(run), None) = (run, &self.linked) {
            let (link, listening) = Link::new();
            self.linked = Some((self.links.enter(run.stream.id, link), listening));
        }
    }

    fn frames(&mut self, _: &[Arc<Frame>]) {}
}

/// Gives the client a chunk, if it is still there.
async fn offer(outlet: &mut Option<Outlet>, chunk: &Bytes, left: &CancellationToken) {
    let Some(to) = outlet else { return };
    let Err(shut) = to.send(chunk, left).await else { return };
    if shut == Shut::Slow {
        tracing::warn!("an answer was closed: its client read too slowly (client_buffer_bytes, slow_client_ms)");
        to.word("framegate closed this answer: its client read too slowly (client_buffer_bytes, slow_client_ms)");
    }
    // Without its end, the other side is torn.
    *outlet = None;
}

/// Tells the client that it is over, well or badly.
fn ended(over: Over, outlet: Option<Outlet>) -> Over {
    if let (Over::Whole, Some(outlet)) = (&over, outlet) {
        outlet.end();
    }
    over
}

/// Closes the runs of an ingest; one that failed has closed them already.
pub(super) async fn close(mut ingest: Ingest, fed: Result<(), IngestError>, over: &Over) -> Result<(), String> {
    if let Err(error) = fed {
        return Err(error.to_string());
    }
    match over {
        // The connection ended well. Whether the response did is the response's to say.
        Over::Whole => ingest.cut_by(Cut::ended_early().end()),
        Over::Cut(cut) => ingest.cut_by(cut.end()),
        Over::Stopping => ingest.cut_by_stop(),
    }
    match ingest.finish().await {
        Ok(_) => Ok(()),
        Err(error) => {
            tracing::error!(%error, "the end of a response could not be kept");
            Err(error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::{Session, Stream};
    use uuid::Uuid;

    const RUN: Uuid = Uuid::from_u128(1);

    fn started(id: Uuid) -> [Frame; 1] {
        let session = Arc::new(Session { id: Uuid::from_u128(2), name: Arc::from("own-name") });
        let stream = Stream { kind: StreamKind::Session, id, session, origin_run: None, provider: "open-responses" };
        let body = Body::SessionStarted { input: String::new() };
        [Frame { stream: Arc::new(stream), seq: 0, timestamp_ms: 0, parent_tool_id: None, body }]
    }

    #[test]
    fn a_run_can_be_spoken_to_before_it_can_be_seen() {
        let links = Arc::new(Links::default());
        let mut entering = Entering { links: links.clone(), linked: None };
        let mut frames = started(RUN);
        entering.amend(&mut frames);
        assert!(links.find(RUN).is_some(), "its frames are not kept yet");
        entering.frames(&frames.map(Arc::new));
        assert!(links.find(RUN).is_some());
        drop(entering);
        assert!(links.find(RUN).is_none(), "nobody reads it any more");
    }

    #[tokio::test]
    async fn the_link_of_a_run_is_heard_by_its_reading() {
        let links = Arc::new(Links::default());
        let mut entering = Entering { links: links.clone(), linked: None };
        entering.amend(&mut started(RUN));
        let (link, (_, listening)) = (links.find(RUN).unwrap(), entering.linked.as_mut().unwrap());
        let heard = async {
            let said = listening.recv().await.unwrap();
            assert_eq!((&said.wish, said.to), (&Wish::Interrupt, Some((StreamKind::Session, RUN))));
            said.done.send(Ok(())).unwrap();
        };
        let (said, ()) = tokio::join!(link.say(Wish::Interrupt, "ann"), heard);
        said.unwrap();
    }
}
