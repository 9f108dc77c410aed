//! Sessions that go on at the proxy that has them.
//!
//! A runner keeps its sessions in files of its machine, so only a runner that is started there can continue them.
//!
//! Input: what to start. Output: the run, which another proxy started, or why it did not. Never: a runner for a new session; a runner that
//! two proxies start.

use super::{Ask, AskError};
use crate::auth::Restriction;
use crate::runs::Runs;
use crate::runs::labels::Labels;
use crate::upstream::{StartError, Upstream, Upstreams};
use framegate_translators::frame::StreamKind;
use framegate_translators::host::{FileContent, Opening, PromptFile};
use framegate_translators::sequence::session_id_of;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// A run that continues a session.
#[derive(Clone, Copy)]
pub struct Start<'s> {
    /// The upstream here. The other proxy must have one of the same name.
    pub upstream: &'s dyn Upstream,
    /// What to start it with.
    pub opening: &'s Opening,
    /// The runs that the client sees.
    pub restriction: &'s Restriction,
    /// What the client says about the run.
    pub labels: &'s Labels,
}

/// The same, between proxies.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    upstream: String,
    runner: String,
    prompt: String,
    files: Vec<File>,
    session: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    mode: Option<String>,
    labels: Labels,
    sessions: Vec<String>,
    runs: Vec<Uuid>,
    runners: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    media_type: String,
    name: Option<String>,
    content: Content,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Base64(String),
    Url(String),
}

impl Order {
    fn new(start: &Start<'_>) -> Self {
        let Opening { prompt, files, session, cwd, model, mode } = start.opening.clone();
        let Restriction { sessions, runs, runners } = start.restriction.clone();
        let files = files.into_iter().map(|PromptFile { media_type, name, content }| {
            let content = match content {
                FileContent::Base64(content) => Content::Base64(content),
                FileContent::Url(url) => Content::Url(url),
            };
            File { media_type, name, content }
        });
        Self {
            upstream: start.upstream.name().to_owned(),
            runner: start.upstream.runner().name.to_owned(),
            files: files.collect(),
            labels: start.labels.clone(),
            prompt,
            session,
            cwd,
            model,
            mode,
            sessions,
            runs,
            runners,
        }
    }

    fn into_parts(self) -> (Opening, Restriction, Labels) {
        let Self { prompt, files, session, cwd, model, mode, labels, sessions, runs, runners, .. } = self;
        let files = files.into_iter().map(|File { media_type, name, content }| {
            let content = match content {
                Content::Base64(content) => FileContent::Base64(content),
                Content::Url(url) => FileContent::Url(url),
            };
            PromptFile { media_type, name, content }
        });
        let opening = Opening { prompt, files: files.collect(), session, cwd, model, mode };
        (opening, Restriction { sessions, runs, runners }, labels)
    }
}

/// The outcome of an order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Started(Uuid),
    /// The proxy has no such upstream, so the session did not begin there.
    Unknown,
    Full(usize),
    Busy(String),
    LogFull(String),
    Conflict(String),
    Failed(String),
    Refused(String),
}

impl From<Result<Uuid, StartError>> for Outcome {
    fn from(result: Result<Uuid, StartError>) -> Self {
        match result {
            Ok(run) => Self::Started(run),
            Err(StartError::Full(most)) => Self::Full(most),
            Err(StartError::Busy(why)) => Self::Busy(why),
            Err(StartError::LogFull(why)) => Self::LogFull(why),
            Err(StartError::Conflict(why)) => Self::Conflict(why),
            Err(StartError::Failed(why)) => Self::Failed(why),
            Err(StartError::Refused(why)) => Self::Refused(why),
        }
    }
}

impl Outcome {
    fn into_result(self) -> Option<Result<Uuid, StartError>> {
        Some(Err(match self {
            Self::Started(run) => return Some(Ok(run)),
            Self::Unknown => return None,
            Self::Full(most) => StartError::Full(most),
            Self::Busy(why) => StartError::Busy(why),
            Self::LogFull(why) => StartError::LogFull(why),
            Self::Conflict(why) => StartError::Conflict(why),
            Self::Failed(why) => StartError::Failed(why),
            Self::Refused(why) => StartError::Refused(why),
        }))
    }
}

/// Starts a run at the proxy that has its session; `None` if it must be started here: it begins a session, this proxy has the session, or the
/// proxy that had it does not live or has no upstream of this name.
pub async fn start(runs: &Runs, start: Start<'_>) -> Option<Result<Uuid, StartError>> {
    let session = start.opening.session.as_deref()?;
    let session = session_id_of(start.upstream.runner().provider.name, session);
    runs.log().shared()?;
    runs.catch_up().await;
    // The newest run of the session is where its runner is.
    let entry = runs.newest_first().into_iter().find(|entry| entry.stream.session.id == session)?;
    let ask = Ask::Start(Order::new(&start));
    let run = match ask.send::<Outcome>(runs, entry.id(), start.upstream.starts_within()).await? {
        Ok(outcome) => outcome.into_result()?,
        Err(error @ AskError::TooLarge(_)) => {
            let detail = format!("the request cannot be passed on to the proxy that has the session: {error}");
            Err(StartError::Refused(detail))
        }
        Err(error @ AskError::Undelivered(_)) => Err(StartError::Busy(error.to_string())),
        Err(error) => Err(StartError::Failed(error.to_string())),
    };
    if run.is_ok() {
        // The other proxy has stored the beginning of the run.
        runs.catch_up().await;
    }
    Some(run)
}

/// Carries out the order of another proxy.
pub(super) async fn carry_out(runs: &Runs, upstreams: &Upstreams, order: Order) -> Outcome {
    let is_meant = |upstream: &&Arc<dyn Upstream>| upstream.takes_prompts() && upstream.runner().name == order.runner;
    let Some(upstream) = upstreams.find(&order.upstream).filter(is_meant).cloned() else { return Outcome::Unknown };
    let (opening, restriction, labels) = order.into_parts();
    let started = upstream.start(opening, Arc::new(restriction)).await;
    if let Ok(run) = started
        && !labels.is_empty()
        && let Some(entry) = runs.find((StreamKind::Session, run))
    {
        runs.label(&entry, labels).await;
    }
    started.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_keeps_its_meaning() {
        let results = || {
            [
                Ok(Uuid::from_u128(1)),
                Err(StartError::Full(8)),
                Err(StartError::Busy("why".to_owned())),
                Err(StartError::LogFull("why".to_owned())),
                Err(StartError::Conflict("why".to_owned())),
                Err(StartError::Failed("why".to_owned())),
                Err(StartError::Refused("why".to_owned())),
            ]
        };
        for (sent, there) in results().into_iter().zip(results()) {
            let outcome = serde_json::to_vec(&Outcome::from(sent)).unwrap();
            let outcome: Outcome = serde_json::from_slice(&outcome).unwrap();
            assert_eq!(format!("{:?}", outcome.into_result().unwrap()), format!("{there:?}"));
        }
        assert!(Outcome::Unknown.into_result().is_none());
    }
}
