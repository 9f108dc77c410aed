//! Notifications over HTTP when a run ends, waits for an answer or passes a budget, by the specification Standard Webhooks.
//!
//! Input: the frames that this proxy appends to the log. Output: signed requests to the configured endpoints, repeated until they are accepted or given
//! up; files for those that were given up. Never: an append that waits for an endpoint; an unbounded queue; an event of a run that another proxy
//! writes, or that was over before the proxy received it.
//!
//! `event` decides what happened and writes bodies, `sign` signs them, `retry` decides what an answer means, `outbox` holds the deliveries of one
//! endpoint; none of them waits. `target` is one endpoint, `courier` the task that delivers, `dead_letters` the files.

mod courier;
mod dead_letters;
mod event;
mod outbox;
mod retry;
mod sign;
mod target;
#[cfg(test)]
mod tests;

pub use dead_letters::{DeadLetter, DeadLetters, remove};
pub use target::{Target, TargetError};

use crate::budgets::Listener;
use crate::clock::Clock;
use crate::config::webhooks::{Endpoint, EventKind};
use crate::runs::Runs;
use crate::telemetry::Watcher;
use crate::telemetry::metrics::Metrics;
use courier::Courier;
use event::{Event, Note};
use framegate_translators::frame::Frame;
use retry::Outcome;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The endpoints that are in use.
pub(crate) type Targets = Arc<[Arc<Target>]>;

/// Settings of the deliveries.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where deliveries go that are given up; `None`: they are only logged.
    pub dead_letters: Option<DeadLetters>,
    /// Events that may wait until they are queued for the endpoints.
    pub queue_events: usize,
    /// Bytes of each text in a body.
    pub text_bytes: usize,
    /// Time for the last deliveries.
    pub stop_timeout: Duration,
}

/// Finds events in frames.
struct Finder {
    notes: mpsc::Sender<Note>,
    targets: watch::Receiver<Targets>,
    metrics: Arc<Metrics>,
}

impl Watcher for Finder {
    fn kept(&self, frames: &[Arc<Frame>]) {
        for note in frames.iter().filter_map(|frame| Note::of(frame)) {
            if !self.targets.borrow().is_empty() && self.notes.try_send(note).is_err() {
                lose(&self.metrics);
            }
        }
    }

    fn wants_history(&self) -> bool {
        false
    }
}

/// Notifications that are not delivered yet, because the runs are not known.
pub struct Webhooks {
    options: Options,
    sender: mpsc::WeakSender<Note>,
    notes: mpsc::Receiver<Note>,
    targets: watch::Sender<Targets>,
}

impl Webhooks {
    /// Finds events in the frames of these runs from now on, so also in those with which runs are closed at the start.
    pub fn of(runs: Runs, options: Options, targets: Vec<Target>) -> (Runs, Self) {
        let (sender, notes) = mpsc::channel(options.queue_events.max(1));
        let (targets, receiver) = watch::channel(shared(targets));
        let finder = Finder { notes: sender, targets: receiver, metrics: runs.metrics().clone() };
        let sender = finder.notes.downgrade();
        (runs.watched_by(Arc::new(finder)), Self { options, sender, notes, targets })
    }

    /// Starts to deliver. Must be called in a runtime.
    pub fn start(self, runs: Arc<Runs>) -> Delivering {
        let (stop, hurry) = (CancellationToken::new(), CancellationToken::new());
        let notes = Notes { sender: self.sender, metrics: runs.metrics().clone() };
        let courier =
            Courier::new(runs, self.options, self.notes, self.targets.subscribe(), (stop.clone(), hurry.clone()));
        let control = Control { targets: self.targets };
        Delivering { stop, hurry, task: tokio::spawn(courier.run()), control, notes }
    }
}

/// The task that delivers.
pub struct Delivering {
    stop: CancellationToken,
    hurry: CancellationToken,
    task: JoinHandle<()>,
    control: Control,
    notes: Notes,
}

/// Takes events that are not found in frames.
#[derive(Clone)]
struct Notes {
    sender: mpsc::WeakSender<Note>,
    metrics: Arc<Metrics>,
}

impl Delivering {
    /// Receives the marks that accounts of budgets pass.
    pub fn listener(&self) -> Listener {
        let Notes { sender, metrics } = self.notes.clone();
        Box::new(move |passed| {
            // There is no sender any more when the proxy has stopped.
            if sender.upgrade().is_some_and(|sender| sender.try_send(passed.into()).is_err()) {
                lose(&metrics);
            }
        })
    }

    /// Replaces the endpoints.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Delivers what waits, for the time of [`Options::stop_timeout`] or until `now` is ready, and gives up the rest.
    pub async fn stop(mut self, now: impl Future<Output = ()>) {
        self.stop.cancel();
        let ended = tokio::select! {
            ended = &mut self.task => ended,
            () = now => {
                self.hurry.cancel();
                self.task.await
            }
        };
        if let Err(error) = ended {
            tracing::error!(%error, "the last notifications could not be delivered");
        }
    }
}

/// Replaces the endpoints while the proxy runs.
#[derive(Clone)]
pub struct Control {
    targets: watch::Sender<Targets>,
}

impl Control {
    /// Replaces the endpoints. One that keeps its name keeps its deliveries; those of one that is missing are given up.
    pub fn replace(&self, targets: Vec<Target>) {
        self.targets.send_replace(shared(targets));
    }
}

fn lose(metrics: &Metrics) {
    metrics.webhook_event_lost();
    tracing::error!("too many events wait for webhooks; one is lost (webhooks.queue_events)");
}

fn shared(targets: Vec<Target>) -> Targets {
    targets.into_iter().map(Arc::new).collect()
}

/// Reads the secrets and certificates of all endpoints.
///
/// # Errors
/// One of them cannot be used.
pub fn targets(endpoints: &[Endpoint]) -> Result<Vec<Target>, TargetError> {
    endpoints.iter().map(Target::read).collect()
}

/// Sends a delivery that was given up once more.
///
/// # Errors
/// Why it was not delivered.
pub async fn send_again(target: &Target, letter: &DeadLetter) -> Result<(), String> {
    let kind = EventKind::find(&letter.r#type).ok_or_else(|| format!("unknown kind of event {:?}", letter.r#type))?;
    let event = Event {
        id: letter.id.clone(),
        kind,
        run: letter.run_id,
        at_ms: letter.at_ms,
        approval: None,
        body: letter.body.clone().into(),
    };
    match target.post(&event).await.outcome() {
        Outcome::Delivered => Ok(()),
        Outcome::Gone => Err(GONE.to_owned()),
        Outcome::Failed(error, _) => Err(error),
    }
}

/// Why a delivery is given up whose endpoint answered 410.
const GONE: &str = "the endpoint answered 410: it wants no notifications";

/// A random number from 0 to 1.
fn random() -> f64 {
    // The last 32 bits of such an id are random.
    let [.., a, b, c, d] = *Clock::System.new_id().as_bytes();
    f64::from(u32::from_be_bytes([a, b, c, d])) / f64::from(u32::MAX)
}
