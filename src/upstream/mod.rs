//! The runners that the proxy reaches out to by itself.
//!
//! In: what is asked of a configured upstream: a run, a prompt, an answer, an interruption. Out: the runner's output, taken in
//! like any other ingest; whether what was asked has been passed on. Never: a shell, a run without its end, a process, socket
//! or task that outlives its run.

mod conversation;
mod links;
mod policy;

pub use conversation::{Conversation, Setup};
pub use links::{Entered, Link, Links, Said, SayError};
pub use policy::{Policy, Rule, RuleError, Verdict};

use async_trait::async_trait;
use framegate_translators::host::Opening;
use std::sync::Arc;
use uuid::Uuid;

/// One configured upstream that starts runs.
#[async_trait]
pub trait Upstream: Send + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &str;

    /// Starts a run, and gives its id as soon as the runner has said enough for one to exist. The run goes on in a task of
    /// its own; its [`Link`] stands in [`Links`] until it is over.
    ///
    /// # Errors
    /// Why there is no run. Nothing of it is left then.
    async fn start(&self, opening: Opening, links: Arc<Links>) -> Result<Uuid, StartError>;
}

/// Why a run was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// As many runs of the upstream are open as may be.
    #[error("{0} runs of this upstream are open, which is its limit (upstream.max_runs); try again later")]
    Full(usize),
    /// The runner could not be started, or left before it said anything of a run.
    #[error("{0}")]
    Failed(String),
    /// The upstream cannot do what was asked.
    #[error("{0}")]
    Refused(String),
}
