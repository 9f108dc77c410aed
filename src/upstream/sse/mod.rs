//! Upstreams of kind `sse`: event feeds of servers, followed for as long as the proxy runs.
//!
//! In: a server's feed, such as `/event` of `opencode serve`; what somebody wants said to its runs. Out: the runs in it, from
//! their beginnings to their ends; requests to the server. Never: a loss of the feed that is not told, a run that stays open
//! because its end was lost, a reconnect without a pause.

mod cursor;
mod ears;
mod feed;

use super::client::{Client, ClientError};
use super::responses::Credentials;
use super::{Host, StartError, Upstream};
use crate::auth::Restriction;
use async_trait::async_trait;
use framegate_translators::host::{Opening, Sending};
use framegate_translators::runners::Runner;
use hyper::Uri;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

/// What a feed is set to.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The upstream's name.
    pub name: String,
    /// Whose events they are.
    pub runner: &'static Runner,
    /// The feed.
    pub url: Uri,
    /// What requests carry.
    pub credentials: Credentials,
    /// The certificates to trust; `None`: those that the machine trusts.
    pub ca_file: Option<PathBuf>,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// How long an answer may take to begin.
    pub answer_timeout: Duration,
    /// How long the feed may be silent; `None`: for ever.
    pub idle_timeout: Option<Duration>,
    /// The shortest and the longest pause before it is connected to again.
    pub pause: (Duration, Duration),
    /// How long a run may be silent behind a loss of its feed.
    pub lost_after: Duration,
    /// How long a run that was started may take to begin.
    pub start_timeout: Duration,
    /// Runs at a time that are being started.
    pub max_runs: usize,
}

/// A feed.
pub struct SseUpstream {
    settings: Arc<Settings>,
    client: Client,
    host: Host,
    places: Arc<Semaphore>,
    /// Runs that began, newest last, for those who wait for theirs; and whether the feed is connected.
    seen: Arc<watch::Sender<Seen>>,
}

/// What those who start a run must know of the feed.
#[derive(Clone, Debug, Default)]
struct Seen {
    is_connected: bool,
    open: Vec<Open>,
    /// The sessions of those that began last, and the runs: one may be over before anybody looks.
    begun: VecDeque<(Arc<str>, Uuid)>,
    /// How many began before those.
    forgotten: u64,
}

/// A run that goes on.
#[derive(Clone, Debug)]
struct Open {
    /// Its session, in the runner's spelling.
    session: Arc<str>,
    run: Uuid,
    /// How many records came of it.
    records: u64,
}

/// How far the feed was when a prompt was given.
#[derive(Clone, Debug)]
struct Before {
    /// How many runs had begun.
    begun: u64,
    /// How many records the open runs had.
    records: Vec<(Uuid, u64)>,
}

/// How many runs that began are remembered.
const MOST_BEGUN: usize = 256;

impl Seen {
    fn begins(&mut self, run: (Arc<str>, Uuid)) {
        self.begun.push_back(run);
        if self.begun.len() > MOST_BEGUN {
            self.begun.pop_front();
            self.forgotten += 1;
        }
    }

    /// How many runs began so far.
    fn count(&self) -> u64 {
        self.forgotten + self.begun.len() as u64
    }

    /// Where the feed is.
    fn now(&self) -> Before {
        Before { begun: self.count(), records: self.open.iter().map(|open| (open.run, open.records)).collect() }
    }

    /// The run that a prompt for a session came into: the newest that began since, or else one that goes on. Of that one, a
    /// record must have come since: its end may be there already, and not be read yet.
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
    /// A feed; nothing is connected to yet.
    ///
    /// # Errors
    /// There is nobody to trust.
    pub fn new(settings: Settings, host: Host) -> Result<Self, ClientError> {
        let tls = settings.url.scheme_str() == Some("https");
        let client = Client::new(settings.connect_timeout, tls, settings.ca_file.as_deref())?;
        let places = Arc::new(Semaphore::new(settings.max_runs));
        Ok(Self { settings: Arc::new(settings), client, host, places, seen: Arc::default() })
    }

    /// Follows the feed until the proxy stops.
    pub async fn follow(&self) {
        feed::follow(&self.settings, &self.client, &self.host, &self.seen).await;
    }

    /// Says all of an opening to the server; gives the name of its session.
    async fn open(&self, opening: &Opening) -> Result<String, StartError> {
        let make = self.settings.runner.dialogue;
        let mut dialogue = make.ok_or_else(|| StartError::Refused("this feed's server takes no prompts".to_owned()))?();
        dialogue.open(opening);
        let mut session = opening.session.clone();
        loop {
            let sendings = dialogue.take();
            if sendings.is_empty() {
                break;
            }
            for sending in sendings {
                let Sending::Post { path, body } = sending else {
                    return Err(StartError::Refused("this feed's server takes no prompts".to_owned()));
                };
                let answer = feed::post(&self.settings, &self.client, &path, body)
                    .await
                    .map_err(|error| StartError::Failed(format!("the server was not told the prompt: {error}")))?;
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

/// The id of the session that an answer is.
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

    fn takes_messages(&self) -> bool {
        self.settings.runner.dialogue.is_some()
    }

    async fn start(&self, opening: Opening, restriction: Arc<Restriction>) -> Result<Uuid, StartError> {
        if !self.takes_prompts() {
            return Err(StartError::Refused("this feed's server takes no prompts".to_owned()));
        }
        // The feed's runs are made by nobody in particular, so that what somebody may not make must be known before.
        if !restriction.is_open() {
            let detail = "the token is restricted, and this upstream's runs are not made in its name";
            return Err(StartError::Refused(detail.to_owned()));
        }
        if opening.cwd.is_some() {
            return Err(StartError::Refused(
                "the server of this feed works where it was started; leave cwd out".to_owned(),
            ));
        }
        if self.host.stopping.is_draining() {
            return Err(StartError::Busy("the proxy is stopping".to_owned()));
        }
        let mut seen = self.seen.subscribe();
        if !seen.borrow().is_connected {
            return Err(StartError::Busy("the feed is not connected".to_owned()));
        }
        let _place = self.places.try_acquire().map_err(|_| StartError::Full(self.settings.max_runs))?;
        let before = seen.borrow().now();
        let session = self.open(&opening).await?;
        // A prompt for a session that works is queued into its run.
        let run_of = |seen: &Seen| seen.run_of(&session, &before);
        let begun = seen.wait_for(|seen| run_of(seen).is_some());
        match tokio::time::timeout(self.settings.start_timeout, begun).await {
            Ok(Ok(seen)) => {
                let run = run_of(&seen).unwrap_or_default();
                tracing::debug!(%run, "a prompt was taken");
                Ok(run)
            }
            _ => Err(StartError::Failed(format!(
                "the server took the prompt, and the feed told of no run of session {session} within {} ms (upstream.start_timeout_ms)",
                self.settings.start_timeout.as_millis()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompts_run_is_found_though_it_is_over_already() {
        let mut seen = Seen::default();
        let run = |nth: u128| (Arc::<str>::from("s"), Uuid::from_u128(nth));
        seen.begins(run(1));
        let before = seen.now();
        assert_eq!(seen.run_of("s", &before), None, "it was over before");
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
    fn a_prompt_waits_in_a_run_of_which_something_came_since() {
        let open = |records| Open { session: Arc::from("s"), run: Uuid::from_u128(1), records };
        let mut seen = Seen { open: vec![open(7)], ..Seen::default() };
        let before = seen.now();
        assert_eq!(seen.run_of("s", &before), None, "its end may be on its way");
        seen.open = vec![open(8)];
        assert_eq!(seen.run_of("s", &before), Some(Uuid::from_u128(1)));
        assert_eq!(seen.run_of("another", &before), None);
        seen.open.clear();
        seen.begins((Arc::from("s"), Uuid::from_u128(2)));
        assert_eq!(seen.run_of("s", &before), Some(Uuid::from_u128(2)), "the one behind it");
    }
}
