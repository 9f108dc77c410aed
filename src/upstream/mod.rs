//! The runners that the proxy contacts itself.
//!
//! Input: requests to a configured upstream: a run, a prompt, an answer, an interruption. Output: the runner's output,
//! ingested like any other; whether the request was passed on. Never: a shell; a run without an end; a process, socket or
//! task that outlives its run.

pub mod command;
mod conversation;
pub mod elsewhere;
mod files;
mod handles;
mod host;
mod metering;
mod modes;
pub mod responses;
mod services;
pub mod sse;

pub use conversation::{Conversation, Setup};
pub use handles::{Claim, Entered, Envelope, Handle, Handles, MessageError};
pub use host::Host;
pub use modes::{Mode, Modes};

use crate::auth::Restriction;
use crate::config::upstream::{Command, Kind, Upstream as Configured};
use async_trait::async_trait;
use framegate_translators::host::Opening;
use framegate_translators::runners::Runner;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// One configured upstream that starts runs.
#[async_trait]
pub trait Upstream: Send + Sync {
    /// The name in the configuration.
    fn name(&self) -> &str;

    /// The kind of upstream, spelled as in the configuration.
    fn kind(&self) -> &'static str;

    /// The runner whose output the upstream produces.
    fn runner(&self) -> &'static Runner;

    /// The path where clients request a run by POST; `None` if clients cannot start runs here.
    fn path(&self) -> Option<String> {
        self.takes_prompts().then(|| "/v1/runs".to_owned())
    }

    /// Whether it accepts prompts, that is, whether [`Upstream::start`] can succeed.
    fn takes_prompts(&self) -> bool {
        true
    }

    /// Whether its runs accept messages: answers and further prompts.
    fn takes_messages(&self) -> bool;

    /// Whether its prompts may have images.
    fn takes_images(&self) -> bool {
        false
    }

    /// The modes that its prompts may choose.
    fn modes(&self) -> &Modes {
        Modes::none()
    }

    /// The state of its lasting connection; `None` if it has none.
    fn connection(&self) -> Option<Connection> {
        None
    }

    /// How long [`Upstream::start`] may take.
    fn starts_within(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Starts a run under the given restriction. Returns the run's id as soon as the runner has reported enough for a run to
    /// exist. The run continues in a task of its own; its [`Handle`] is in [`Handles`] until it ends.
    ///
    /// # Errors
    /// Why there is no run. Nothing of the attempt remains.
    async fn start(&self, opening: Opening, restriction: Arc<Restriction>) -> Result<Uuid, StartError>;
}

/// The state of a lasting connection to an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Whether it is connected.
    pub state: ConnectionState,
    /// When this state began, in Unix epoch milliseconds.
    pub since_ms: u64,
    /// Why it is not connected; `None` if it is, or if no attempt has failed yet.
    pub reason: Option<String>,
    /// Whether the proxy is unready without it.
    pub is_required: bool,
}

/// Whether a lasting connection is established.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionState {
    /// It has never been connected.
    #[default]
    Connecting,
    /// It is connected.
    Connected,
    /// It was connected and is not any more.
    Lost,
}

impl ConnectionState {
    /// The spelling in API responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Lost => "lost",
        }
    }
}

/// Why a run was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The maximum number of open runs of the upstream is reached.
    #[error("{0} runs of this upstream are open, which is the limit (upstream.max_runs); try again later")]
    Full(usize),
    /// The proxy accepts no more runs for now.
    #[error("{0}; try again later")]
    Busy(String),
    /// The log has no room for the run.
    #[error("{0}")]
    LogFull(String),
    /// The requested session is busy.
    #[error("{0}")]
    Conflict(String),
    /// The runner could not be started, or it exited before it reported a run.
    #[error("{0}")]
    Failed(String),
    /// The upstream cannot do what was requested.
    #[error("{0}")]
    Refused(String),
}

/// The configured upstreams that start runs.
#[derive(Clone, Default)]
pub struct Upstreams(Vec<Arc<dyn Upstream>>);

impl Upstreams {
    /// Creates the upstreams of the kinds `command` and `acp` in a configuration. Nothing is started yet.
    pub fn new(configured: &[Configured], host: &Host) -> Self {
        for upstream in configured {
            // Makes the metric series of this upstream start at 0.
            drop(host.runs.metrics().upstream(&upstream.name));
        }
        let starting = configured.iter().filter_map(|upstream| match &upstream.kind {
            Kind::Command(settings) => {
                let made = command::CommandUpstream::new(upstream, Command::clone(settings), host.clone())?;
                made.warn_of_missing();
                Some(Arc::new(made) as Arc<dyn Upstream>)
            }
            Kind::Sse(_) | Kind::Responses(_) => None,
        });
        Self(starting.collect())
    }

    /// Adds other upstreams.
    #[must_use]
    pub fn with(mut self, others: impl Iterator<Item = Arc<dyn Upstream>>) -> Self {
        self.0.extend(others);
        self
    }

    /// Finds an upstream by name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Upstream>> {
        self.0.iter().find(|upstream| upstream.name() == name)
    }

    /// All upstreams.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Upstream>> {
        self.0.iter()
    }
}
