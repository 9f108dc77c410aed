//! What upstreams need of the proxy.
//!
//! In: how the proxy is set to take things in. Out: an ingest for a runner's output, set to just that. Never: an upstream's
//! runs bounded, redacted or kept otherwise than those that are sent in.

use super::{Links, Policy};
use crate::auth::Restriction;
use crate::ingest::{AHEAD_BYTES, Bounds, Ingest};
use crate::runs::Runs;
use crate::stopping::Stopping;
use framegate_translators::framing::{Framing, Limits};
use framegate_translators::redact::Rules;
use framegate_translators::runners::Runner;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// See the module.
#[derive(Clone)]
pub struct Host {
    /// Where runs are kept.
    pub runs: Arc<Runs>,
    /// Where those that can be spoken to are entered.
    pub links: Arc<Links>,
    /// What is decided without asking.
    pub policy: Arc<Policy>,
    /// The places of ingests, shared with those that are sent in. Whoever holds one is waited for when the proxy stops.
    pub ingests: Arc<Semaphore>,
    /// The places of open runs, shared likewise.
    pub open_runs: Arc<Semaphore>,
    /// Records in a run.
    pub records_per_run: u64,
    /// How many bytes of frames and artifacts an ingest may make ahead of the append that is under way.
    pub ahead_bytes: u64,
    /// What bounds a record.
    pub limits: Limits,
    /// Whether records are compared with what is known of their runners.
    pub drift: bool,
    /// What is redacted, if anything.
    pub redaction: Option<Arc<Rules>>,
    /// How far the proxy has come with stopping.
    pub stopping: Arc<Stopping>,
}

impl Host {
    /// A host that bounds and redacts nothing.
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

    /// An ingest at the start of a runner's output, for whoever is restricted like that.
    pub fn ingest(&self, runner: &Runner, framing: Option<Framing>, restriction: Arc<Restriction>) -> Ingest {
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
