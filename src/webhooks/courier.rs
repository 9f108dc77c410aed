//! The task that delivers notifications.
//!
//! Input: notes of events, the endpoints, answers. Output: requests; deliveries that are over, in the metrics and, if they were given up, in the log and
//! in a file. Never: an endpoint that waits for another one.

use super::dead_letters::DeadLetter;
use super::event::{Event, Note};
use super::outbox::{Delivery, Outbox};
use super::retry::{Answer, Outcome};
use super::target::Target;
use super::{GONE, Options, Targets, random};
use crate::clock::{Clock, Moment};
use crate::runs::Runs;
use crate::telemetry::metrics::{WebhookMeter, WebhookOutcome};
use framegate_translators::frame::StreamKind;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Why a delivery is given up that the proxy had no time for.
const STOPPED: &str = "the proxy stopped before the notification was delivered";

/// An endpoint with its deliveries.
struct Lane {
    /// Distinguishes it from an earlier one with the same name.
    number: u64,
    target: Arc<Target>,
    outbox: Outbox,
    meter: WebhookMeter,
    /// Whether the endpoint answered 410 since its settings were read.
    is_gone: bool,
}

/// An attempt that is over.
struct Attempt {
    /// The number of its lane.
    lane: u64,
    key: u64,
    answer: Answer,
}

/// Delivers until it is stopped.
pub(super) struct Courier {
    runs: Arc<Runs>,
    options: Options,
    notes: mpsc::Receiver<Note>,
    targets: watch::Receiver<Targets>,
    stop: CancellationToken,
    /// Cancelled if there is no time for the last attempts.
    hurry: CancellationToken,
    lanes: Vec<Lane>,
    next_lane: u64,
    attempts: JoinSet<Attempt>,
    is_stopping: bool,
}

impl Courier {
    pub(super) fn new(
        runs: Arc<Runs>,
        options: Options,
        notes: mpsc::Receiver<Note>,
        targets: watch::Receiver<Targets>,
        (stop, hurry): (CancellationToken, CancellationToken),
    ) -> Self {
        Self {
            runs,
            options,
            notes,
            targets,
            stop,
            hurry,
            lanes: Vec::new(),
            next_lane: 0,
            attempts: JoinSet::new(),
            is_stopping: false,
        }
    }

    pub(super) async fn run(mut self) {
        self.take_targets().await;
        let stop = self.stop.clone();
        loop {
            self.send_due().await;
            let pause = self.next_due().map(|due| due.since(Moment::now()));
            tokio::select! {
                () = stop.cancelled() => break,
                // Its sender lives as long as the runs.
                Some(note) = self.notes.recv() => self.take(note).await,
                Some(attempt) = self.attempts.join_next() => self.settle(attempt).await,
                Ok(()) = self.targets.changed() => self.take_targets().await,
                () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
            }
        }
        self.finish().await;
    }

    /// Delivers what waits, each once, and gives up the rest.
    async fn finish(&mut self) {
        self.is_stopping = true;
        while let Ok(note) = self.notes.try_recv() {
            self.take(note).await;
        }
        let now = Moment::now();
        self.lanes.iter_mut().for_each(|lane| lane.outbox.hasten(now));
        let deadline = now.after(self.options.stop_timeout);
        loop {
            if self.hurry.is_cancelled() {
                break;
            }
            self.send_due().await;
            let left = deadline.since(Moment::now());
            tokio::select! {
                attempt = self.attempts.join_next() => match attempt {
                    Some(attempt) => self.settle(attempt).await,
                    None => break,
                },
                () = tokio::time::sleep(left) => break,
                () = self.hurry.cancelled() => break,
            }
        }
        self.attempts.abort_all();
        for at in 0..self.lanes.len() {
            let left = self.lanes.get_mut(at).map(|lane| lane.outbox.take_all()).unwrap_or_default();
            self.give_up(at, left, STOPPED).await;
        }
    }

    /// Takes over the endpoints of the configuration.
    async fn take_targets(&mut self) {
        let targets = self.targets.borrow_and_update().clone();
        for at in (0..self.lanes.len()).rev() {
            let is_kept = |lane: &Lane| targets.iter().any(|target| target.name == lane.target.name);
            if self.lanes.get(at).is_some_and(|lane| !is_kept(lane)) {
                let left = self.lanes.get_mut(at).map(|lane| lane.outbox.take_all()).unwrap_or_default();
                self.give_up(at, left, "the endpoint was removed from the configuration").await;
                self.lanes.swap_remove(at).meter.waiting(0);
            }
        }
        for target in targets.iter() {
            if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.target.name == target.name) {
                (lane.target, lane.is_gone) = (target.clone(), false);
                continue;
            }
            self.next_lane += 1;
            self.lanes.push(Lane {
                number: self.next_lane,
                target: target.clone(),
                outbox: Outbox::default(),
                meter: self.runs.metrics().webhook(&target.name),
                is_gone: false,
            });
        }
    }

    /// Queues an event for the endpoints that are notified of it.
    async fn take(&mut self, note: Note) {
        let Some(entry) = self.runs.find(note.run) else {
            tracing::warn!(run = %note.run.1, "a run was dropped before its event was queued for webhooks");
            return;
        };
        let status = self.runs.shown_status(&entry);
        let wanting: Vec<usize> = (0..)
            .zip(&self.lanes)
            .filter(|(_, lane)| lane.target.wants(&note, &status, entry.upstream()))
            .map(|(at, _)| at)
            .collect();
        if wanting.is_empty() {
            return;
        }
        let event = Arc::new(Event::of(note, status, entry.upstream(), self.options.text_bytes));
        let (now, now_ms) = (Moment::now(), Clock::System.now_ms());
        for at in wanting {
            let Some(lane) = self.lanes.get_mut(at) else { continue };
            if lane.is_gone || now_ms.saturating_sub(event.at_ms) > lane.target.max_age_ms {
                lane.meter.over(if lane.is_gone { WebhookOutcome::Gone } else { WebhookOutcome::TooOld });
                continue;
            }
            let delay = if event.approval.is_some() { lane.target.approval_delay } else { Duration::ZERO };
            let delivery = Delivery { event: event.clone(), failed: 0, error: String::new() };
            if let Err(delivery) = lane.outbox.push(delivery, now.after(delay), lane.target.bounds) {
                self.give_up(at, vec![delivery], "too many notifications wait for the endpoint").await;
            }
        }
    }

    /// When the next delivery can be sent.
    fn next_due(&self) -> Option<Moment> {
        self.lanes.iter().filter_map(|lane| lane.outbox.next_due(lane.target.bounds)).min()
    }

    /// Starts the attempts that are due.
    async fn send_due(&mut self) {
        let (now, now_ms) = (Moment::now(), Clock::System.now_ms());
        for at in 0..self.lanes.len() {
            let mut expired = Vec::new();
            while let Some(lane) = self.lanes.get_mut(at)
                && let Some((key, delivery)) = lane.outbox.take_due(now, lane.target.bounds)
            {
                if is_answered(&self.runs, &delivery.event) {
                    lane.outbox.settle(key);
                    lane.meter.over(WebhookOutcome::Answered);
                    continue;
                }
                if now_ms.saturating_sub(delivery.event.at_ms) > lane.target.max_age_ms {
                    expired.extend(lane.outbox.settle(key));
                    continue;
                }
                let (target, lane) = (lane.target.clone(), lane.number);
                self.attempts.spawn(async move { Attempt { lane, key, answer: target.post(&delivery.event).await } });
            }
            self.give_up(at, expired, "the event is older than max_age_ms").await;
            if let Some(lane) = self.lanes.get(at) {
                lane.meter.waiting(lane.outbox.len());
            }
        }
    }

    /// Takes in the answer to an attempt.
    async fn settle(&mut self, attempt: Result<Attempt, tokio::task::JoinError>) {
        let Ok(Attempt { lane, key, answer }) = attempt else { return };
        // A reload may have removed the endpoint.
        let Some(at) = self.lanes.iter().position(|known| known.number == lane) else { return };
        let Some(lane) = self.lanes.get_mut(at) else { return };
        let webhook = lane.target.name.clone();
        lane.meter.attempted(answer.label());
        let Some(mut delivery) = lane.outbox.settle(key) else { return };
        match answer.outcome() {
            Outcome::Delivered => lane.meter.over(WebhookOutcome::Delivered),
            Outcome::Gone => {
                lane.is_gone = true;
                tracing::error!(
                    webhook,
                    "an endpoint answered 410; it gets no notifications until the configuration is reloaded"
                );
                delivery.failed += 1;
                let left = lane.outbox.take_waiting();
                self.give_up(at, std::iter::once(delivery).chain(left).collect(), GONE).await;
            }
            Outcome::Failed(error, asked) => {
                delivery.failed += 1;
                tracing::debug!(webhook, id = delivery.event.id, attempt = delivery.failed, error, "an attempt failed");
                delivery.error = error;
                if lane.is_gone {
                    self.give_up(at, vec![delivery], GONE).await;
                } else if self.is_stopping {
                    self.give_up(at, vec![delivery], STOPPED).await;
                } else if delivery.failed >= lane.target.attempts {
                    self.give_up(at, vec![delivery], "the last attempt failed").await;
                } else {
                    let pause = lane.target.backoff.pause(delivery.failed, asked, random());
                    lane.outbox.retry(delivery, Moment::now().after(pause));
                }
            }
        }
    }

    /// Logs deliveries that are given up, and keeps them in files.
    async fn give_up(&self, lane: usize, deliveries: Vec<Delivery>, why: &str) {
        let Some(lane) = self.lanes.get(lane) else { return };
        for Delivery { event, failed, error } in deliveries {
            lane.meter.over(WebhookOutcome::GivenUp);
            let error = if error.is_empty() { why.to_owned() } else { format!("{why}: {error}") };
            let webhook = lane.target.name.clone();
            tracing::error!(
                webhook, id = event.id, r#type = event.kind.as_str(), run = %event.run, attempts = failed, error,
                "a notification was given up"
            );
            let Some(letters) = self.options.dead_letters.clone() else { continue };
            let letter = DeadLetter {
                id: event.id.clone(),
                webhook,
                r#type: event.kind.as_str().to_owned(),
                run_id: event.run,
                at_ms: event.at_ms,
                given_up_ms: Clock::System.now_ms(),
                attempts: failed,
                error,
                body: String::from_utf8_lossy(&event.body).into_owned(),
            };
            match tokio::task::spawn_blocking(move || letters.keep(&letter)).await {
                Ok(Ok(0)) => {}
                Ok(Ok(removed)) => {
                    tracing::warn!(
                        removed,
                        "the oldest notification that was given up is removed (webhooks.max_failed)"
                    );
                }
                Ok(Err(error)) => tracing::error!(%error, "a notification that was given up could not be kept"),
                Err(error) => tracing::error!(%error, "a notification that was given up could not be kept"),
            }
        }
    }
}

/// Whether an event asks for an approval that has been answered.
fn is_answered(runs: &Runs, event: &Event) -> bool {
    event.approval.as_ref().is_some_and(|approval| {
        let entry = runs.find((StreamKind::Session, event.run));
        !entry.is_some_and(|entry| entry.status().pending_approvals.contains(approval))
    })
}
