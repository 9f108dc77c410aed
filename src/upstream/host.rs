//! What upstreams use of the proxy.
//!
//! Input: the proxy's ingest settings. Output: an ingest for a runner's output with exactly these settings. Never: a run of
//! an upstream that is bounded, redacted or kept differently from a run that a client sends in.

use super::Links;
use crate::auth::Restriction;
use crate::defaults::AHEAD_BYTES;
use crate::ingest::{Bounds, Ingest};
use crate::policy::Policy;
use crate::runs::Runs;
use crate::stopping::Stopping;
use framegate_translators::framing::{Framing, Limits};
use framegate_translators::redact::Rules;
use framegate_translators::runners::Runner;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The parts of the proxy that upstreams use.
#[derive(Clone)]
pub struct Host {
    /// Where runs are kept.
    pub runs: Arc<Runs>,
    /// Registers runs and sessions that accept messages.
    pub links: Arc<Links>,
    /// The rules that decide questions without asking a person.
    pub policy: Arc<Policy>,
    /// Permits for ingests, shared with those that clients send in. On shutdown the proxy waits for every holder.
    pub ingests: Arc<Semaphore>,
    /// Permits for open runs, shared in the same way.
    pub open_runs: Arc<Semaphore>,
    /// Maximum number of records in a run.
    pub records_per_run: u64,
    /// How many bytes of frames and artifacts an ingest may produce ahead of the append in progress.
    pub ahead_bytes: u64,
    /// Size limits for records.
    pub limits: Limits,
    /// Whether records are compared with the known schemas of their runners.
    pub drift: bool,
    /// The redaction rules; `None` if redaction is off.
    pub redaction: Option<Arc<Rules>>,
    /// How far the shutdown of the proxy has progressed.
    pub stopping: Arc<Stopping>,
}

impl Host {
    /// A host without bounds and without redaction.
    pub fn new(runs: Arc<Runs>) -> Self {
        Self {
            runs,
            links: Arc::default(),
            policy: Arc::default(),
            ingests: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            open_runs: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            records_per_run: u64::MAX,
            ahead_bytes: AHEAD_BYTES,
            limits: Limits::default(),
            drift: false,
            redaction: None,
            stopping: Arc::default(),
        }
    }

    /// Creates an ingest at the start of a runner's output. Its runs are made under the given restriction.
    pub fn ingest(&self, runner: &'static Runner, framing: Option<Framing>, restriction: Arc<Restriction>) -> Ingest {
        let ingest = Ingest::new(self.runs.clone(), runner, framing, self.limits).within(Bounds {
            open_runs: self.open_runs.clone(),
            records_per_run: self.records_per_run,
            ahead_bytes: self.ahead_bytes,
            restriction,
        });
        let ingest = if self.drift { ingest.watching_drift() } else { ingest };
        match &self.redaction {
            Some(rules) => ingest.redacting(rules.clone()),
            None => ingest,
        }
    }
}
