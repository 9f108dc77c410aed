//! What upstreams use of the proxy.
//!
//! Input: the runs, and the settings of ingests. Output: what every upstream is given of them. Never: a run of an upstream that is
//! limited, redacted or kept differently from a run that a client sends in.

use super::Handles;
use crate::ingest::{self, IngestFactory};
use crate::policy::Policy;
use crate::runs::Runs;
use crate::shutdown::Shutdown;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The parts of the proxy that upstreams use.
#[derive(Clone)]
pub struct Host {
    /// Where runs are kept.
    pub runs: Arc<Runs>,
    /// Registers runs and sessions that accept messages.
    pub handles: Arc<Handles>,
    /// The rules that decide questions without asking a person.
    pub policy: Arc<Policy>,
    /// Permits for ingests, shared with those that clients send in. On shutdown the proxy waits for every holder.
    pub ingests: Arc<Semaphore>,
    /// Constructs the ingests of runners' output, with the same settings as those of clients.
    pub factory: IngestFactory,
    /// How far the shutdown of the proxy has progressed.
    pub shutdown: Arc<Shutdown>,
}

impl Host {
    /// A host whose inputs are read with these settings. It has no rules and no limit of concurrent ingests.
    pub fn new(runs: Arc<Runs>, ingest: ingest::Settings) -> Self {
        Self {
            factory: IngestFactory::new(runs.clone(), ingest),
            runs,
            handles: Arc::default(),
            policy: Arc::default(),
            ingests: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            shutdown: Arc::default(),
        }
    }
}
