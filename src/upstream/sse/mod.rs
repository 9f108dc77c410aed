//! Upstreams of kind `sse`: event feeds of servers, which the proxy follows as long as it runs.
//!
//! Input: a server's feed, such as `/event` of `opencode serve`; messages to its runs. Output: the runs in the feed, from
//! beginning to end; requests to the server. Never: a loss of the feed that is not reported; a run that stays open because
//! its end was lost; a reconnect without a pause.

mod copies;
mod feed;
mod listener;

use super::responses::Credentials;
use super::{Connection, ConnectionState, Host, Modes, StartError, Upstream, files};
use crate::auth::Restriction;
use crate::client::{Client, ClientError};
use crate::clock::Clock;
use crate::shutdown::Phase;
use async_trait::async_trait;
use framegate_translators::contracts::Contract;
use framegate_translators::host::{Opening, Outgoing};
use framegate_translators::runners::Runner;
use hyper::Uri;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tracing::Instrument;
use uuid::Uuid;

/// The settings of a feed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The upstream's name.
    pub name: String,
    /// The runner that emits the events.
    pub runner: &'static Runner,
    /// The URL of the feed.
    pub url: Uri,
    /// The contract of the feed, if another framegate serves it. It then continues after the last event without a gap, or says
    /// that it does not.
    pub contract: Option<&'static Contract>,
    /// The credentials that requests carry.
    pub credentials: Credentials,
    /// File of certificates to trust; `None`: those that the machine trusts.
    pub ca_file: Option<PathBuf>,
    /// Timeout for connecting.
    pub connect_timeout: Duration,
    /// Timeout for the head of a response.
    pub answer_timeout: Duration,
    /// Longest silence of the feed; `None`: unlimited.
    pub idle_timeout: Option<Duration>,
    /// The shortest and the longest pause before a reconnect.
    pub pause: (Duration, Duration),
    /// After a loss of the feed, how long a run may stay silent before it is given up.
    pub lost_after: Duration,
    /// How long a run may take to begin after its prompt.
    pub start_timeout: Duration,
    /// How many runs may be starting at a time.
    pub max_runs: usize,
    /// The modes that prompts may choose.
    pub modes: Modes,
    /// Whether the proxy is unready while the feed is disconnected.
    pub is_required: bool,
}

/// An upstream that follows an event feed.
pub struct SseUpstream {
    settings: Arc<Settings>,
    client: Client,
    host: Host,
    places: Arc<Semaphore>,
    /// Published by the task that follows the feed: the runs that began and the state of the connection.
    seen: Arc<watch::Sender<Seen>>,
}

/// What starting a run needs to know about the feed.
#[derive(Clone, Debug, Default)]
struct Seen {
    line: Standing,
    open: Vec<Open>,
    /// The most recent runs that began, each with its session. A run may already have ended when its starter looks for it.
    begun: VecDeque<(Arc<str>, Uuid)>,
    /// How many runs began before those.
    forgotten: u64,
}

/// The state of the feed's connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Standing {
    state: ConnectionState,
    since_ms: u64,
    reason: Option<String>,
}

impl Standing {
    /// Records that the feed is connected.
    fn connected(&mut self, now_ms: u64) {
        *self = Self { state: ConnectionState::Connected, since_ms: now_ms, reason: None };
    }

    /// Records that the feed is disconnected, and why. Returns whether it was connected until now.
    fn disconnected(&mut self, reason: &str, now_ms: u64) -> bool {
        let was_connected = self.state == ConnectionState::Connected;
        if was_connected {
            (self.state, self.since_ms) = (ConnectionState::Lost, now_ms);
        }
        // The newest failure describes the problem best.
        self.reason = Some(reason.to_owned());
        was_connected
    }
}

/// A run in progress.
#[derive(Clone, Debug)]
struct Open {
    /// The session, in the runner's spelling.
    session: Arc<str>,
    run: Uuid,
    /// How many records of the run have arrived.
    records: u64,
}

/// The position of the feed when a prompt was sent.
#[derive(Clone, Debug)]
struct Before {
    /// How many runs had begun.
    begun: u64,
    /// How many records each open run had.
    records: Vec<(Uuid, u64)>,
}

/// How many begun runs are remembered.
const MOST_BEGUN: usize = 256;

impl Seen {
    fn begins(&mut self, run: (Arc<str>, Uuid)) {
        self.begun.push_back(run);
        if self.begun.len() > MOST_BEGUN {
            self.begun.pop_front();
            self.forgotten += 1;
        }
    }

    /// How many runs have begun so far.
    fn count(&self) -> u64 {
        self.forgotten + self.begun.len() as u64
    }

    /// The current position of the feed.
    fn now(&self) -> Before {
        Before { begun: self.count(), records: self.open.iter().map(|open| (open.run, open.records)).collect() }
    }

    /// The run that received a prompt for a session: the newest run that began since `before`, otherwise a run in progress.
    /// The run in progress counts only if a record of it has arrived since: its end may have been sent already and not been
    /// read yet.
    fn run_of(&self, session: &str, before: &Before) -> Option<Uuid> {
        let known = usize::try_from(before.begun.saturating_sub(self.forgotten)).unwrap_or(usize::MAX);
        let mut since = self.begun.iter().skip(known).rev();
        let begun = since.find(|(name, _)| **name == *session).map(|(_, run)| *run);
        let goes_on = |open: &&Open| {
            let records = before.records.iter().find(|(run, _)| *run == open.run).map_or(0, |(_, records)| *records);
            *open.session == *session && open.records > records
        };
        begun.or_else(|| self.open.iter().rev().find(goes_on).map(|open| open.run))
    }
}

impl SseUpstream {
    /// Creates the upstream. It does not connect yet.
    ///
    /// # Errors
    /// The client could not be created, for example because there are no trusted certificates.
    pub fn new(settings: Settings, host: Host) -> Result<Self, ClientError> {
        let tls = settings.url.scheme_str() == Some("https");
        let client = Client::new(settings.connect_timeout, tls, settings.ca_file.as_deref())?;
        let places = Arc::new(Semaphore::new(settings.max_runs));
        // Makes the metric series of this upstream start at 0.
        host.runs.metrics().upstream_connected(&settings.name, false);
        let line = Standing { since_ms: Clock::System.now_ms(), ..Standing::default() };
        let seen = Arc::new(watch::Sender::new(Seen { line, ..Seen::default() }));
        Ok(Self { settings: Arc::new(settings), client, host, places, seen })
    }

    /// Follows the feed until the proxy stops.
    pub async fn follow(&self) {
        let span = tracing::info_span!("feed", upstream = self.settings.name);
        feed::follow(&self.settings, &self.client, &self.host, &self.seen).instrument(span).await;
    }

    /// Waits until the feed is connected, at most for the start timeout.
    async fn connected(&self) -> Result<(), StartError> {
        let mut seen = self.seen.subscribe();
        let mut phase = self.host.shutdown.phase();
        let is_connected = seen.wait_for(|seen| seen.line.state == ConnectionState::Connected);
        tokio::select! {
            waited = tokio::time::timeout(self.settings.start_timeout, is_connected) => {
                if matches!(waited, Ok(Ok(_))) {
                    return Ok(());
                }
            }
            _ = phase.wait_for(|phase| *phase >= Phase::Draining) => {
                return Err(StartError::Busy("the proxy is stopping".to_owned()));
            }
        }
        let reason = self.seen.borrow().line.reason.clone().map(|reason| format!(": {reason}")).unwrap_or_default();
        let waited = self.settings.start_timeout.as_millis();
        Err(StartError::Busy(format!(
            "the feed of upstream {:?} was not connected within {waited} ms (upstream.start_timeout_ms){reason}",
            self.settings.name
        )))
    }

    /// Sends the messages of an opening to the server. Returns the name of the server's session.
    async fn open(&self, opening: &Opening) -> Result<String, StartError> {
        let make = self.settings.runner.dialogue;
        let mut dialogue =
            make.ok_or_else(|| StartError::Refused("this feed's server accepts no prompts".to_owned()))?();
        files::check(Some(&*dialogue), &opening.files)?;
        dialogue.open(opening);
        let mut session = opening.session.clone();
        loop {
            let sendings = dialogue.take();
            if sendings.is_empty() {
                break;
            }
            for sending in sendings {
                let Outgoing::Post { path, body } = sending else {
                    return Err(StartError::Refused("this feed's server accepts no prompts".to_owned()));
                };
                let answer = feed::post(&self.settings, &self.client, &path, body).await.map_err(|error| {
                    StartError::Failed(format!("the prompt could not be sent to the server: {error}"))
                })?;
                dialogue.replied(&path, &answer);
                session = session.or_else(|| id_of(&answer));
            }
        }
        match (dialogue.refusal(), session) {
            (Some(refusal), _) => Err(StartError::Failed(refusal.to_owned())),
            (None, Some(session)) => Ok(session),
            (None, None) => Err(StartError::Failed("the server's new session has no id".to_owned())),
        }
    }
}

/// The id of the session in the server's answer.
fn id_of(answer: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Session {
        id: String,
    }
    serde_json::from_slice::<Session>(answer).ok().map(|session| session.id)
}

#[async_trait]
impl Upstream for SseUpstream {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn kind(&self) -> &'static str {
        "sse"
    }

    fn runner(&self) -> &'static Runner {
        self.settings.runner
    }

    fn takes_prompts(&self) -> bool {
        self.settings.runner.dialogue.is_some()
    }

    fn takes_images(&self) -> bool {
        files::takes_images(self.settings.runner)
    }

    fn takes_messages(&self) -> bool {
        self.settings.runner.dialogue.is_some()
    }

    fn modes(&self) -> &Modes {
        &self.settings.modes
    }

    fn connection(&self) -> Option<Connection> {
        let Standing { state, since_ms, reason } = self.seen.borrow().line.clone();
        Some(Connection { state, since_ms, reason, is_required: self.settings.is_required })
    }

    async fn start(&self, mut opening: Opening, restriction: Arc<Restriction>) -> Result<Uuid, StartError> {
        if !self.takes_prompts() {
            return Err(StartError::Refused("this feed's server accepts no prompts".to_owned()));
        }
        // The feed's runs are made without a token, so a restriction cannot be applied to them. Refuse before anything is
        // sent.
        if !restriction.is_open() {
            let detail = "the token is restricted, but runs of this upstream are not created under a token";
            return Err(StartError::Refused(detail.to_owned()));
        }
        if opening.cwd.is_some() {
            return Err(StartError::Refused(
                "the server of this feed uses its own working directory; omit cwd".to_owned(),
            ));
        }
        opening.mode = self.settings.modes.choose(opening.mode)?;
        if self.host.shutdown.is_draining() {
            return Err(StartError::Busy("the proxy is stopping".to_owned()));
        }
        let _place = self.places.try_acquire().map_err(|_| StartError::Full(self.settings.max_runs))?;
        self.connected().await?;
        let mut seen = self.seen.subscribe();
        let before = seen.borrow().now();
        let session = self.open(&opening).await?;
        // The server queues a prompt for a busy session into the session's current run.
        let run_of = |seen: &Seen| seen.run_of(&session, &before);
        let begun = seen.wait_for(|seen| run_of(seen).is_some());
        match tokio::time::timeout(self.settings.start_timeout, begun).await {
            Ok(Ok(seen)) => {
                let run = run_of(&seen).unwrap_or_default();
                tracing::debug!(%run, "a prompt was accepted");
                Ok(run)
            }
            _ => Err(StartError::Failed(format!(
                "the server accepted the prompt, but the feed reported no run of session {session} within {} ms \
                 (upstream.start_timeout_ms)",
                self.settings.start_timeout.as_millis()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompts_run_is_found_even_if_it_has_ended() {
        let mut seen = Seen::default();
        let run = |nth: u128| (Arc::<str>::from("s"), Uuid::from_u128(nth));
        seen.begins(run(1));
        let before = seen.now();
        assert_eq!(seen.run_of("s", &before), None, "that run had ended before");
        seen.begins((Arc::from("another"), Uuid::from_u128(9)));
        seen.begins(run(2));
        assert_eq!(seen.run_of("s", &before), Some(Uuid::from_u128(2)));
        for nth in 0..MOST_BEGUN as u128 {
            seen.begins((Arc::from("another"), Uuid::from_u128(100 + nth)));
        }
        assert_eq!((seen.begun.len(), seen.run_of("s", &before)), (MOST_BEGUN, None));
        assert_eq!(seen.count(), 3 + MOST_BEGUN as u64);
    }

    #[test]
    fn an_established_connection_is_lost_once() {
        let mut line = Standing { since_ms: 1, ..Standing::default() };
        assert!(!line.disconnected("refused", 2));
        assert_eq!((line.state, line.since_ms), (ConnectionState::Connecting, 1));
        line.connected(3);
        assert_eq!(line, Standing { state: ConnectionState::Connected, since_ms: 3, reason: None });
        assert!(line.disconnected("broken", 4) && !line.disconnected("refused", 5));
        assert_eq!((line.state, line.since_ms, line.reason.as_deref()), (ConnectionState::Lost, 4, Some("refused")));
    }

    #[test]
    fn a_prompt_belongs_to_a_run_with_records_since_then() {
        let open = |records| Open { session: Arc::from("s"), run: Uuid::from_u128(1), records };
        let mut seen = Seen { open: vec![open(7)], ..Seen::default() };
        let before = seen.now();
        assert_eq!(seen.run_of("s", &before), None, "its end may still arrive");
        seen.open = vec![open(8)];
        assert_eq!(seen.run_of("s", &before), Some(Uuid::from_u128(1)));
        assert_eq!(seen.run_of("another", &before), None);
        seen.open.clear();
        seen.begins((Arc::from("s"), Uuid::from_u128(2)));
        assert_eq!(seen.run_of("s", &before), Some(Uuid::from_u128(2)), "the run after it");
    }
}
