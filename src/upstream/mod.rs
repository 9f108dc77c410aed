//! The runners that the proxy reaches out to by itself.
//!
//! In: what is asked of a configured upstream: a run, a prompt, an answer, an interruption. Out: the runner's output, taken in
//! like any other ingest; whether what was asked has been passed on. Never: a shell, a run without its end, a process, socket
//! or task that outlives its run.

pub mod client;
pub mod command;
mod conversation;
mod host;
mod links;
mod policy;
pub mod responses;
pub mod sse;

pub use conversation::{Conversation, Setup};
pub use host::Host;
pub use links::{Claim, Entered, Link, Links, Said, SayError};
pub use policy::{Policy, Rule, RuleError, Verdict};

use crate::auth::Restriction;
use crate::config::upstream::{Command, Kind, Upstream as Configured};
use async_trait::async_trait;
use framegate_translators::host::Opening;
use framegate_translators::runners::Runner;
use std::sync::Arc;
use uuid::Uuid;

/// One configured upstream that starts runs.
#[async_trait]
pub trait Upstream: Send + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &str;

    /// How it is reached: the word of the configuration.
    fn kind(&self) -> &'static str;

    /// Whose output it gives.
    fn runner(&self) -> &'static Runner;

    /// Where clients ask for a run by POST; `None` where runs begin elsewhere alone.
    fn path(&self) -> Option<String> {
        self.takes_prompts().then(|| "/v1/runs".to_owned())
    }

    /// Whether it takes prompts: whether [`Upstream::start`] can work.
    fn takes_prompts(&self) -> bool {
        true
    }

    /// Whether something can be said to its runs: answers, further prompts.
    fn takes_messages(&self) -> bool;

    /// Starts a run for whoever is restricted like that, and gives its id as soon as the runner has said enough for one to
    /// exist. The run goes on in a task of its own; its [`Link`] stands in [`Links`] until it is over.
    ///
    /// # Errors
    /// Why there is no run. Nothing of it is left then.
    async fn start(&self, opening: Opening, restriction: Arc<Restriction>) -> Result<Uuid, StartError>;
}

/// Why a run was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// As many runs of the upstream are open as may be.
    #[error("{0} runs of this upstream are open, which is its limit (upstream.max_runs); try again later")]
    Full(usize),
    /// The proxy takes nothing more for now.
    #[error("{0}; try again later")]
    Busy(String),
    /// The session that is to go on is at work.
    #[error("{0}")]
    Conflict(String),
    /// The runner could not be started, or left before it said anything of a run.
    #[error("{0}")]
    Failed(String),
    /// The upstream cannot do what was asked.
    #[error("{0}")]
    Refused(String),
}

/// The upstreams that start runs, as they are configured.
#[derive(Clone, Default)]
pub struct Upstreams(Vec<Arc<dyn Upstream>>);

impl Upstreams {
    /// Those of a configuration that start runs. Nothing is started yet.
    pub fn new(configured: &[Configured], host: &Host) -> Self {
        for upstream in configured {
            // Its families begin at 0.
            drop(host.runs.metrics().upstream(&upstream.name));
        }
        let starting = configured.iter().filter_map(|upstream| match &upstream.kind {
            Kind::Command(settings) => {
                let made = command::CommandUpstream::new(upstream, Command::clone(settings), host.clone())?;
                Some(Arc::new(made) as Arc<dyn Upstream>)
            }
            Kind::Sse(_) | Kind::Responses(_) => None,
        });
        Self(starting.collect())
    }

    /// These and others.
    #[must_use]
    pub fn with(mut self, others: impl Iterator<Item = Arc<dyn Upstream>>) -> Self {
        self.0.extend(others);
        self
    }

    /// The one of that name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Upstream>> {
        self.0.iter().find(|upstream| upstream.name() == name)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Upstream>> {
        self.0.iter()
    }
}
