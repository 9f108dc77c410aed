//! The only place that constructs an ingest.
//!
//! Input: the settings, which are the same for every input of a process, and what differs from input to input. Output: an ingest at
//! the start of its input. Never: an input from an upstream or a file that is limited, redacted or compared differently from one
//! that a client sends.

use super::Ingest;
use super::bounds::Bounds;
use crate::auth::Restriction;
use crate::clock::Clock;
use crate::defaults::AHEAD_BYTES;
use crate::runs::Runs;
use framegate_translators::framing::{Framing, Limits};
use framegate_translators::pipeline;
use framegate_translators::recognise::Window;
use framegate_translators::redact::Rules;
use framegate_translators::runners::Runner;
use framegate_translators::sequence::Identity;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How inputs are read: the same for every input of a process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Size limits for records.
    pub limits: Limits,
    /// Whether records are compared with the known schemas of their runners.
    pub drift: bool,
    /// The redaction rules; `None` if redaction is off.
    pub redaction: Option<Arc<Rules>>,
    /// Maximum number of open runs, in all ingests together.
    pub max_open_runs: usize,
    /// Maximum number of records in a run.
    pub max_records_per_run: u64,
    /// How many bytes of frames and artifacts an ingest may produce ahead of the append in progress.
    pub ahead_bytes: u64,
}

impl Default for Settings {
    /// No limits besides the default size limits, no redaction, and no comparison with schemas.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            drift: false,
            redaction: None,
            max_open_runs: Semaphore::MAX_PERMITS,
            max_records_per_run: u64::MAX,
            ahead_bytes: AHEAD_BYTES,
        }
    }
}

impl Settings {
    /// The pipeline for an input. Without a `runner`, the first records decide which runner it is; without a `framing`, the first
    /// bytes decide the framing.
    pub fn pipeline(
        &self,
        runner: Option<&'static Runner>,
        framing: Option<Framing>,
        identity: Identity,
    ) -> pipeline::Ingest {
        let pipeline = match runner {
            Some(runner) => pipeline::Ingest::new(runner, framing, self.limits, identity),
            None => pipeline::Ingest::auto(framing, self.limits, identity, Window::default()),
        };
        let pipeline = if self.drift { pipeline.watching_drift() } else { pipeline };
        match &self.redaction {
            Some(rules) => pipeline.redacting(rules.clone()),
            None => pipeline,
        }
    }
}

/// Constructs the ingests of a process.
#[derive(Clone)]
pub struct IngestFactory {
    runs: Arc<Runs>,
    settings: Arc<Settings>,
    /// The permits for open runs, shared by all ingests.
    open_runs: Arc<Semaphore>,
}

impl IngestFactory {
    /// A factory of ingests whose frames go to `runs`.
    pub fn new(runs: Arc<Runs>, settings: Settings) -> Self {
        let open_runs = Arc::new(Semaphore::new(settings.max_open_runs));
        Self { runs, settings: Arc::new(settings), open_runs }
    }

    /// The settings of all ingests.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// An ingest at the start of its input, for a sender with that restriction. Without a `runner`, the first records decide which
    /// runner it is, and no run starts before. Without a `framing`, the first bytes decide the framing.
    pub fn ingest(
        &self,
        runner: Option<&'static Runner>,
        framing: Option<Framing>,
        restriction: Arc<Restriction>,
    ) -> Ingest {
        let identity = Identity { run_id: Clock::System.new_id(), session_id: None };
        let bounds = Bounds {
            open_runs: self.open_runs.clone(),
            records_per_run: self.settings.max_records_per_run,
            ahead_bytes: self.settings.ahead_bytes,
            restriction,
        };
        Ingest::new(self.runs.clone(), self.settings.pipeline(runner, framing, identity), bounds)
    }
}
